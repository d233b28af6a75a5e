// Who could leave for one job (V1, V2, F3), and in which order (V4).
//
// Jobs of one queue share everything that the order and the conditions ask of the tree, so they
// are kept in groups, each sorted once by what no eviction changes. The next victim is the best of
// the heads of the groups, and what changes with each victim is looked at once a group.
//
// Private to src/sched.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "sched/checks.h"
#include "sched/evict.h"

namespace artel::sched {

enum class Step : std::uint8_t { kOthers, kOwn, kBoth };  // of V3

/// A job that may leave.
struct Candidate {
  Job* job{};
  std::uint32_t group{};
  std::int64_t lost{};
  bool in_time = true;  // W4: its grace is over by p's latest start
};

class Victims {
 public:
  /// Finds the candidates for `job` to get `charge`. Keeps references.
  Victims(State& state, const Job& job, const Charge& charge, Protection protection);

  [[nodiscard]] const std::vector<Candidate>& all() const { return candidates_; }
  /// The same by what no eviction changes of V4's order. Before anybody is taken.
  const std::vector<Candidate>& sorted();
  /// Whether a minimum run time keeps anybody from being a candidate, whatever `protection` says.
  [[nodiscard]] bool any_protected() const { return any_protected_; }

  void begin(Step step) { step_ = step; }
  [[nodiscard]] bool in_step(const Candidate& one) const { return in_step(groups_[one.group]); }
  /// Takes a job out of the books while a plan is made.
  void take(const Candidate& one);
  void put_back(const Candidate& one);

  /// Candidates by group, and how many of each group have been looked at.
  struct Line {
    std::vector<std::vector<std::uint32_t>> of_group;
    std::vector<std::size_t> looked_at;
  };
  /// `which`: indexes of sorted(), ascending.
  [[nodiscard]] Line line(const std::vector<std::uint32_t>& which) const;
  /// V4: the first of the line that qualifies in the present state; null: none. `failure`: only
  /// below that node.
  [[nodiscard]] const Candidate* next(Line& line, const std::optional<Failure>& failure) const;

  /// Whether all that are taken still qualify.
  [[nodiscard]] bool all_qualify() const;
  [[nodiscard]] bool is_reclaimed(const Candidate& one) const {
    return may_reclaim(groups_[one.group]);
  }
  [[nodiscard]] bool is_own(const Candidate& one) const { return groups_[one.group].own; }
  /// When its minimum run time is over, by the cause for which it is taken.
  [[nodiscard]] Time protected_until(const Candidate& one) const;
  /// For whom minimum run times are ignored: when each is gone after that and its grace.
  [[nodiscard]] Leaving protected_ends() const;

 private:
  /// Jobs of one queue whom the same causes allow to be taken.
  struct Group {
    QuotaId queue;
    QuotaId team;
    bool own = false;        // V2: of p's own pool
    QuotaId np;              // p's side below the lowest common ancestor; of others only
    std::uint32_t depth{};   // of that ancestor
    bool reclaimed = false;  // V1 may take them, as far as the jobs themselves go,
    bool levelled = false;   // and F3
    std::uint32_t taken = 0;
  };

  void find_own();
  void add_own(QuotaId quota);
  void leave_covered_work();
  void find_others();
  void add_uncovered(QuotaId np, QuotaId nv);
  [[nodiscard]] std::uint32_t group_like(const Group& group);
  void look_at_entitlements();

  [[nodiscard]] bool ran(const Job& victim, Duration least) const {
    return state_.now - victim.start >= least;
  }
  [[nodiscard]] bool fair_counts() const;
  [[nodiscard]] bool may_reclaim_at_all() const;
  [[nodiscard]] std::int64_t use_after(QuotaId np, std::size_t resource, std::int64_t amount) const;
  [[nodiscard]] bool may_reclaim(const Group& group) const;
  [[nodiscard]] bool may_level(const Group& group) const;
  [[nodiscard]] bool may_take(const Group& group) const {
    return group.own || may_reclaim(group) || may_level(group);
  }
  [[nodiscard]] bool in_step(const Group& group) const {
    return step_ == Step::kBoth || group.own == (step_ == Step::kOwn);
  }
  [[nodiscard]] auto key(const Candidate& one) const;

  State& state_;
  const Job& job_;
  Charge charge_;
  Protection protection_;
  Step step_ = Step::kOthers;
  bool any_protected_ = false;
  bool is_sorted_ = false;
  std::vector<Candidate> candidates_;
  std::vector<Group> groups_;
  Amounts own_present_;  // charges of V2's jobs that are not taken
  std::map<std::size_t, std::vector<double>> entitled_;
  std::set<std::uint32_t> above_entitlement_;
};

}  // namespace artel::sched
