#include "ctld/core/controller.h"

#include <utility>

#include "ctld/core/state.h"

namespace artel::ctld {

Controller::Controller(ControllerConfig config, StoredState stored,
                       std::function<std::string()> step_keys, Time now)
    : state_(std::make_unique<ControllerState>(std::move(config), std::move(stored),
                                               std::move(step_keys), now)) {}
Controller::~Controller() = default;

Time Controller::begin() const { return state_->begin(); }

void Controller::submit(RequestId request, const Caller& caller, std::vector<JobSpec> specs,
                        Time now) {
  state_->submit(request, caller, std::move(specs), now);
}
void Controller::cancel(RequestId request, const Caller& caller, const std::vector<JobTarget>& jobs,
                        const std::string& reason, Time now) {
  state_->cancel(request, caller, jobs, reason, now);
}
void Controller::hold(RequestId request, const Caller& caller, const std::vector<JobTarget>& jobs,
                      const std::string& reason, Time now) {
  state_->hold_jobs(request, caller, jobs, reason, now);
}
void Controller::release(RequestId request, const Caller& caller,
                         const std::vector<JobTarget>& jobs, Time now) {
  state_->release_jobs(request, caller, jobs, now);
}
void Controller::requeue(RequestId request, const Caller& caller,
                         const std::vector<JobTarget>& jobs, const std::string& reason, Time now) {
  state_->requeue_jobs(request, caller, jobs, reason, now);
}
void Controller::update(RequestId request, const Caller& caller, const std::vector<JobTarget>& jobs,
                        const JobChange& change, Time now) {
  state_->update_jobs(request, caller, jobs, change, now);
}
void Controller::drain(RequestId request, const Caller& caller,
                       const std::vector<std::string>& nodes, const DrainOrder& order, Time now) {
  state_->drain_nodes(request, caller, nodes, order, now);
}
void Controller::resume(RequestId request, const Caller& caller,
                        const std::vector<std::string>& nodes, Time now) {
  state_->resume_nodes(request, caller, nodes, now);
}
Result<std::size_t> Controller::change_teams(TeamsConfig teams, Time now) {
  return state_->change_teams(std::move(teams), now);
}
void Controller::scheduling_snapshot(RequestId request, const Caller& caller,
                                     std::optional<JobSpec> candidate, Time now) {
  state_->scheduling_snapshot(request, caller, std::move(candidate), now);
}
Result<> Controller::agent_connected(SessionId session, const AgentHello& hello, Time now) {
  return state_->agent_connected(session, hello, now);
}
void Controller::agent_message(SessionId session, const FromAgent& message, Time now) {
  state_->agent_message(session, message, now);
}
void Controller::pause_starts(bool paused) { state_->pause_starts(paused); }
void Controller::agent_lost(SessionId session, Time now, Duration silent_for) {
  state_->agent_lost(session, now, silent_for);
}
void Controller::tick(Time now, const sched::MayGoOn& may_go_on) { state_->tick(now, may_go_on); }
bool Controller::in_pass() const { return state_->in_pass(); }
std::optional<Time> Controller::next_tick() const { return state_->next_tick(); }
Effects Controller::take_effects() { return state_->take_effects(); }
std::shared_ptr<const Snapshot> Controller::snapshot(Time now) { return state_->snapshot(now); }
std::optional<NodeId> Controller::find_node(std::string_view name) const {
  return state_->find_node(name);
}
std::optional<std::string> Controller::check() const { return state_->check(); }

}  // namespace artel::ctld
