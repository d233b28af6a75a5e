// Rules M and U: what a job holds on one node.
#include <algorithm>

#include "reference/placement.h"

namespace artel::reference {

namespace {

constexpr std::int64_t kMegabytes = 1000;

/// M2: the node's cores x GPUs asked / GPUs of the node, at least one; without GPUs one.
std::int64_t cores_on(const scenario::Node& node, const scenario::Component& part) {
  if (part.cpus > 0) return part.cpus;
  if (node.cpus == 0) return 0;  // cores are not looked at there
  if (milli_of(part) == 0 || node.gpus == 0) return 1;
  return std::max<std::int64_t>(1, node.cpus * milli_of(part) / (node.gpus * kDevice));
}

/// M2: the same share by GPUs, else by cores. MB.
std::int64_t memory_on(const scenario::Node& node, const scenario::Component& part,
                       std::int64_t cores) {
  if (part.memory > 0) return part.memory * kMegabytes;
  const std::int64_t all = node.memory * kMegabytes;
  if (milli_of(part) > 0 && node.gpus > 0) return all * milli_of(part) / (node.gpus * kDevice);
  return node.cpus > 0 ? all * cores / node.cpus : 0;
}

/// U3: the device with the fewest free thousandths that can take the share, then the lowest index.
std::optional<std::int64_t> device_for(const Room& room, std::int64_t milli,
                                       const std::string& sharer) {
  std::optional<std::int64_t> best;
  std::int64_t least = 0;
  for (std::size_t i = 0; i < room.devices.size(); ++i) {
    const Device& device = room.devices[i];
    const bool is_others = std::ranges::any_of(
        device.sharers, [&](const std::string& other) { return other != sharer; });
    if (is_others || device.free < milli || (best && device.free >= least)) continue;
    best = static_cast<std::int64_t>(i);
    least = device.free;
  }
  return best;
}

/// Whole devices: untouched ones, by index.
std::optional<std::vector<std::int64_t>> whole_devices(const Room& room, std::int64_t count) {
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < room.devices.size(); ++i) {
    if (static_cast<std::int64_t>(found.size()) == count) break;
    if (room.devices[i].free == kDevice) found.push_back(static_cast<std::int64_t>(i));
  }
  if (static_cast<std::int64_t>(found.size()) < count) return std::nullopt;
  return found;
}

/// M3, X2: stated amounts are floors; the job gets all that the node has.
std::optional<Share> whole_node(const scenario::Component& part, const scenario::Node& node,
                                const Room& room) {
  if (!room.is_empty || node.gpus * kDevice < milli_of(part)) return std::nullopt;
  if (node.cpus < part.cpus || node.memory < part.memory) return std::nullopt;
  Share share{node.name, node.gpus, node.cpus, 0, node.memory * kMegabytes, {}};
  if (node.shared) share.devices = *whole_devices(room, node.gpus);
  return share;
}

}  // namespace

std::string sharer_of(const World& world, const Job& job) {
  switch (world.policy.share_between) {
    case scenario::ShareBetween::kUser:
      return job.spec.user;
    case scenario::ShareBetween::kTeam:
      return world.quotas[job.team].spec.path;
    case scenario::ShareBetween::kAll:
      break;
  }
  return "";
}

std::optional<Share> share_on(const World& world, const Job& job, const scenario::Component& part,
                              const Node& node, const Room& room) {
  if (!room.is_open) return std::nullopt;
  if (job.spec.exclusive) return whole_node(part, node.spec, room);
  const std::int64_t cores = cores_on(node.spec, part);
  Share share{
      node.spec.name, part.gpus, cores, part.gpu_milli, memory_on(node.spec, part, cores), {}};
  if (room.milli < milli_of(part) || room.cpus < cores || room.memory < share.memory) {
    return std::nullopt;
  }
  if (part.gpu_milli > 0) {
    const auto device = device_for(room, part.gpu_milli, sharer_of(world, job));
    if (!device) return std::nullopt;  // U2 too: an unshared node has none
    share.devices = {*device};
  } else if (node.spec.shared) {
    const auto devices = whole_devices(room, part.gpus);
    if (!devices) return std::nullopt;
    share.devices = *devices;
  }
  return share;
}

}  // namespace artel::reference
