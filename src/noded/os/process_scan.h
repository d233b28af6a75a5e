// Finds the processes of an attempt by their environment, their descendants included.
//
// A process belongs to an attempt if its environment names node and attempt (several agents share a
// host in tests), or if its parent belongs to one and it names no other. Looking at all of /proc
// takes a while on a busy node, so a scan is done in slices. Thread: one at a time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/attempt.h"

namespace artel::noded {

class ProcessScan {
 public:
  /// `spared` are never found, and nothing is found through them.
  ProcessScan(std::string node, std::set<pid_t> spared);

  /// Lists the processes that exist; forgets what was found before.
  void begin();
  /// Looks at up to `count` of them; false once all are looked at.
  bool look(std::size_t count);

  struct Found {
    pid_t pid{};
    std::uint64_t start{};  // in clock ticks since boot: tells a reused number apart
  };
  /// After the last slice.
  [[nodiscard]] std::map<AttemptKey, std::vector<Found>> found() const;

 private:
  struct Process {
    pid_t parent{};
    std::uint64_t start{};
    std::optional<AttemptKey> key;
    bool foreign{};  // of an attempt under another agent's name
  };

  [[nodiscard]] std::optional<AttemptKey> owner(pid_t pid) const;

  std::string node_;
  std::set<pid_t> spared_;
  std::vector<pid_t> pids_;
  std::size_t next_ = 0;
  std::map<pid_t, Process> processes_;
};

/// Sends KILL if the number still means the same process.
void kill_process(const ProcessScan::Found& process);

}  // namespace artel::noded
