// Rules R1 to R6.
#include "reference/reservations.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "reference/eligible.h"
#include "reference/quota.h"

namespace artel::reference {

namespace {

constexpr std::int64_t kMegabytes = 1000;

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool holds_node(const Job& job, const std::string& node) {
  const bool holds = job.stage == Stage::kRunning || job.stage == Stage::kSignalled ||
                     job.stage == Stage::kClaiming;
  return holds && std::ranges::find(job.shares, node, &Share::node) != job.shares.end();
}

/// Whether the job's limit passes that time.
bool passes(const World& world, const Job& job, Minute time) {
  std::optional<Minute> end = job.limit_end;
  if (job.stage == Stage::kClaiming) end = end_of_run(job, expected_start(world, job));
  return !end || *end > time;
}

/// R1's refusals at one node.
bool conflicts(const World& world, const scenario::Reservation& spec, const std::string& node) {
  const bool overlaps = std::ranges::any_of(world.reservations, [&](const Reservation& one) {
    if (one.spec.name == spec.name || !has(one.nodes, node)) return false;
    return one.spec.spare || (one.spec.start < spec.end && spec.start < one.spec.end);
  });
  const bool fixed = std::ranges::any_of(world.jobs, [&](const Job& job) {
    return holds_node(job, node) && !job.spec.preemptible && passes(world, job, spec.start);
  });
  return overlaps || fixed;
}

bool is_others(const World& world, const Reservation& reservation, const Node& node) {
  if (!node.owner || reservation.spec.maintenance) return false;
  return !is_below(world, *reservation.owner, *node.owner);
}

/// GPUs of preemptible jobs on the node that pass the start.
std::int64_t burden(const World& world, const scenario::Reservation& spec,
                    const std::string& node) {
  std::int64_t gpus = 0;
  for (const Job& job : world.jobs) {
    const bool counts = job.stage == Stage::kRunning || job.stage == Stage::kClaiming;
    if (!counts || !passes(world, job, spec.start)) continue;
    for (const Share& share : job.shares) {
      if (share.node == node) gpus += milli_of(share);
    }
  }
  return gpus;
}

/// R1: so many nodes among these, with the least burden; and their burden.
std::optional<std::pair<std::int64_t, std::vector<std::string>>> choose(
    const World& world, const Reservation& reservation, const std::optional<std::string>& leaf) {
  std::vector<std::pair<std::int64_t, std::string>> found;
  for (const Node& node : world.nodes) {
    const scenario::Node& spec = node.spec;
    const std::string& flavor = reservation.spec.flavor;
    if (!node.healthy || (leaf && spec.leaf != *leaf)) continue;
    if (!flavor.empty() && spec.flavor != flavor) continue;
    if (is_others(world, reservation, node)) continue;
    if (conflicts(world, reservation.spec, spec.name)) continue;
    found.emplace_back(burden(world, reservation.spec, spec.name), spec.name);
  }
  std::ranges::sort(found);
  const auto count = static_cast<std::size_t>(*reservation.spec.count);
  if (found.size() < count) return std::nullopt;
  std::pair<std::int64_t, std::vector<std::string>> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    chosen.first += found[i].first;
    chosen.second.push_back(found[i].second);
  }
  return chosen;
}

bool choose_nodes(const World& world, Reservation& reservation) {
  if (!reservation.spec.one_leaf) {
    const auto chosen = choose(world, reservation, std::nullopt);
    if (chosen) reservation.nodes = chosen->second;
    return chosen.has_value();
  }
  std::set<std::string> leaves;
  for (const Node& node : world.nodes) leaves.insert(node.spec.leaf);
  std::optional<std::int64_t> least;
  for (const std::string& leaf : leaves) {
    const auto chosen = choose(world, reservation, leaf);
    if (!chosen || (least && chosen->first >= *least)) continue;
    least = chosen->first;
    reservation.nodes = chosen->second;
  }
  return least.has_value();
}

std::optional<std::string> replacement(const World& world, const Reservation& reservation,
                                       const Node& failed) {
  std::vector<std::tuple<bool, std::string>> found;
  for (const Node& node : world.nodes) {
    const std::string& name = node.spec.name;
    if (!node.healthy || node.spec.flavor != failed.spec.flavor) continue;
    if (has(reservation.nodes, name) || is_others(world, reservation, node)) continue;
    if (conflicts(world, reservation.spec, name)) continue;
    const bool is_free =
        std::ranges::none_of(world.jobs, [&](const Job& job) { return holds_node(job, name); });
    if (is_free) found.emplace_back(node.spec.leaf != failed.spec.leaf, name);
  }
  if (found.empty()) return std::nullopt;
  return std::get<1>(*std::ranges::min_element(found));
}

std::vector<std::string> names_in_order(const World& world) {
  std::vector<std::string> names;
  for (const Node& node : world.nodes) names.push_back(node.spec.name);
  std::ranges::sort(names);
  return names;
}

/// H3: empty, healthy, unreserved, undedicated (or the owner's), of the flavor.
bool may_be_spare(const World& world, const Reservation& spares, const Node& node) {
  const std::string& name = node.spec.name;
  if (!node.healthy || is_others(world, spares, node)) return false;
  if (!spares.spec.flavor.empty() && node.spec.flavor != spares.spec.flavor) return false;
  const bool is_reserved = std::ranges::any_of(
      world.reservations, [&](const Reservation& one) { return has(one.nodes, name); });
  const bool is_held =
      std::ranges::any_of(world.jobs, [&](const Job& job) { return holds_node(job, name); });
  return !is_reserved && !is_held;
}

/// I2 with the spares: non-preemptible use stays within G less the reservations.
bool keeps_production(const World& world, std::size_t owner) {
  for (const std::size_t quota : path_of(world, owner)) {
    if (!world.quotas[quota].states) continue;
    for (const std::string& resource : resources_of(world)) {
      std::int64_t fixed = 0;
      for (const Job& job : world.jobs) {
        const bool counts = is_active(job) && !job.spec.preemptible && !is_inside(world, job);
        if (counts && is_below(world, job.quota, quota)) fixed += amount(job.charge, resource);
      }
      if (fixed == 0) continue;
      const std::int64_t guarantee = amount(world.quotas[quota].guarantee, resource);
      if (fixed + reserved_use(world, quota, resource) > guarantee) return false;
    }
  }
  return true;
}

/// H4: whether the node may take the place of the lost one beside what is left.
std::optional<Share> stand_in(const World& world, const Job& job, const std::vector<Share>& left,
                              const Share& gone, const Node& node) {
  const Node& lost = node_named(world, gone.node);
  if (!node.healthy || !admits_node(job, node) || node.spec.flavor != lost.spec.flavor) {
    return std::nullopt;
  }
  for (const Share& share : left) {
    const Node& other = node_named(world, share.node);
    const bool leaf = other.spec.leaf == node.spec.leaf;
    const bool block = other.spec.block == node.spec.block;
    if (job.spec.topology == scenario::Topology::kLeaf && !leaf) return std::nullopt;
    if (job.spec.topology == scenario::Topology::kBlock && !block) return std::nullopt;
  }
  if (job.spec.segment > 1 && node.spec.leaf != lost.spec.leaf) return std::nullopt;
  const scenario::Component part{
      .nodes = 1, .gpus = gone.gpus, .gpu_milli = gone.gpu_milli, .cpus = gone.cpus};
  const auto index = static_cast<std::size_t>(&node - world.nodes.data());
  auto share = share_on(world, job, part, node, empty_rooms(world, true)[index]);
  if (node.spec.memory * kMegabytes < gone.memory) return std::nullopt;
  if (share && gone.memory > 0 && !job.spec.exclusive) share->memory = gone.memory;
  return share;
}

/// H4: nearest owner first; the leaf of the lost node, its block, then by name.
std::optional<Share> take_spare(World& world, const Job& job, const std::vector<Share>& left,
                                const Share& gone) {
  const Node& lost = node_named(world, gone.node);
  std::optional<Share> best;
  Reservation* from = nullptr;
  std::tuple<std::ptrdiff_t, bool, bool, std::string> least;
  const auto path = path_of(world, job.quota);
  for (Reservation& one : world.reservations) {
    const auto owner = std::ranges::find(path, one.owner.value_or(kRoot));
    if (!one.spec.spare || owner == path.end()) continue;
    for (const std::string& name : one.nodes) {
      const Node& node = node_named(world, name);
      const std::tuple key(owner - path.begin(), node.spec.leaf != lost.spec.leaf,
                           node.spec.block != lost.spec.block, name);
      const auto share = stand_in(world, job, left, gone, node);
      if (!share || (best && key >= least)) continue;
      best = share;
      least = key;
      from = &one;
    }
  }
  if (from != nullptr) std::erase(from->nodes, best->node);
  return best;
}

/// R6: an early start is ordinary work.
bool may_start_early(const World& world, const Job& job, const Variant& variant) {
  const Amounts charge = charge_of(world, job, variant);
  if (quota_failure(world, job, charge, false)) return false;
  return world.now >= job.backoff_until || is_within_path(world, job, charge);
}

}  // namespace

bool add_reservation(World& world, const scenario::Reservation& spec) {
  Reservation one{.spec = spec, .nodes = spec.nodes};
  for (std::size_t i = 1; i < world.quotas.size(); ++i) {
    if (world.quotas[i].spec.path == spec.owner) one.owner = i;
  }
  one.is_open = spec.spare;
  if (spec.spare) {
    world.reservations.push_back(one);
    return true;
  }
  if (spec.count) {
    if (!choose_nodes(world, one)) return false;
  } else if (std::ranges::any_of(spec.nodes, [&](const std::string& node) {
               return conflicts(world, spec, node);
             })) {
    return false;
  }
  std::ranges::sort(one.nodes);
  world.reservations.push_back(one);
  return true;
}

void end_reservations(World& world) {
  for (const Reservation& one : world.reservations) {
    if (one.spec.spare || one.spec.end > world.now) continue;
    for (Job& job : world.jobs) {
      if (job.spec.reservation == one.spec.name) job.spec.reservation.clear();
    }
  }
  std::erase_if(world.reservations, [&](const Reservation& one) {
    return !one.spec.spare && one.spec.end <= world.now;
  });
}

void open_reservations(World& world) {
  for (Reservation& one : world.reservations) {
    if (one.spec.start <= world.now) one.is_open = true;
  }
}

namespace {

bool is_in_the_way(const World& world, const Job& job) {
  return std::ranges::any_of(world.reservations, [&](const Reservation& one) {
    const bool on_it = std::ranges::any_of(
        one.nodes, [&](const std::string& node) { return holds_node(job, node); });
    return on_it && !one.spec.spare && job.spec.reservation != one.spec.name &&
           passes(world, job, one.spec.start) && world.now >= one.spec.start - job.grace;
  });
}

}  // namespace

std::vector<std::size_t> jobs_in_the_way(const World& world) {
  std::vector<std::size_t> found;
  for (const Job& job : world.jobs) {
    if (job.stage != Stage::kRunning || !job.spec.preemptible) continue;
    if (is_in_the_way(world, job)) found.push_back(job.number);
  }
  return found;
}

std::vector<std::size_t> claims_in_the_way(const World& world) {
  std::vector<std::size_t> found;
  for (const Job& job : world.jobs) {
    if (job.stage == Stage::kClaiming && is_in_the_way(world, job)) found.push_back(job.number);
  }
  return found;
}

void replace_failed_nodes(World& world) {
  for (Reservation& one : world.reservations) {
    if (!one.spec.count || one.spec.spare) continue;
    for (std::string& name : one.nodes) {
      const Node& node = node_named(world, name);
      if (node.healthy) continue;
      if (const auto other = replacement(world, one, node)) name = *other;
    }
    std::ranges::sort(one.nodes);
  }
}

bool may_enter(const World& world, const Job& job) {
  const Reservation* one = find_reservation(world, job.spec.reservation);
  if (one == nullptr || one->spec.spare || !one->owner || !is_below(world, job.quota, *one->owner))
    return false;
  return one->spec.users.empty() || has(one->spec.users, job.spec.user);
}

void fill_spares(World& world) {
  for (std::size_t r = 0; r < world.reservations.size(); ++r) {
    if (!world.reservations[r].spec.spare) continue;
    std::erase_if(world.reservations[r].nodes,
                  [&](const std::string& name) { return !node_named(world, name).healthy; });
    for (const std::string& name : names_in_order(world)) {
      Reservation& one = world.reservations[r];
      const auto count = static_cast<std::int64_t>(one.nodes.size());
      if (count >= *one.spec.count || !may_be_spare(world, one, node_named(world, name))) continue;
      one.nodes.push_back(name);
      if (!keeps_production(world, *one.owner)) one.nodes.pop_back();
    }
    std::ranges::sort(world.reservations[r].nodes);
  }
}

std::optional<std::vector<Share>> swap_shares(World& world, const Job& job,
                                              const std::string& lost) {
  std::vector<Share> left;
  std::optional<Share> gone;
  for (const Share& share : job.shares) {
    if (share.node == lost) {
      gone = share;
    } else {
      left.push_back(share);
    }
  }
  if (static_cast<std::int64_t>(left.size()) >= job.needed) return left;
  if (!gone) return std::nullopt;
  const auto spare = take_spare(world, job, left, *gone);
  if (!spare) return std::nullopt;
  left.push_back(*spare);
  std::ranges::sort(left);
  return left;
}

std::optional<std::vector<Share>> place_inside(const World& world, const Job& job) {
  const Reservation& one = *find_reservation(world, job.spec.reservation);
  if (!one.is_open && !one.spec.flex) return std::nullopt;
  const auto end = end_of_run(job, world.now);
  if (!one.spec.flex && (!end || *end > one.spec.end)) return std::nullopt;
  if (!has_licenses(world, job, false)) return std::nullopt;
  const auto room = rooms(world, {.from = world.now, .end = end, .inside = job.spec.reservation});
  for (const std::int64_t size : sizes_of(job)) {
    for (const std::string& flavor : job.spec.flavors) {
      const Variant variant{size, flavor};
      if (!one.is_open && !may_start_early(world, job, variant)) continue;
      if (auto shares = place(world, job, variant, room)) return shares;
    }
  }
  return std::nullopt;
}

}  // namespace artel::reference
