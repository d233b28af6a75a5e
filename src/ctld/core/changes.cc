// Changes of jobs that were acknowledged: what may be changed, and what the core is told of it.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/text.h"
#include "ctld/core/state.h"

namespace artel::ctld {
namespace {

/// "name, time limit": for the log of events.
std::string describe(const JobChange& change) {
  std::string out;
  const auto add = [&out](std::string_view what) {
    out += fmt::format("{}{}", out.empty() ? "" : ", ", what);
  };
  if (change.name) add("name " + *change.name);
  if (change.priority) add(fmt::format("priority {}", *change.priority));
  if (change.time_limit) add("time limit " + format_duration(*change.time_limit));
  if (change.nodes) add(fmt::format("{} nodes", *change.nodes));
  if (change.nodes_wanted) add(fmt::format("{} nodes named", change.nodes_wanted->size()));
  if (change.nodes_avoided) add(fmt::format("{} nodes avoided", change.nodes_avoided->size()));
  return out;
}

}  // namespace

void ControllerState::update_jobs(RequestId request, const Caller& caller,
                                  const std::vector<JobTarget>& jobs, const JobChange& change,
                                  Time now) {
  const auto refuse = [](JobId id) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("job {} is an array, or a task of one, which cannot be changed; cancel "
                            "what waits of it and submit that anew",
                            id.value));
  };
  order_jobs(
      request, caller, jobs,
      [&](JobId id) -> Result<> {
        const auto known = jobs_.find(id);
        if (known != jobs_.end() && known->second.job.task) return refuse(id);
        return update_one(caller, id, change, now);
      },
      [&](LiveArray& array, const IndexSet*) -> Result<> { return refuse(array.job.id); });
}

Result<> ControllerState::update_one(const Caller& caller, JobId id, const JobChange& change,
                                     Time now) {
  const auto found = find_own(caller, id);
  if (!found) return fail(found);
  LiveJob& live = **found;
  if (is_placed(live.job.state) && (change.priority || change.is_of_request())) {
    return fail(ErrorCode::kWrongState,
                fmt::format("job {} is {}; of a job that has its nodes only the name can be "
                            "changed; 'artel requeue {}' lets it wait again",
                            id.value, job_state_name(live.job.state), id.value));
  }
  auto spec = admit_change(caller, live, change);
  if (!spec) return fail(spec);
  if (*spec == *live.job.spec) return {};  // a repeated call finds what it has done
  live.job.spec = std::make_shared<const JobSpec>(std::move(*spec));
  new_specs_.insert(id);
  touch(live);
  event(now, "update", id, caller.owner.user, describe(change));
  if (change.is_of_request()) {
    core_->replace(now, remembered(live, now));
    // Its claim is for what it asked before; a start must not find it.
    if (claims_.erase(id) > 0) effects_.writes.emplace_back(ClaimRow{{id, 0, {}}});
    live.wait = {};
    if (live.job.state == JobState::kPending)
      live.job.wait = {.code = WaitCode::kNotConsidered,
                       .nodes_wanted = live.job.spec->component().nodes};
  } else if (change.priority) {
    core_->set_priority(now, id, live.job.spec->class_priority + live.job.spec->priority);
  }
  pass_due_ = true;
  return {};
}

}  // namespace artel::ctld
