// Whose turn it is: O1 to O4.
//
// Each pool has a line, sorted once a pass; each inner node keeps its children by the key of their
// heads. A start or a failure changes the keys of one path only, so the next job costs
// O(depth x log children).
#pragma once

#include <set>
#include <tuple>
#include <vector>

#include "sched/state.h"

namespace artel::sched {

class Line {
 public:
  /// All pending jobs that are ordinary; nobody is treated.
  explicit Line(State& state);

  /// The next job, marked as treated; null: there is none.
  Job* next();
  /// The sums of the path of `queue` have changed.
  void changed(QuotaId queue);
  /// Sums have changed anywhere.
  void all_changed();

 private:
  struct Key {
    int borrows{};
    double value{};  // saturation or score
    Time ready;
    JobId job;
    QuotaId child;
    auto operator<=>(const Key&) const = default;
  };
  struct Pool {
    std::vector<Job*> jobs;
    std::size_t head = 0;
  };

  bool is_done(Job& job) const;
  Job* own_head(QuotaId quota);
  Job* head(QuotaId quota);
  void update_path(QuotaId pool);
  void rebuild(QuotaId quota);
  [[nodiscard]] Key key_of(QuotaId child, const Job& head) const;
  Job* longest_starving();
  [[nodiscard]] Charge key_charge(const Job& job) const;

  State& state_;
  std::vector<Pool> pools_;               // by quota node
  std::vector<std::set<Key>> children_;   // by quota node
  std::vector<std::optional<Key>> keys_;  // of each node in its parent's set
  std::vector<Job*> starving_;
  std::size_t next_starving_ = 0;
};

/// Of each team the eligible job that O4 puts first, whatever its pool; ascending by team.
[[nodiscard]] std::vector<JobId> first_of_teams(const State& state);
/// Pending jobs that name a reservation, in the order of O4.
[[nodiscard]] std::vector<Job*> reservation_line(State& state);

}  // namespace artel::sched
