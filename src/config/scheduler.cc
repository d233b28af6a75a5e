// [scheduler] of artel.toml: the values of the rules of scheduling.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/text.h"
#include "config/files.h"

namespace artel::config {
namespace {

using sched::ShareBetween;

/// Who may sit together on one device (U4).
void read_share_between(Section& section, ShareBetween& out) {
  constexpr std::array<std::pair<std::string_view, ShareBetween>, 3> kWords = {
      {{"user", ShareBetween::kUser}, {"team", ShareBetween::kTeam}, {"all", ShareBetween::kAll}}};
  std::string word;
  if (!section.text("share_between", word)) return;
  std::vector<std::string_view> known;
  for (const auto& [name, value] : kWords) {
    known.push_back(name);
    if (name != word) continue;
    out = value;
    return;
  }
  const std::string near = did_you_mean(word, known);
  section.mistake("share_between", fmt::format("'{}' is none of user, team and all{}", word, near));
}

}  // namespace

void read_scheduler(Section section, sched::Policy& policy) {
  constexpr std::uint64_t kMostCount = 1'000'000;
  constexpr double kMostFactor = 1000;
  section.span("protect_reclaim", policy.protect_reclaim);
  section.span("protect_fair", policy.protect_fair);
  section.span("protect_priority", policy.protect_priority);
  section.span("requeue_backoff", policy.requeue_backoff);
  if (std::uint64_t most = 0; section.number("most_backoffs", 1, kMostCount, most))
    policy.most_backoffs = static_cast<std::uint32_t>(most);
  section.flag("fair_preemption", policy.fair_preemption);
  section.span("fair_patience", policy.fair_patience);
  section.real("fair_waste_factor", 0, kMostFactor, policy.fair_waste_factor);
  section.duration("half_life", policy.half_life);
  section.real("kappa", 0, kMostFactor, policy.kappa);
  if (std::uint64_t plans = 0; section.number("reservations_per_team", 0, kMostCount, plans))
    policy.reservations_per_team = static_cast<std::uint32_t>(plans);
  if (std::uint64_t plans = 0; section.number("starving_per_team", 0, kMostCount, plans))
    policy.starving_per_team = static_cast<std::uint32_t>(plans);
  section.span("starve_after", policy.starve_after);
  read_share_between(section, policy.share_between);
  section.end();
}

}  // namespace artel::config
