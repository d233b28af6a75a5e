// Tokens of logged-in clients, each bound to the connection on which it was given out.
//
// I1 A token counts only together with the peer address of its login; a stolen one is worth nothing
// elsewhere. I2 Bounded: where it is full, the token that was unused for longest goes; its client
// logs in again. Thread: may be used from any thread; takes a short lock.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "base/units.h"
#include "ctld/core/controller.h"

namespace artel::ctld {

class TokenTable {
 public:
  struct Options {
    Duration lifetime{std::chrono::hours{12}};
    std::size_t capacity = 65'536;
  };

  explicit TokenTable(Options options) : options_(options) {}

  /// A new token for a client that has just proved who it is: 32 printable characters, 16 random
  /// bytes.
  std::string issue(const std::string& peer, Caller caller, Time now);

  /// Whose token it is. Error: kUnauthenticated for an unknown or expired token, or one of another
  /// connection.
  Result<std::shared_ptr<const Caller>> find(std::string_view token, std::string_view peer,
                                             Time now);

 private:
  struct Entry {
    std::string token;
    std::string peer;
    std::shared_ptr<const Caller> caller;
    Time expires;
  };

  const Options options_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // the latest used one first
  std::unordered_map<std::string_view, std::list<Entry>::iterator>
      by_token_;  // keys live in entries_
};

}  // namespace artel::ctld
