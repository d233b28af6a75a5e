#include "model/job_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
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

std::optional<Time> JobSpec::limit_end(Time start) const {
  std::optional<Time> end = deadline;
  if (time_limit) end = end ? std::min(*end, start + *time_limit) : start + *time_limit;
  return end;
}

std::string array_text(const ArraySpec& array) {
  std::string out = array.indexes.text();
  if (array.throttle) out += fmt::format("%{}", *array.throttle);
  return out;
}

Result<ArraySpec> parse_array(std::string_view text, std::uint32_t most_tasks) {
  const std::size_t percent = text.find('%');
  ArraySpec array;
  auto indexes = IndexSet::parse(text.substr(0, percent), most_tasks);
  if (!indexes) return fail(indexes);
  array.indexes = std::move(*indexes);
  if (percent == std::string_view::npos) return array;
  const std::string_view word = text.substr(percent + 1);
  std::uint32_t throttle = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), throttle);
  if (error != std::errc{} || end != word.data() + word.size() || throttle == 0)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'%{}' at character {}: is no throttle; write 0-99%5 for 5 tasks at "
                            "once",
                            word.substr(0, 40), percent + 1));
  array.throttle = throttle;
  return array;
}

std::optional<JobId> task_number(JobId array, const ArraySpec& spec, TaskIndex index) {
  const auto rank = spec.indexes.rank(index.value);
  if (!rank) return std::nullopt;
  return JobId{array.value + 1 + *rank};
}

JobId array_number(JobId task, const ArraySpec& spec, TaskIndex index) {
  const std::uint64_t behind = 1 + std::uint64_t{spec.indexes.rank(index.value).value_or(0)};
  return JobId{task.value > behind ? task.value - behind : 0};
}

LaunchKind resolved_launch(const ComponentSpec& component, bool is_script) {
  if (is_script) return LaunchKind::kScript;
  if (component.launch != LaunchKind::kAuto) return component.launch;
  const bool one_rank = component.nodes == 1 && component.ranks_per_node == 1;
  return one_rank ? LaunchKind::kPlain : LaunchKind::kPmix;
}

}  // namespace artel
