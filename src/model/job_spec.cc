#include "model/job_spec.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace artel {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"batch", "interactive", "service"};
constexpr std::array<std::string_view, 4> kLaunches = {"auto", "plain", "pmix", "script"};

constexpr std::array<std::string_view, 3> kClosenesses = {"any", "block", "leaf"};

template <typename Enum, std::size_t N>
std::optional<Enum> parse(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view job_kind_name(JobKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }
std::string_view launch_kind_name(LaunchKind kind) {
  return kLaunches.at(static_cast<std::size_t>(kind));
}
std::string_view closeness_name(Closeness closeness) {
  return kClosenesses.at(static_cast<std::size_t>(closeness));
}
std::optional<Closeness> parse_closeness(std::string_view name) {
  return parse<Closeness>(kClosenesses, name);
}
std::optional<JobKind> parse_job_kind(std::string_view name) {
  return parse<JobKind>(kKinds, name);
}
std::optional<LaunchKind> parse_launch_kind(std::string_view name) {
  return parse<LaunchKind>(kLaunches, name);
}

LaunchKind resolved_launch(const ComponentSpec& component, bool is_script) {
  if (is_script) return LaunchKind::kScript;
  if (component.launch != LaunchKind::kAuto) return component.launch;
  const bool one_rank = component.nodes == 1 && component.ranks_per_node == 1;
  return one_rank ? LaunchKind::kPlain : LaunchKind::kPmix;
}

}  // namespace artel
