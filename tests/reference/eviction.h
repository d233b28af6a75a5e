// Rules V: who is evicted for whom.
#pragma once

#include "reference/placement.h"

namespace artel::reference {

struct Eviction {
  std::vector<std::size_t> victims;
  std::vector<Share> shares;  // that the job then claims
};

/// Rule V3 for the job at its smallest size in that flavor, or nullopt: nobody is touched. `plans`
/// are those made in this pass so far. `protect`: minimum run times hold (A3).
std::optional<Eviction> make_eviction(World& world, const Job& job, const std::string& flavor,
                                      const std::vector<Planned>& plans, bool protect);

/// When those whom only their minimum run time keeps from being victims of the job can be gone
/// (B2).
std::map<std::size_t, Minute> protected_ends(World& world, const Job& job,
                                             const std::string& flavor);

}  // namespace artel::reference
