#include "ctld/core/wishes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "model/teams.h"

namespace artel::ctld {
namespace {

template <typename... Handlers>
struct Overload : Handlers... {
  using Handlers::operator()...;
};

/// The node that people call "team nlp", or "nlp" where no other is called so.
Result<sched::QuotaId> find_quota(const Layout& layout, const std::string& name) {
  if (!layout.has_teams()) {
    return fail(ErrorCode::kInvalidArgument,
                "this cluster has no teams, so no quotas that could change; [[team]] in a file of "
                "teams.d makes them, see artel.toml(5)");
  }
  const auto count = static_cast<std::uint32_t>(layout.setup().tree.size());
  std::vector<std::string> labels;
  std::vector<sched::QuotaId> found;
  for (std::uint32_t i = 1; i < count; ++i) {
    labels.push_back(layout.label(sched::QuotaId{i}));
    const std::string& label = labels.back();
    if (label == name) return sched::QuotaId{i};
    if (label.substr(label.find(' ') + 1) == name) found.emplace_back(i);
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("several are called '{}'; say 'team {}' or 'cohort {}'", name, name, name));
  }
  const std::vector<std::string_view> words(labels.begin(), labels.end());
  return fail(ErrorCode::kNotFound, fmt::format("there is no cohort, team or queue '{}'{}", name,
                                                did_you_mean("team " + name, words)));
}

/// The index and the unit of a key such as "h100" or "cores".
Result<std::pair<std::size_t, std::int64_t>> find_amount(const Layout& layout,
                                                         const std::string& key) {
  const std::vector<std::string>& flavors = layout.setup().flavors;
  if (key == kCoresKey) return std::pair{flavors.size(), std::int64_t{1}};
  const auto flavor = std::ranges::find(flavors, key);
  if (flavor != flavors.end()) {
    return std::pair{static_cast<std::size_t>(flavor - flavors.begin()),
                     static_cast<std::int64_t>(GpuMilli::kPerDevice)};
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is no GPU type of this cluster; there are {} and {}", key,
                          fmt::join(flavors, ", "), kCoresKey));
}

Result<std::optional<sched::Amounts>> guarantee_of(const QuotaWish& wish, const Layout& layout,
                                                   const sched::QuotaFacts& present) {
  std::optional<sched::Amounts> out;
  for (const auto& [key, amount] : wish.guarantee) {
    const auto at = find_amount(layout, key);
    if (!at) return fail(at);
    if (!present.guarantee) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' states no guarantee, nor do those beside it; all or none must",
                              wish.quota));
    }
    if (!out) out = *present.guarantee;
    out->at(at->first) = amount.value_or(0) * at->second;
  }
  return out;
}

Result<std::optional<sched::Bounds>> bounds_of(const AmountWishes& wishes, const Layout& layout,
                                               const sched::Bounds& present) {
  std::optional<sched::Bounds> out;
  for (const auto& [key, amount] : wishes) {
    const auto at = find_amount(layout, key);
    if (!at) return fail(at);
    if (!out) {
      out = present;
      out->resize(layout.setup().flavors.size() + 1);
    }
    out->at(at->first) = amount ? std::optional(*amount * at->second) : std::nullopt;
  }
  return out;
}

Result<sched::Edit> quota_edit(const QuotaWish& wish, const Layout& layout) {
  const auto quota = find_quota(layout, wish.quota);
  if (!quota) return fail(quota);
  const sched::QuotaFacts& present = layout.setup().tree.at(quota->value);
  auto guarantee = guarantee_of(wish, layout, present);
  if (!guarantee) return fail(guarantee);
  auto limit = bounds_of(wish.limit, layout, present.limit);
  if (!limit) return fail(limit);
  auto borrow = bounds_of(wish.borrow, layout, present.borrow);
  if (!borrow) return fail(borrow);
  auto lend = bounds_of(wish.lend, layout, present.lend);
  if (!lend) return fail(lend);
  return sched::QuotaEdit{*quota,
                          {.guarantee = std::move(*guarantee),
                           .limit = std::move(*limit),
                           .borrow = std::move(*borrow),
                           .lend = std::move(*lend),
                           .weight = wish.weight}};
}

Result<sched::Edit> priority_edit(const PriorityWish& wish, const Snapshot& jobs) {
  if (std::abs(wish.priority) > kMostOwnPriority) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("priority: {} is not in -{}..{}", wish.priority, kMostOwnPriority,
                            kMostOwnPriority));
  }
  const auto job = jobs.find(wish.job);
  if (!job) {
    return fail(ErrorCode::kNotFound,
                fmt::format("job {} does not exist or has ended", wish.job.value));
  }
  return sched::PriorityEdit{wish.job, job->spec->class_priority + wish.priority};
}

Result<sched::Edit> node_edit(const NodeWish& wish, const Snapshot& jobs) {
  constexpr auto kNameOf = [](const Node& node) -> const std::string& { return node.config.name; };
  const auto node = std::ranges::find(jobs.nodes, wish.node, kNameOf);
  if (node == jobs.nodes.end()) {
    std::vector<std::string_view> names;
    names.reserve(jobs.nodes.size());
    for (const Node& known : jobs.nodes) names.emplace_back(known.config.name);
    return fail(ErrorCode::kNotFound,
                fmt::format("there is no node '{}'{}", wish.node, did_you_mean(wish.node, names)));
  }
  using Fate = sched::NodeEdit::Fate;
  switch (wish.fate) {
    case NodeWish::Fate::kDrained:
      return sched::NodeEdit{node->id, Fate::kDrained};
    case NodeWish::Fate::kLost:
      return sched::NodeEdit{node->id, Fate::kLost};
    case NodeWish::Fate::kReturned:
      break;
  }
  return sched::NodeEdit{node->id, Fate::kReturned};
}

}  // namespace

Result<sched::Edit> edit_of(const Wish& wish, const Layout& layout, const Snapshot& jobs,
                            const sched::JobFacts* candidate) {
  using Edited = Result<sched::Edit>;
  return std::visit(
      Overload{[&](const QuotaWish& of) { return quota_edit(of, layout); },
               [&](const PriorityWish& of) { return priority_edit(of, jobs); },
               [&](const NodeWish& of) { return node_edit(of, jobs); },
               [&](const SubmitWish&) -> Edited {
                 if (candidate != nullptr) return sched::SubmitEdit{*candidate};
                 return fail(ErrorCode::kInvalidArgument, "no job was given");
               },
               [&](const CancelWish& of) -> Edited { return sched::CancelEdit{of.job}; },
               [&](const HoldWish& of) -> Edited { return sched::HoldEdit{of.job, of.held}; }},
      wish);
}

}  // namespace artel::ctld
