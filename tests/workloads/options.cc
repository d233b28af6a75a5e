// The command line of train_digits; see options.h.

#include "options.h"

#include <limits>
#include <utility>

#include "arguments.h"
#include "dataset.h"

namespace artel::workload {
namespace {

constexpr std::uint64_t kMost = 1'000'000;  // fits the file names of checkpoints and an int

Result<PlannedFault> parse_fault(const std::string& option, const std::string& text) {
  const auto parts = colon_parts(option, text, 3);
  if (!parts) return Failure(parts.error());
  const auto epoch = whole_number(option, (*parts)[0], 0, kMost);
  if (!epoch) return Failure(epoch.error());
  const auto rank = whole_number(option, (*parts)[1], 0, kMost);
  if (!rank) return Failure(rank.error());
  PlannedFault fault{.epoch = *epoch, .rank = static_cast<int>(*rank)};
  const std::string& how = (*parts)[2];
  if (how == "abort") return fault;
  fault.kind = PlannedFault::Kind::kKill;
  if (how == "kill") return fault;
  fault.kind = PlannedFault::Kind::kWarn;
  if (how == "warn") return fault;
  if (!how.starts_with("exit")) {
    return Failure(option + ": '" + how + "' is not one of abort, kill, warn, exitN");
  }
  const auto code = whole_number(option, how.substr(4), 0, 255);
  if (!code) return Failure(code.error());
  fault.kind = PlannedFault::Kind::kExit;
  fault.exit_code = static_cast<int>(*code);
  return fault;
}

struct NumberOption {
  const char* name;
  std::uint64_t Options::* field;
  std::uint64_t low;
  std::uint64_t high;
};

constexpr NumberOption kNumberOptions[] = {
    {"--epochs", &Options::epochs, 1, kMost},
    {"--batch", &Options::batch, 1, kMost},
    {"--seed", &Options::seed, 0, std::numeric_limits<std::uint64_t>::max()},
    {"--epoch-delay", &Options::epoch_delay_ms, 0, 3'600'000},
    {"--keep", &Options::keep, 1, kMost},
};

Result<void> apply(const Argument& argument, Options& options) {
  const auto& [name, value] = argument;
  for (const NumberOption& known : kNumberOptions) {
    if (name != known.name) continue;
    const auto number = whole_number(name, value, known.low, known.high);
    if (!number) return Failure(number.error());
    options.*known.field = *number;
    return {};
  }
  if (name == "--help") {
    options.help = true;
  } else if (name == "--data" && !value.empty()) {
    options.digits_path = value;
  } else if (name == "--checkpoint-dir" && !value.empty()) {
    options.checkpoint_dir = value;
  } else if (name == "--fail-at-epoch") {
    auto fault = parse_fault(name, value);
    if (!fault) return Failure(fault.error());
    options.fault = *fault;
  } else {
    return Failure("unknown option '" + name + "'" + (value.empty() ? " or empty value" : ""));
  }
  return {};
}

}  // namespace

Result<Options> parse_options(std::span<char* const> words) {
  const auto arguments = split_arguments(words);
  if (!arguments) return Failure(arguments.error());
  Options options;
  options.digits_path = default_digits_path();
  for (const Argument& argument : *arguments) {
    if (auto applied = apply(argument, options); !applied) return Failure(applied.error());
  }
  return options;
}

const char* const kTrainDigitsHelp =
    R"(Usage: train_digits [OPTION VALUE]...

Trains a 64-64-10 network on 8x8 handwritten digits, data-parallel over the ranks of an MPI program.
The result does not depend on the number of ranks.

  --epochs N             passes over the training samples (default 40)
  --batch N              samples per step over all ranks (default 64)
  --seed N               of initial weights and order (default 1)
  --data FILE            digits (default: digits.csv beside the program, else the source tree's)
  --checkpoint-dir DIR   write a checkpoint there after each epoch; go on from the newest one found
  --keep N               checkpoints to keep (default 2)
  --epoch-delay MS       wait between epochs (default 0)
  --fail-at-epoch E:RANK:HOW
                         rank RANK fails once epoch E (0: none yet) and its checkpoint are done;
                         HOW: abort (MPI_Abort 70), kill (SIGKILL), warn (SIGUSR1),
                         exitN (code N, no MPI_Finalize). A resumed run is past E and goes on.
  -h, --help             this text

On SIGUSR1 or SIGTERM to any rank all ranks stop after the current step; rank 0 writes a checkpoint.
Exit code: 0 trained, 1 fault, 2 usage, 75 left on a signal (run again to go on).

Example:
  mpirun -n 8 train_digits --checkpoint-dir checkpoints --epochs 60
)";

}  // namespace artel::workload
