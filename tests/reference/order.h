// Rules O: who is next.
#pragma once

#include "reference/world.h"

namespace artel::reference {

/// Pending jobs that name a live reservation, by O4 (O0 lets them go first).
std::vector<std::size_t> reservation_jobs(const World& world);
/// The next untreated pending job by O1 to O4; nullopt: none is left.
std::optional<std::size_t> next_job(const World& world, const std::vector<bool>& treated);

}  // namespace artel::reference
