// Cover (C2), entitlement (F1), what a team has above its guarantee and its score (F2).
#pragma once

#include <set>
#include <vector>

#include "sched/state.h"

namespace artel::sched {

using Covered = std::set<std::uint64_t>;  // job numbers

/// The active jobs below `quota` that its guarantee covers. `also`: a claim that is not made yet.
/// O(active log active).
[[nodiscard]] Covered cover(const State& state, QuotaId quota, const Job* also = nullptr);
/// The same, and who is left out, made again only after something below has changed. Not while
/// victims are assumed gone.
[[nodiscard]] const KnownCover& known_cover(const State& state, QuotaId quota);
/// Whether the guarantee would cover a claim of `job` to `charge` that was made now.
[[nodiscard]] bool would_cover(const State& state, QuotaId quota, const Job& job,
                               const Charge& charge);
[[nodiscard]] bool is_borrowed(const State& state, const Job& job);

/// By quota node, for one resource.
[[nodiscard]] std::vector<double> entitlements(const State& state, std::size_t resource);

/// Use above the guarantee as a share of the cluster; the largest over the resources.
[[nodiscard]] double over(const State& state, QuotaId quota);
[[nodiscard]] double over_by_weight(const State& state, QuotaId quota);
[[nodiscard]] double score(const State& state, QuotaId quota);
/// The largest part of the cluster, over the resources, that these amounts are.
[[nodiscard]] double dominant_share(const State& state, const Amounts& held);

}  // namespace artel::sched
