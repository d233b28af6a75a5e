#include "sched/admit.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/assert.h"
#include "sched/waiting.h"

namespace artel::sched {
namespace {

QuotaId team_of(const State& state, QuotaId queue) {
  const auto& path = state.path(queue);
  const auto team =
      std::ranges::find_if(path, [&](QuotaId quota) { return state.at(quota).is_team; });
  if (team != path.end()) return *team;
  return path.empty() ? kRoot : path.back();
}

/// Of shapes that no job has any more nothing is kept. Now and then, so that it costs next to
/// nothing each time.
void forget_shapes(State& state) {
  constexpr std::size_t kFewest = 1024;
  state.shapes_kept = 0;
  for (auto entry = state.requests.begin(); entry != state.requests.end();) {
    std::erase_if(entry->second, [](const auto& one) { return one.expired(); });
    state.shapes_kept += entry->second.size();
    entry = entry->second.empty() ? state.requests.erase(entry) : std::next(entry);
  }
  state.shapes_most = std::max(kFewest, 2 * state.shapes_kept);
}

constexpr Duration kLongest{std::chrono::hours{24} * 36525};  // a century

std::unexpected<Error> invalid(const std::string& text) {
  return fail(ErrorCode::kInvalidArgument, text);
}

constexpr std::uint64_t kMostNodes = 1'000'000;

Result<> check_parts(const Request& request) {
  if (request.parts.empty()) return invalid("components: the job has none; state at least one");
  std::uint64_t nodes = request.spares;
  for (const Part& part : request.parts) {
    if (part.nodes == 0) return invalid("nodes: 0 is no size; ask for at least one node");
    if (part.gpus < 0 || part.cores < 0 || part.memory < 0) {
      return invalid("gpus, cores, memory: an amount is negative; ask for 0 or more");
    }
    nodes += part.nodes;
  }
  if (nodes <= kMostNodes) return {};
  return invalid("nodes: " + std::to_string(nodes) + " are more than a cluster may have, " +
                 std::to_string(kMostNodes) + "; ask for fewer");
}

/// G3, P5.
Result<> check_sizes(const Request& request) {
  const std::uint32_t most = request.parts.front().nodes;
  if (request.segment == 0)
    return invalid("segment: 0 is no size; take it out or ask for 1 or more");
  const std::string segment = "segment of " + std::to_string(request.segment);
  if (request.parts.size() > 1) {
    if (request.segment == 1 && !request.min_nodes) return {};
    return invalid("segment, min_nodes: a job of several components has none; take them out");
  }
  if (most % request.segment != 0) {
    return invalid("nodes: " + std::to_string(most) + " is no multiple of the " + segment +
                   "; ask for whole segments");
  }
  if (!request.min_nodes) return {};
  if (*request.min_nodes == 0 || *request.min_nodes > most) {
    return invalid("min_nodes: " + std::to_string(*request.min_nodes) + " is not in 1.." +
                   std::to_string(most) + ", the number of nodes");
  }
  if (*request.min_nodes % request.segment == 0) return {};
  return invalid("min_nodes: " + std::to_string(*request.min_nodes) + " is no multiple of the " +
                 segment + "; ask for whole segments");
}

/// Ids that name nothing would be looked up.
Result<> check_names(const State& state, const JobFacts& facts) {
  const Request& request = facts.request;
  if (facts.queue.value >= state.quotas.size()) return invalid("queue: it is not known");
  if (request.flavors.empty()) return invalid("gpu type: none is accepted; name at least one");
  for (const FlavorId flavor : request.flavors) {
    if (flavor.value >= state.flavors) return invalid("gpu type: one of them is not known");
  }
  for (const auto& [licence, count] : request.licences) {
    if (licence.value >= state.licences.size()) return invalid("licences: one is not known");
    if (count < 0) return invalid("licences: a count is negative; ask for 0 or more");
  }
  for (const auto& nodes : {request.nodes_wanted, request.nodes_avoided}) {
    for (const NodeId node : nodes) {
      if (node.value >= state.nodes.size()) return invalid("nodes: one of the list is not known");
    }
  }
  return {};
}

Result<> check_times(const JobFacts& facts) {
  const auto is_too_long = [](std::optional<Duration> length) {
    return length && (*length < Duration::zero() || *length > kLongest);
  };
  const auto is_too_far = [](std::optional<Time> time) {
    return time && (*time < Time{} || *time > Time{} + 2 * kLongest);
  };
  if (facts.request.limit && *facts.request.limit <= Duration::zero()) {
    return invalid("wall time limit: it is not above 0; give the job some time, or no limit");
  }
  if (is_too_long(facts.request.limit) || is_too_long(facts.grace) || is_too_long(facts.max_wait)) {
    return invalid("wall time limit, grace, maximum wait: one is negative or over a century");
  }
  if (is_too_far(facts.begin) || is_too_far(facts.deadline)) {
    return invalid("begin, deadline: one is before 1970 or after 2170");
  }
  return {};
}

}  // namespace

Result<> check_facts(const State& state, const JobFacts& facts) {
  if (auto parts = check_parts(facts.request); !parts) return parts;
  if (auto sizes = check_sizes(facts.request); !sizes) return sizes;
  if (auto names = check_names(state, facts); !names) return names;
  return check_times(facts);
}

Result<> check_size(const State& state, const Request& request) {
  const std::uint32_t nodes = nodes_of(request, smallest_size(request));
  if (nodes <= state.nodes.size()) return {};
  return fail(ErrorCode::kNeverFits, "nodes: " + std::to_string(nodes) +
                                         " are asked for, the cluster has " +
                                         std::to_string(state.nodes.size()) + "; ask for fewer");
}

std::shared_ptr<const Shape> intern(State& state, const Request& request) {
  const std::size_t key = request.parts.size() * 1'000'003 +
                          std::size_t{request.parts.front().nodes} * 8191 +
                          static_cast<std::size_t>(request.parts.front().gpus) * 131 +
                          static_cast<std::size_t>(request.limit.value_or(Duration{}).count());
  auto& known = state.requests[key];
  std::erase_if(known, [](const auto& one) { return one.expired(); });
  for (const auto& one : known) {
    if (auto same = one.lock(); same && static_cast<const Request&>(*same) == request) return same;
  }
  auto made = std::make_shared<const Shape>(Shape{request, ++state.last_shape});
  known.push_back(made);
  if (++state.shapes_kept >= state.shapes_most) forget_shapes(state);
  return made;
}

Job& admit(State& state, Job job, const JobFacts& facts) {
  const auto [entry, is_new] = state.jobs.emplace(facts.id, std::move(job));
  ARTEL_ASSERT(is_new);
  state.unparked.push_back(facts.id);
  enter(state, entry->second, facts);
  return entry->second;
}

Job job_of(const State& state, const JobFacts& facts, std::shared_ptr<const Shape> shape) {
  const Time submitted = facts.submitted.value_or(state.now);
  const Time ready = std::max(submitted, facts.begin.value_or(submitted));
  return {.id = facts.id,
          .queue = facts.queue,
          .pool = pool_of(state, facts.queue),
          .team = team_of(state, facts.queue),
          .user = facts.user,
          .request = std::move(shape),
          .priority = facts.priority,
          .preemptible = facts.preemptible,
          .grace = facts.grace,
          .reservation = facts.reservation,
          .name = facts.name,
          .array = facts.array,
          .held = facts.held,
          .has_started = facts.has_started,
          .begin = facts.begin,
          .deadline = facts.deadline,
          .max_wait = facts.max_wait,
          .missing = {},
          .wait_end = {},
          .submitted = submitted,
          .ready = facts.ready.value_or(ready),
          .pending_since = facts.pending_since.value_or(state.now),
          .shares = {}};
}

}  // namespace artel::sched
