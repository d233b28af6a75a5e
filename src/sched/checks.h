// Whether a start keeps the quota rules: Q3 to Q5, I2, licences (G2).
#pragma once

#include <optional>

#include "sched/state.h"

namespace artel::sched {

/// The check that failed, and at which node of the tree. `reason` kNone: the cluster as a whole is
/// full, which is no matter of quota.
struct Failure {
  Reason reason = Reason::kNone;
  QuotaId quota;
  Shortage shortage;
};

/// C2's "within": at this node, and at each node of the path that states a guarantee.
[[nodiscard]] bool is_within(const State& state, QuotaId quota, const Charge& charge);
[[nodiscard]] bool is_within_path(const State& state, QuotaId queue, const Charge& charge);

/// The first check in the order of Z1 that a start of `job` would fail. `planning`: signalled jobs
/// have given their licences back (V3).
[[nodiscard]] std::optional<Failure> quota_failure(const State& state, const Job& job,
                                                   const Charge& charge, bool planning);
/// All checks that a start now would fail, in the same order.
[[nodiscard]] std::vector<Failure> quota_failures(const State& state, const Job& job,
                                                  const Charge& charge);
[[nodiscard]] bool has_licences(const State& state, const Request& request, bool planning);
[[nodiscard]] bool has_access(const State& state, QuotaId queue, UserId user);

}  // namespace artel::sched
