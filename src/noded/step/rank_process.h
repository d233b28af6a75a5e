// One process of a step: forked, made the user's, and executed.
//
// The daemon may have threads of the PMIx library, so the child does nothing but async-signal-safe
// calls; all memory it needs is made before the fork. What goes wrong up to execve() comes back
// through a pipe that a good execve() closes.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "noded/step/account.h"
#include "noded/step/fd.h"

namespace artel::step {

/// Limits of the ranks, whatever the daemon's are. A hard limit is only ever raised.
struct RankLimits {
  rlim_t memlock = RLIM_INFINITY;  // RDMA registers memory
  rlim_t stack_soft = 8U << 20U;
  rlim_t core_soft = 0;
  rlim_t most_files =
      1U << 20U;  // soft = hard, but programs that walk through all descriptors exist
};

struct RankLaunch {
  std::vector<std::string> argv;
  std::vector<std::string> candidates;   // paths to execute, in order
  std::vector<std::string> environment;  // "NAME=value"
  std::string directory;
  const Account* account = nullptr;
  int input = -1;
  int output = -1;
  int error = -1;
  RankLimits limits;
};

struct RankProcess {
  pid_t pid = -1;
  Fd failure;  // readable: end of file after execve(), else an ExecFailure
};

/// How far the child came, and errno there.
struct ExecFailure {
  enum class Stage : int { kIdentity, kDirectory, kExecute };
  Stage stage{};
  int error{};
};

/// Error: kLaunch where no process could be made.
Result<RankProcess> start_rank(const RankLaunch& launch);

/// Reads what the child left; nullopt after a good execve(). To be called when `failure` is
/// readable or the process is gone.
std::optional<ExecFailure> read_failure(int failure);

/// "cannot execute 'x' on hgx02: No such file or directory".
std::string describe(const ExecFailure& failure, const RankLaunch& launch, const std::string& node);

}  // namespace artel::step
