// What the agent keeps of its contacts on its disk, see noded/core/contacts.h.
//
// Written each second while something runs, by a thread of its own: a disk that hangs must not keep
// the agent from its lease. Thread: load() and store() block and may be called from any; post()
// from one.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "base/result.h"
#include "noded/core/contacts.h"

namespace artel::noded {

/// Nothing where none was kept. Error: kIo, kStorage, kProtocol for a file that is none.
Result<std::optional<KeptContacts>> load_contacts(const std::filesystem::path& state);
/// On the disk when it returns where `sync`, else safe from the end of this process only. Error:
/// kStorage.
Result<> save_contacts(const std::filesystem::path& state, const KeptContacts& contacts, bool sync);

/// Saves the last one posted, not synced.
class ContactWriter {
 public:
  /// `trouble` is called by the writer's thread, once for each new trouble in a row.
  ContactWriter(std::filesystem::path state, std::function<void(const Error&)> trouble);
  ContactWriter(const ContactWriter&) = delete;
  ContactWriter& operator=(const ContactWriter&) = delete;
  ~ContactWriter();

  /// Returns at once.
  void post(KeptContacts contacts);
  /// Nothing is written after it returns.
  void stop();

 private:
  void run(const std::stop_token& stopping);

  const std::filesystem::path state_;
  const std::function<void(const Error&)> trouble_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<KeptContacts> next_;
  std::jthread thread_;
};

}  // namespace artel::noded
