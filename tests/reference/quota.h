// Rules Q (limits), C (cover), I2 and F (shares).
#pragma once

#include <set>

#include "reference/world.h"

namespace artel::reference {

/// use(n, r): active jobs below n and open reservations of owners below n.
std::int64_t use(const World& world, std::size_t quota, const std::string& resource);
/// The part that open reservations of owners below n have in use(n, r).
std::int64_t reserved_use(const World& world, std::size_t quota, const std::string& resource);
/// C(r): healthy nodes outside running maintenance.
std::int64_t capacity(const World& world, const std::string& resource);
/// The part of the guarantee that others may not use: Q3's lend, X1's dedicated nodes.
std::int64_t kept_home(const World& world, std::size_t quota, const std::string& resource);
std::set<std::string> resources_of(const World& world);

/// Whether a job below n that asks for `charge` is within n; true where n states no guarantee.
bool is_within(const World& world, std::size_t quota, const Amounts& charge);
/// Within every node of its path that states a guarantee.
bool is_within_path(const World& world, const Job& job, const Amounts& charge);

/// A quota check that a start fails. `code` is empty if only the cluster is too small (no reason of
/// its own): then lack of room is the reason.
struct Failure {
  std::string code;
  std::size_t quota = kRoot;
};
/// The checks in the order of rule Z1. `planning`: signalled jobs count as gone (V3).
std::optional<Failure> quota_failure(const World& world, const Job& job, const Amounts& charge,
                                     bool planning);
/// Only the one for licenses, for jobs inside reservations.
bool has_licenses(const World& world, const Job& job, bool planning);
/// Minutes of thousandths of GPUs that the budget of the node has used and booked.
double budget_taken(const World& world, std::size_t quota);

/// Rule C2: numbers of the jobs covered at n. `also` counts as claiming its charge.
std::set<std::size_t> cover(const World& world, std::size_t quota, const Job* also = nullptr);
/// Not covered at some node of its path.
bool is_borrowed(const World& world, const Job& job);

/// Rule F1, by quota.
std::vector<double> entitlements(const World& world, const std::string& resource);
/// Rule F2.
double over(const World& world, std::size_t quota);
double score(const World& world, std::size_t quota);
double over_by_weight(const World& world, std::size_t quota);
/// Moves the histories of rule F2 on to `now`, with the state as it is.
void decay(World& world, Minute now);

}  // namespace artel::reference
