#include "sched/vacancy.h"

#include <algorithm>
#include <map>

namespace artel::sched {

Vacancy::Vacancy(const State& state, const Job& job, const Variant& variant, const Rooms& rooms)
    : state_(state),
      job_(job),
      variant_(variant),
      rooms_(rooms),
      parts_(parts_of(*job.request, variant.size)),
      is_usable_(state.nodes.size()) {
  number_units();
  for (const Part& part : parts_) {
    needed_ += part.nodes;
    const RankSet& now = state.openings.of(state, job, variant.flavor, part).now;
    now.for_each([&](std::uint32_t rank) { look_at(state.by_name[rank]); });
  }
  for (const JobId id : state.signalled) look_again(state.jobs.at(id));
}

/// Where whole segments are counted: in a leaf, or of a leaf that several blocks share in the part
/// of one block.
void Vacancy::number_units() {
  const Request& request = *job_.request;
  std::size_t units = std::max({state_.leaves.size(), state_.blocks.size(), std::size_t{1}});
  usable_.of_domain.assign(units, 0);
  if (request.segment > 1 && request.locality == Locality::kBlock) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers;
    for (const Node& node : state_.nodes) {
      const auto next = static_cast<std::uint32_t>(numbers.size());
      unit_of_.push_back(numbers.try_emplace({node.block, node.leaf}, next).first->second);
    }
    units = numbers.size();
  }
  usable_.of_unit.assign(units, 0);
}

std::uint32_t Vacancy::unit_of(NodeIndex node) const {
  if (job_.request->segment == 1) return domain_of(node);
  return unit_of_.empty() ? state_.nodes[node].leaf : unit_of_[node];
}

std::uint32_t Vacancy::domain_of(NodeIndex node) const {
  switch (job_.request->locality) {
    case Locality::kLeaf:
      return state_.nodes[node].leaf;
    case Locality::kBlock:
      return state_.nodes[node].block;
    case Locality::kAny:
      break;
  }
  return 0;
}

bool Vacancy::fits(NodeIndex node) const {
  if (state_.nodes[node].flavor != variant_.flavor || !admits(job_, node)) return false;
  const Room room = rooms_.at(node);
  return std::ranges::any_of(parts_, [&](const Part& part) {
    return is_candidate(state_, job_, variant_.flavor, part, node, room);
  });
}

void Vacancy::count(Counts& counts, NodeIndex node, bool more) const {
  const std::uint32_t segment = job_.request->segment;
  std::uint32_t& unit = counts.of_unit[unit_of(node)];
  std::uint32_t& domain = counts.of_domain[domain_of(node)];
  domain -= unit / segment * segment;
  unit += more ? 1U : -1U;
  domain += unit / segment * segment;
}

void Vacancy::look_at(NodeIndex node) {
  const bool fits_now = fits(node);
  if (fits_now == is_usable(node)) return;
  is_usable_.set(state_.nodes[node].rank, fits_now);
  count(usable_, node, fits_now);
}

void Vacancy::look_again(const Job& changed) {
  for (const Share& share : changed.shares) look_at(share.node.value);
}

std::vector<bool> Vacancy::suffices_without(std::span<Job* const> leaving) const {
  Counts then = usable_;
  std::vector<bool> seen(state_.nodes.size(), false);
  std::vector<Job*> marked;
  for (Job* job : leaving) {
    if (job->assumed_gone) continue;
    job->assumed_gone = true;  // rooms look at nothing else; the books need not change
    marked.push_back(job);
  }
  for (const Job* job : marked) {
    for (const Share& share : job->shares) {
      const NodeIndex node = share.node.value;
      if (is_usable(node) || seen[node]) continue;
      seen[node] = true;
      if (fits(node)) count(then, node, true);
    }
  }
  for (Job* job : marked) job->assumed_gone = false;
  std::vector<bool> suffices(then.of_domain.size());
  for (std::size_t d = 0; d < suffices.size(); ++d) suffices[d] = then.of_domain[d] >= needed_;
  return suffices;
}

}  // namespace artel::sched
