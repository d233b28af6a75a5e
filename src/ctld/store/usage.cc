#include "ctld/store/usage.h"

#include <algorithm>

#include "base/text.h"

namespace artel::ctld {
namespace {

/// "2026-11-30"
std::string day_of(Time time) {
  const std::string text = format_time(time);
  return text.substr(0, text.find('T'));
}

}  // namespace

std::optional<UsageBy> parse_usage_by(std::string_view word) {
  if (word == "team") return UsageBy::kTeam;
  if (word == "user") return UsageBy::kUser;
  if (word == "queue") return UsageBy::kQueue;
  if (word == "node") return UsageBy::kNode;
  if (word == "day") return UsageBy::kDay;
  return std::nullopt;
}

Time held_until(const HeldPart& part, Time now) {
  const Time latest = part.attempt_ended.value_or(now);
  // A node that never started anything reports the epoch.
  const bool reported = part.part_ended && *part.part_ended != Time{};
  const Time end = reported ? std::min(*part.part_ended, latest) : latest;
  return std::max(end, part.allocated);
}

void UsageSum::add(const HeldPart& part) {
  const Time until = held_until(part, filter_.now);
  const Time begin = std::max(part.allocated, filter_.from);
  const Time end = std::min(until, filter_.to);
  // What was held for no time at all is counted where it happened.
  const bool is_moment = part.allocated == until;
  if (is_moment ? part.allocated < filter_.from || part.allocated >= filter_.to : begin >= end)
    return;
  switch (filter_.by) {
    case UsageBy::kTeam:
      return add(part.team, part, end - begin);
    case UsageBy::kUser:
      return add(part.user, part, end - begin);
    case UsageBy::kQueue:
      return add(part.queue, part, end - begin);
    case UsageBy::kNode:
      return add(part.node, part, end - begin);
    case UsageBy::kDay:
      return add_days(part, begin, end);
  }
}

void UsageSum::add_days(const HeldPart& part, Time begin, Time end) {
  do {
    const Time midnight = std::chrono::floor<std::chrono::days>(begin) + std::chrono::days{1};
    const Time until = std::min(end, midnight);
    add(day_of(begin), part, until - begin);
    begin = until;
  } while (begin < end);
}

void UsageSum::add(const std::string& key, const HeldPart& part, Duration held) {
  Sum& sum = sums_[key];
  if (!sum.latest || sum.latest->job != part.key.job) ++sum.row.jobs;
  if (sum.latest != part.key) ++sum.row.attempts;
  sum.latest = part.key;
  const auto ms = static_cast<std::uint64_t>(held.count());
  sum.row.gpu_ms += ms * part.gpus;
  sum.row.cpu_ms += ms * part.cpus;
  sum.row.node_ms += ms;
}

std::vector<UsageRow> UsageSum::rows() const {
  std::vector<UsageRow> rows;
  rows.reserve(sums_.size());
  for (const auto& [key, sum] : sums_) {
    rows.push_back(sum.row);
    rows.back().key = key;
  }
  return rows;
}

}  // namespace artel::ctld
