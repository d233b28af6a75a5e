#include "model/ending.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <utility>

namespace artel {
namespace {

constexpr std::array<std::string_view, 9> kActors = {
    "none", "application", "user", "limit", "preemption", "node", "health", "launch", "system"};

constexpr std::array<std::string_view, 22> kCauses = {"none",
                                                      "exit",
                                                      "signal",
                                                      "abort",
                                                      "left-early",
                                                      "cancel",
                                                      "time-limit",
                                                      "out-of-memory",
                                                      "node-lost",
                                                      "step-lost",
                                                      "prepare-refused",
                                                      "prepare-timeout",
                                                      "exec-failed",
                                                      "output-failed",
                                                      "retries-spent",
                                                      "unknown",
                                                      "preempted",
                                                      "dependency-never-met",
                                                      "deadline",
                                                      "max-wait",
                                                      "hold",
                                                      "requeue"};

constexpr std::array<std::pair<int, std::string_view>, 17> kSignals = {{{1, "HUP"},
                                                                        {2, "INT"},
                                                                        {3, "QUIT"},
                                                                        {4, "ILL"},
                                                                        {5, "TRAP"},
                                                                        {6, "ABRT"},
                                                                        {7, "BUS"},
                                                                        {8, "FPE"},
                                                                        {9, "KILL"},
                                                                        {10, "USR1"},
                                                                        {11, "SEGV"},
                                                                        {12, "USR2"},
                                                                        {13, "PIPE"},
                                                                        {14, "ALRM"},
                                                                        {15, "TERM"},
                                                                        {24, "XCPU"},
                                                                        {25, "XFSZ"}}};

std::string place(const Cause& cause) {
  std::string out = cause.rank ? fmt::format("rank {}", *cause.rank) : "a process";
  if (!cause.node.empty()) out += " on " + cause.node;
  return out;
}

}  // namespace

std::string_view actor_name(Actor actor) { return kActors.at(static_cast<std::size_t>(actor)); }
std::string_view cause_name(CauseCode code) { return kCauses.at(static_cast<std::size_t>(code)); }

bool goes_before(const Cause& killed, const Cause& left) {
  const bool was_killed =
      killed.code == CauseCode::kSignal || killed.code == CauseCode::kOutOfMemory;
  const bool has_left = (left.code == CauseCode::kExit && left.exit_code != 0) ||
                        left.code == CauseCode::kAbort || left.code == CauseCode::kLeftEarly;
  if (killed.code == CauseCode::kNodeLost) return has_left || left.code == CauseCode::kSignal;
  return was_killed && has_left;
}

std::string signal_name(int signal) {
  for (const auto& [number, name] : kSignals) {
    if (number == signal) return std::string(name);
  }
  return fmt::format("signal {}", signal);
}

std::string describe(const Cause& cause) {
  if (!cause.text.empty()) return cause.text;
  switch (cause.code) {
    case CauseCode::kNone:
      return "";
    case CauseCode::kExit:
      return cause.exit_code == 0
                 ? "all ranks ended with exit code 0"
                 : fmt::format("{} ended with exit code {}", place(cause), cause.exit_code);
    case CauseCode::kSignal:
      return fmt::format("{} was killed by signal {} ({})", place(cause), cause.signal,
                         signal_name(cause.signal));
    case CauseCode::kAbort:
      return fmt::format("{} called MPI_Abort with code {}", place(cause), cause.exit_code);
    case CauseCode::kLeftEarly:
      return fmt::format("{} left the MPI run without MPI_Finalize", place(cause));
    case CauseCode::kCancel:
      return fmt::format("cancelled by {}", cause.actor_name);
    case CauseCode::kTimeLimit:
      return "the time limit was reached";
    case CauseCode::kOutOfMemory:
      return fmt::format("{} ran out of memory", place(cause));
    case CauseCode::kNodeLost:
      return fmt::format("node {} was lost", cause.node);
    case CauseCode::kStepLost:
      return fmt::format("the step daemon on {} died", cause.node);
    case CauseCode::kPrepareRefused:
      return fmt::format("{} refused to prepare", cause.node);
    case CauseCode::kPrepareTimeout:
      return fmt::format("{} did not get ready in time", cause.node);
    case CauseCode::kExecFailed:
      return fmt::format("{} could not be started", place(cause));
    case CauseCode::kOutputFailed:
      return "the output file could not be opened";
    case CauseCode::kRetriesSpent:
      return "all retries are spent";
    case CauseCode::kUnknown:
      return "it ended for a reason that this version does not know";
    case CauseCode::kPreempted:
      return "it was evicted for other jobs";
    case CauseCode::kDependencyNeverMet:
      return "what it waited for cannot happen any more";
    case CauseCode::kDeadline:
      return "its deadline could not be met";
    case CauseCode::kMaxWait:
      return "it had waited as long as it wanted to";
    case CauseCode::kHold:
      return fmt::format("held by {}", cause.actor_name);
    case CauseCode::kRequeue:
      return fmt::format("requeued by {}", cause.actor_name);
  }
  return "";
}

}  // namespace artel
