#include "ctld/core/new_teams.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace artel::ctld {
namespace {

class Comparison {
 public:
  explicit Comparison(const Layout& layout) : layout_(layout) {}

  void cohorts(const std::vector<CohortConfig>& before, const std::vector<CohortConfig>& after) {
    same_names("cohort", before, after);
    each_kept(before, after, [&](const CohortConfig& old, const CohortConfig& now) {
      same("cohort", now.name, "parent", old.parent, now.parent);
      terms("cohort", now.name, layout_.cohort(now.name), old.terms, now.terms);
    });
  }

  void teams(const std::vector<TeamConfig>& before, const std::vector<TeamConfig>& after) {
    same_names("team", before, after);
    each_kept(before, after, [&](const TeamConfig& old, const TeamConfig& now) {
      same("team", now.name, "cohort", old.cohort, now.cohort);
      same("team", now.name, "budget", old.budget, now.budget);
      terms("team", now.name, layout_.team(now.name), old.terms, now.terms);
    });
  }

  void queues(const std::vector<QueueConfig>& before, const std::vector<QueueConfig>& after) {
    same_names("queue", before, after);
    each_kept(before, after, [&](const QueueConfig& old, const QueueConfig& now) {
      same("queue", now.name, "team", old.team, now.team);
      same("queue", now.name, "max_jobs_per_user", old.max_jobs_per_user, now.max_jobs_per_user);
      same("queue", now.name, "max_gpus_per_user", old.max_gpus_per_user, now.max_gpus_per_user);
      same("queue", now.name, "strict_fifo", old.strict_fifo, now.strict_fifo);
    });
  }

  Result<NewTerms> result() {
    if (mistakes_.empty()) return std::move(terms_);
    return fail(ErrorCode::kConfig,
                fmt::format("{}\nthese need a restart of artel-ctld, which jobs outlive",
                            fmt::join(mistakes_, "\n")));
  }

 private:
  template <typename Config>
  static const Config* find(const std::vector<Config>& all, const std::string& name) {
    const auto found = std::ranges::find(all, name, &Config::name);
    return found == all.end() ? nullptr : &*found;
  }

  template <typename Config>
  void same_names(std::string_view kind, const std::vector<Config>& before,
                  const std::vector<Config>& after) {
    for (const Config& old : before) {
      if (find(after, old.name) == nullptr)
        mistakes_.push_back(fmt::format("{} '{}' is gone", kind, old.name));
    }
    for (const Config& now : after) {
      if (find(before, now.name) == nullptr)
        mistakes_.push_back(fmt::format("{} '{}' is new", kind, now.name));
    }
  }

  template <typename Config, typename Compare>
  static void each_kept(const std::vector<Config>& before, const std::vector<Config>& after,
                        Compare compare) {
    for (const Config& now : after) {
      if (const Config* old = find(before, now.name)) compare(*old, now);
    }
  }

  template <typename Value>
  void same(std::string_view kind, const std::string& name, std::string_view key,
            const Value& before, const Value& after) {
    if (before == after) return;
    mistakes_.push_back(fmt::format("{} '{}': {} has changed", kind, name, key));
  }

  void terms(std::string_view kind, const std::string& name, std::optional<sched::QuotaId> quota,
             const QuotaTerms& before, const QuotaTerms& after) {
    if (before == after || !quota) return;
    // Whether guarantees are stated at all decides what teams have that are in no file.
    same(kind, name, "guarantee, stated or not,", before.guarantee.has_value(),
         after.guarantee.has_value());
    terms_.emplace_back(*quota, layout_.change_to(after));
  }

  const Layout& layout_;
  NewTerms terms_;
  std::vector<std::string> mistakes_;
};

}  // namespace

Result<NewTerms> new_terms(const TeamsConfig& before, const TeamsConfig& after,
                           const Layout& layout) {
  Comparison comparison(layout);
  comparison.cohorts(before.cohorts, after.cohorts);
  comparison.teams(before.teams, after.teams);
  comparison.queues(before.queues, after.queues);
  return comparison.result();
}

}  // namespace artel::ctld
