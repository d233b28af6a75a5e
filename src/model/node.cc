#include "model/node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/text.h"

namespace artel {
namespace {

constexpr std::array<std::string_view, 5> kClasses = {"node", "hardware", "software", "user",
                                                      "maintenance"};

}  // namespace

std::string_view node_contact_name(NodeContact contact) {
  static constexpr std::array<std::string_view, 3> kNames = {"unknown", "up", "lost"};
  return kNames.at(static_cast<std::size_t>(contact));
}

std::string_view node_state_name(const Node& node) {
  const NodeResources& has = node.config.resources;
  const bool used = node.used.cpus > 0 || node.used.gpus > 0 || node.used.memory.value > 0;
  if (node.contact == NodeContact::kUnknown) return "unknown";
  if (node.contact == NodeContact::kLost) return "down";
  if (!node.drains.empty()) {
    if (used) return "draining";
    const bool planned = std::ranges::all_of(node.drains, [](const Drain& drain) {
      return drain.reason_class == ReasonClass::kMaintenance;
    });
    return planned ? "maintenance" : "drained";
  }
  if (!used) return "idle";
  const bool full = node.used.cpus >= has.cpus && node.used.gpus >= has.gpus;
  return full ? "allocated" : "mixed";
}

std::string_view drain_source_name(DrainSource source) {
  static constexpr std::array<std::string_view, 6> kNames = {"operator",  "reboot",  "inventory",
                                                             "leftovers", "strikes", "record"};
  return kNames.at(static_cast<std::size_t>(source));
}

std::string_view reason_class_name(ReasonClass reason_class) {
  return kClasses.at(static_cast<std::size_t>(reason_class));
}

Result<ReasonClass> parse_reason_class(std::string_view name) {
  const auto found = std::ranges::find(kClasses, name);
  if (found != kClasses.end())
    return static_cast<ReasonClass>(std::distance(kClasses.begin(), found));
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is no class of reasons{}; there are {}", name,
                          did_you_mean(name, {kClasses.begin(), kClasses.end()}),
                          fmt::join(kClasses, ", ")));
}

std::string describe(const Drain& drain) {
  return fmt::format("{}: {} ({})", reason_class_name(drain.reason_class), drain.text, drain.who);
}

}  // namespace artel
