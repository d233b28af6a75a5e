#include "ctld/services/token_table.h"

#include <fmt/format.h>

#include <utility>

#include "rpc/node_key.h"

namespace artel::ctld {
namespace {

constexpr std::size_t kTokenBytes = 16;

/// Metadata of a call must be printable.
std::string new_token() {
  std::string token;
  token.reserve(2 * kTokenBytes);
  for (const char byte : rpc::random_bytes(kTokenBytes)) {
    fmt::format_to(std::back_inserter(token), "{:02x}", static_cast<unsigned char>(byte));
  }
  return token;
}

}  // namespace

std::string TokenTable::issue(const std::string& peer, Caller caller, Time now) {
  auto shared = std::make_shared<const Caller>(std::move(caller));
  std::string token = new_token();
  const std::lock_guard lock(mutex_);
  while (!entries_.empty() && entries_.size() >= options_.capacity) {
    by_token_.erase(entries_.back().token);
    entries_.pop_back();
  }
  entries_.push_front({token, peer, std::move(shared), now + options_.lifetime});
  by_token_.emplace(entries_.front().token, entries_.begin());
  return token;
}

Result<std::shared_ptr<const Caller>> TokenTable::find(std::string_view token,
                                                       std::string_view peer, Time now) {
  const std::lock_guard lock(mutex_);
  const auto found = by_token_.find(token);
  if (found == by_token_.end()) {
    return fail(ErrorCode::kUnauthenticated, "the login is unknown here; log in again");
  }
  const auto entry = found->second;
  if (entry->expires <= now) {
    by_token_.erase(found);
    entries_.erase(entry);
    return fail(ErrorCode::kUnauthenticated, "the login has expired; log in again");
  }
  if (entry->peer != peer) {
    return fail(ErrorCode::kUnauthenticated,
                "the login belongs to another connection; log in again");
  }
  entries_.splice(entries_.begin(), entries_, entry);
  return entry->caller;
}

}  // namespace artel::ctld
