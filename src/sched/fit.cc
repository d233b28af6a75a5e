#include "sched/fit.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"

namespace artel::sched {
namespace {

std::uint64_t all_gpus(std::uint32_t count) {
  return count >= kMaxGpusPerNode ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

// part of `whole` in the ratio num/den, rounded down; whole fits in 64 bits times a small numerator
// only up to 2^58.
std::uint64_t share_of(std::uint64_t whole, std::uint32_t num, std::uint32_t den) {
  return whole / den * num + whole % den * num / den;
}

}  // namespace

std::optional<Demand> demand_on(const NodeResources& total, const NodeRequest& request,
                                std::uint32_t ranks) {
  Demand demand{.gpus = static_cast<std::uint32_t>(request.gpus.devices()),
                .cpus = request.cpus,
                .memory = request.memory};
  if (!request.gpu_type.empty() && request.gpu_type != total.gpu_type) return std::nullopt;
  if (demand.gpus > total.gpus) return std::nullopt;
  if (request.whole_node) {
    if (demand.cpus > total.cpus || demand.memory > total.memory) return std::nullopt;
    return Demand{.gpus = total.gpus, .cpus = total.cpus, .memory = total.memory};
  }
  const bool by_gpu = demand.gpus > 0;
  if (demand.cpus == 0) {
    demand.cpus =
        by_gpu ? std::max(1U,
                          static_cast<std::uint32_t>(share_of(total.cpus, demand.gpus, total.gpus)))
               : ranks;
  }
  if (demand.cpus > total.cpus) return std::nullopt;
  if (demand.memory.value == 0) {
    demand.memory =
        Bytes{by_gpu ? share_of(total.memory.value, demand.gpus, total.gpus)
                     : share_of(total.memory.value, demand.cpus, std::max(1U, total.cpus))};
  }
  if (demand.memory > total.memory) return std::nullopt;
  return demand;
}

bool fits_now(const NodeView& node, const NodeRequest& request, std::uint32_t ranks) {
  const auto demand = demand_on(node.total, request, ranks);
  if (!demand) return false;
  if (request.whole_node) return node.empty;
  return static_cast<std::uint32_t>(std::popcount(node.free_gpus)) >= demand->gpus &&
         node.free_cpus >= demand->cpus && node.free_memory >= demand->memory;
}

NodeShare take(NodeView& node, const NodeRequest& request, std::uint32_t ranks) {
  const auto demand = demand_on(node.total, request, ranks);
  ARTEL_ASSERT(demand.has_value());
  NodeShare share{.node = node.id,
                  .gpus = {},
                  .cpus = demand->cpus,
                  .memory = demand->memory,
                  .whole_node = request.whole_node};
  for (std::uint16_t device = 0; share.gpus.size() < demand->gpus; ++device) {
    ARTEL_ASSERT(device < kMaxGpusPerNode);
    if ((node.free_gpus >> device & 1U) != 0) share.gpus.push_back(device);
  }
  occupy(node, share);
  return share;
}

void occupy(NodeView& node, const NodeShare& share) {
  node.empty = false;
  if (share.whole_node) {
    node.free_gpus = 0;
    node.free_cpus = 0;
    node.free_memory = Bytes{};
    return;
  }
  for (const std::uint16_t device : share.gpus) node.free_gpus &= ~(std::uint64_t{1} << device);
  // A node may have come back smaller than it was when the share was given.
  node.free_cpus -= std::min(node.free_cpus, share.cpus);
  node.free_memory -= std::min(node.free_memory, share.memory);
}

void release(NodeView& node, const NodeShare& share) {
  for (const std::uint16_t device : share.gpus) {
    node.free_gpus |= std::uint64_t{1} << device & all_gpus(node.total.gpus);
  }
  node.free_cpus = std::min(node.total.cpus, node.free_cpus + share.cpus);
  node.free_memory.value =
      std::min(node.total.memory.value, node.free_memory.value + share.memory.value);
  node.empty = share.whole_node ||
               (node.free_cpus == node.total.cpus && node.free_gpus == all_gpus(node.total.gpus) &&
                node.free_memory == node.total.memory);
  if (share.whole_node) {
    node.free_gpus = all_gpus(node.total.gpus);
    node.free_cpus = node.total.cpus;
    node.free_memory = node.total.memory;
  }
}

}  // namespace artel::sched
