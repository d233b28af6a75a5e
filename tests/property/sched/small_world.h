// A random small cluster with a stream of jobs, played on a Scheduler: ends, limits and ends of
// grace as they come, victims back in line, passes until nothing changes. One seed, one world.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "unit/sched/bed.h"

namespace artel::sched::small {

struct Traits {
  bool one_team = false;      // one team, one user, one priority, no limits
  bool exact_limits = false;  // every run ends at its limit
  bool in_parts = false;      // each pass job by job, with other calls in between
  bool no_history = false;  // one user, kappa = 0: histories fade, and change an order at any time
};

class SmallWorld {
 public:
  SmallWorld(std::uint64_t seed, Traits traits)
      : random_(static_cast<std::uint32_t>(seed)),
        traits_(traits),
        setup_(draw_setup()),
        scheduler(setup_, bed::at_minute(0)) {}

  /// One minute more: what ends, what arrives (if wanted), what then starts.
  void step(bool arrivals) {
    ++minute_;
    now_ = bed::at_minute(minute_);
    end_what_is_over();
    if (arrivals) {
      while (below(3) == 0) submit();
    }
    last_starts_.clear();
    rest();
  }

  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] const std::map<JobId, JobFacts>& jobs() const { return jobs_; }
  /// Starts of the last step.
  [[nodiscard]] const std::map<JobId, Time>& last_starts() const { return last_starts_; }
  [[nodiscard]] const Setup& setup() const { return setup_; }
  [[nodiscard]] int most_parts() const { return most_parts_; }

 private:
  struct Run {
    Time end;
    bool completes = true;
  };

  std::uint32_t below(std::uint32_t most) { return static_cast<std::uint32_t>(random_() % most); }

  Setup draw_setup() {
    Setup setup = bed::cluster(4 + below(6));
    setup.policy.protect_reclaim = std::chrono::minutes{below(3) * 5};
    setup.policy.protect_priority = std::chrono::minutes{below(2) * 5};
    setup.policy.reservations_per_team = 1 + below(3);
    setup.licences = {3};
    if (traits_.no_history) setup.policy.kappa = 0;
    const std::uint32_t teams = traits_.one_team ? 1 : 2 + below(2);
    for (std::uint32_t i = 0; i < teams; ++i) {
      const QuotaId team = bed::add_team(setup, "t" + std::to_string(i), below(3) * 8);
      QuotaFacts& facts = setup.tree[team.value];
      if (traits_.one_team) continue;
      const auto some = [&](std::uint32_t one_in, std::uint32_t most) {
        return below(one_in) == 0 ? Bounds{std::int64_t{1 + below(most)} * 8 * bed::kGpu, {}}
                                  : Bounds{};
      };
      facts.limit = some(3, 5);
      facts.borrow = some(3, 3);
      if (below(3) == 0) facts.lend = {0, 0};
      if (below(4) == 0) facts.max_jobs_per_user = 1 + below(4);
      if (below(5) == 0) facts.budget = 10 + below(100);
      facts.strict_fifo = below(4) == 0;
    }
    return setup;
  }

  void submit() {
    const auto team = QuotaId{1 + below(static_cast<std::uint32_t>(setup_.tree.size() - 1))};
    JobFacts job = bed::job(++last_, team, 1 + below(below(3) == 0 ? 4 : 2), 1 + below(8));
    job.request.limit = std::chrono::minutes{5 + below(40)};
    if (!traits_.one_team) {
      if (!traits_.no_history) job.user = UserId{1 + below(2)};
      job.priority = static_cast<std::int32_t>(below(3));
      job.preemptible = below(4) != 0;
      job.grace = std::chrono::minutes{below(3)};
      if (below(8) == 0) job.request.licences = {{LicenceId{0}, 1 + below(2)}};
      if (below(4) == 0) job.request.locality = Locality::kLeaf;
    }
    if (scheduler.submit(now_, job)) jobs_.emplace(job.id, job);
  }

  void end_what_is_over() {
    std::vector<std::pair<JobId, bool>> over;
    for (const auto& [id, run] : runs_) {
      if (run.end <= now_) over.emplace_back(id, run.completes);
    }
    for (const auto& [id, completes] : over) {
      runs_.erase(id);
      if (completes) {
        scheduler.end(now_, id, {});
        jobs_.erase(id);
      } else {
        scheduler.requeue(now_, id);
      }
    }
  }

  void rest() {
    scheduler.end_reservations(now_);
    scheduler.begin_reservations(now_);
    while (true) {
      const auto made = traits_.in_parts ? pass_in_parts() : scheduler.pass(now_);
      if (made.empty()) return;
      for (const Decision& decision : made) take(decision);
      std::vector<JobId> gone;
      for (const auto& [id, run] : runs_) {
        if (!run.completes && run.end <= now_) gone.push_back(id);
      }
      for (const JobId id : gone) {
        runs_.erase(id);
        scheduler.requeue(now_, id);
      }
    }
  }

  std::vector<Decision> pass_in_parts() {
    std::vector<Decision> all;
    do {
      bool first = true;
      const auto one_job = [&] { return std::exchange(first, false); };
      const auto made = scheduler.pass(now_ + std::chrono::seconds{parts_ % 50}, one_job);
      all.insert(all.end(), made.begin(), made.end());
      if (!scheduler.in_pass()) break;
      (void)scheduler.check(bed::job(last_ + 1, QuotaId{1}, 1, 8));
      (void)scheduler.check(bed::job(last_ + 1, QuotaId{1}, 100, 8));
      for (const auto& [id, facts] : jobs_) (void)scheduler.explain(id);
      const Scheduler copy = scheduler;
      most_parts_ = std::max(most_parts_, ++parts_);
    } while (true);
    parts_ = 0;
    return all;
  }

  void take(const Decision& decision) {
    if (const auto* start = std::get_if<Started>(&decision)) {
      last_starts_.try_emplace(start->job, now_);
      const Duration limit = *jobs_.at(start->job).request.limit;
      const auto whole = std::chrono::duration_cast<std::chrono::minutes>(limit).count();
      const Duration runs =
          traits_.exact_limits ? limit
                               : std::chrono::minutes{1 + below(static_cast<std::uint32_t>(whole))};
      runs_[start->job] = {now_ + runs, true};
    } else if (const auto* signal = std::get_if<Signalled>(&decision)) {
      Run& run = runs_.at(signal->job);
      const Time gone = now_ + jobs_.at(signal->job).grace;
      if (gone < run.end) run = {gone, false};
    }
  }

  std::minstd_rand random_;
  Traits traits_;
  Setup setup_;
  int minute_ = 0;
  int parts_ = 0;
  int most_parts_ = 0;
  Time now_ = bed::at_minute(0);
  std::uint64_t last_ = 0;
  std::map<JobId, JobFacts> jobs_;
  std::map<JobId, Run> runs_;
  std::map<JobId, Time> last_starts_;

 public:
  Scheduler scheduler;
};

}  // namespace artel::sched::small
