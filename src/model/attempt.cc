#include "model/attempt.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>

namespace artel {

std::string format_key(const AttemptKey& key) {
  return fmt::format("{}.{}.{}", key.job.value, key.task.value, key.attempt.value);
}

std::optional<AttemptKey> parse_key(std::string_view text) {
  AttemptKey key;
  const char* at = text.data();
  const char* const end = at + text.size();
  auto number = [&](auto& out) {
    const auto [next, error] = std::from_chars(at, end, out);
    if (error != std::errc{} || next == at) return false;
    at = next;
    return true;
  };
  auto dot = [&] { return at != end && *at++ == '.'; };
  if (!number(key.job.value) || !dot() || !number(key.task.value) || !dot() ||
      !number(key.attempt.value) || at != end) {
    return std::nullopt;
  }
  return key;
}

std::string_view node_phase_name(NodePhase phase) {
  static constexpr std::array<std::string_view, 6> kNames = {"preparing", "ready",  "starting",
                                                             "running",   "ending", "ended"};
  return kNames.at(static_cast<std::size_t>(phase));
}

}  // namespace artel
