// What a user can ask of train_digits.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "result.h"

namespace artel::workload {

/// One rank that fails on purpose, for tests of what the launcher and the scheduler do then.
struct PlannedFault {
  enum class Kind {
    kAbort,  ///< MPI_Abort with code 70
    kKill,   ///< SIGKILL to itself
    kExit,   ///< leaves with exit_code without MPI_Finalize
    kWarn,   ///< SIGUSR1 to itself, so that all leave in the middle of the next epoch
  };
  std::uint64_t epoch = 0;  ///< happens after this epoch and its checkpoint; 0: before the first
  int rank = 0;
  Kind kind = Kind::kAbort;
  int exit_code = 0;
};

struct Options {
  bool help = false;
  std::string digits_path;
  std::uint64_t epochs = 40;
  std::uint64_t batch = 64;  ///< samples per step over all ranks
  std::uint64_t seed = 1;
  std::uint64_t epoch_delay_ms = 0;
  std::string checkpoint_dir;  ///< empty: no checkpoints
  std::uint64_t keep = 2;
  std::optional<PlannedFault> fault;
};

/// Reads the words after the program's name. Refuses unknown options and values out of range.
Result<Options> parse_options(std::span<char* const> words);

extern const char* const kTrainDigitsHelp;

}  // namespace artel::workload
