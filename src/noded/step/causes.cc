#include "noded/step/causes.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <string_view>
#include <utility>

#include "base/text.h"
#include "noded/step/environment.h"

namespace artel::step {
namespace {

const std::string& node_name(const LaunchSpec& spec) { return spec.nodes.at(spec.node_index); }

/// "rank 3 on hgx02", "the script on hgx01".
std::string who(const LaunchSpec& spec, std::uint32_t rank) {
  if (spec.launch == LaunchKind::kScript) return fmt::format("the script on {}", node_name(spec));
  return fmt::format("rank {} on {}", rank, node_name(spec));
}

Cause application_cause(const LaunchSpec& spec, CauseCode code, std::uint32_t rank) {
  Cause cause{.actor = Actor::kApplication, .code = code, .node = node_name(spec)};
  if (spec.launch != LaunchKind::kScript) cause.rank = rank;
  return cause;
}

/// Length of the UTF-8 character at the start of `text`, 0 where there is none.
std::size_t character_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
  }
  const unsigned second = byte(1);
  const bool out_of_range = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                            (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return out_of_range ? 0 : length;
}

}  // namespace

std::optional<Cause> cause_of_exit(const LaunchSpec& spec, std::uint32_t local, int wait_status,
                                   bool left_early) {
  const std::uint32_t rank = rank_number(spec, local);
  if (WIFSIGNALED(wait_status)) {
    Cause cause = application_cause(spec, CauseCode::kSignal, rank);
    cause.signal = WTERMSIG(wait_status);
    cause.text = fmt::format("{} was killed by signal {} ({})", who(spec, rank), cause.signal,
                             signal_name(cause.signal));
    return cause;
  }
  const int code = WEXITSTATUS(wait_status);
  if (code != 0) {
    Cause cause = application_cause(spec, CauseCode::kExit, rank);
    cause.exit_code = code;
    cause.text = fmt::format("{} ended with exit code {}", who(spec, rank), code);
    return cause;
  }
  if (!left_early) return std::nullopt;
  Cause cause = application_cause(spec, CauseCode::kLeftEarly, rank);
  cause.text = fmt::format("{} left the MPI run without MPI_Finalize", who(spec, rank));
  return cause;
}

Cause cause_of_abort(const LaunchSpec& spec, std::uint32_t rank, std::int32_t status) {
  Cause cause = application_cause(spec, CauseCode::kAbort, rank);
  cause.exit_code = status;
  cause.text = fmt::format("{} called MPI_Abort with code {}", who(spec, rank), status);
  return cause;
}

Cause cause_of_time_limit(const LaunchSpec& spec) {
  return {.actor = Actor::kLimit,
          .code = CauseCode::kTimeLimit,
          .node = node_name(spec),
          .text = fmt::format("time limit of {} reached",
                              format_duration(spec.time_limit.value_or(Duration{})))};
}

Cause cause_of_success(const LaunchSpec& spec) {
  Cause cause{.actor = Actor::kApplication, .code = CauseCode::kExit};
  if (spec.launch == LaunchKind::kScript) {
    cause.text = "the script ended with exit code 0";
  } else {
    const std::uint32_t ranks = world_size(spec);
    cause.text = ranks == 1 ? std::string("the program ended with exit code 0")
                            : fmt::format("all {} ranks ended with exit code 0", ranks);
  }
  return cause;
}

Cause launch_cause(const LaunchSpec& spec, CauseCode code, std::string text) {
  return {.actor = Actor::kLaunch,
          .code = code,
          .node = node_name(spec),
          .text = printable(std::move(text))};
}

Duration grace_for(const Cause& cause, Duration grace) {
  switch (cause.actor) {
    case Actor::kUser:
    case Actor::kLimit:
    case Actor::kPreemption:
    case Actor::kHealth:
    case Actor::kSystem:
      return grace;
    case Actor::kNone:
    case Actor::kApplication:
    case Actor::kNode:
    case Actor::kLaunch:
      break;
  }
  return std::min<Duration>(grace, kCrashGrace);
}

std::string printable(std::string text) {
  std::string out;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t length = character_length(rest);
    const bool control =
        length == 1 && (static_cast<unsigned char>(rest[0]) < 0x20 || rest[0] == 0x7f);
    if (length == 0 || control) {
      out += '?';
    } else {
      out += rest.substr(0, length);
    }
    rest.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace artel::step
