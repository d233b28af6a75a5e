// The adapter: ids on one side, names on the other.
#include "sim/scenario/core_engine.h"

#include <algorithm>
#include <map>
#include <set>

#include "sched/scheduler.h"
#include "sim/scenario/core_facts.h"
#include "sim/scenario/core_lives.h"

namespace artel::scenario {

namespace {

constexpr auto kMilli = static_cast<std::int64_t>(GpuMilli::kPerDevice);
constexpr std::int64_t kMegabyte = 1'000'000;
constexpr std::int64_t kMostDevices = 64;

class CoreEngine : public Engine {
 public:
  explicit CoreEngine(const Case& scenario)
      : names_(scenario), scheduler_(setup_of(names_), time_of(0)) {}

  std::optional<std::string> submit(Minute now, const Job& job) override {
    const JobId id = lives_.enter(job);
    sched::JobFacts facts = facts_of(names_, job, id);
    facts.after = lives_.dependencies_of(job);
    if (!job.array_id.empty()) facts.array = lives_.array(job.array_id);
    if (job.throttle) throttle(now, job.array_id, *job.throttle);
    const auto refusal = refusal_of(now, job, facts);
    if (refusal) lives_.ended(id, false);
    return refusal;
  }

  void end(Minute now, const std::string& job, Ending how) override {
    const JobId id = lives_.id_of(job);
    depends_.erase(job);
    lives_.ended(id, how == Ending::kCompleted);
    if (how == Ending::kCompleted || how == Ending::kOtherwise) {
      scheduler_.end(
          time_of(now), id,
          how == Ending::kCompleted ? sched::Ended::kCompleted : sched::Ended::kOtherwise);
    } else {
      lives_.player_gave_up(job, how);
    }
  }

  void waits(Minute now, const std::string& job, Waits waits) override {
    const JobId id = lives_.id_of(job);
    if (!scheduler_.stage(id)) return;  // given up
    scheduler_.set_held(time_of(now), id, waits.held);
    if (waits.depends) {
      depends_.insert(job);
    } else {
      depends_.erase(job);
    }
  }

  void throttle(Minute now, const std::string& array, std::int64_t limit) override {
    scheduler_.set_array(
        time_of(now),
        {.id = lives_.array(array), .throttle = static_cast<std::uint32_t>(limit), .was = {}});
  }

  void requeue(Minute now, const std::string& job, Requeue why) override {
    const JobId id = lives_.id_of(job);
    if (why == Requeue::kNodeFailed) {
      for (const NodeId node : held_[id]) {
        if (down_.contains(node)) scheduler_.mark(time_of(now), id, node);
      }
    }
    scheduler_.requeue(time_of(now), id);
  }

  void features(Minute now, const std::string& node,
                const std::vector<std::string>& features) override {
    scheduler_.set_features(time_of(now), names_.node(node), features);
  }

  void refuse(Minute now, const std::string& job, const std::string& node) override {
    scheduler_.mark(time_of(now), lives_.id_of(job), names_.node(node));
  }

  std::optional<Start> swap(Minute now, const std::string& job, const std::string& lost) override {
    const JobId id = lives_.id_of(job);
    const auto shares = scheduler_.swap(time_of(now), id, {names_.node(lost)});
    if (!shares) return std::nullopt;
    note_nodes(id, *shares);
    return Start{job, shares_of(*shares)};
  }

  void checkpoint(Minute now, const std::string& job, Minute at) override {
    scheduler_.checkpoint(time_of(now), lives_.id_of(job), time_of(at));
  }

  void node(Minute now, const std::string& name, bool healthy) override {
    if (healthy) {
      down_.erase(names_.node(name));
    } else {
      down_.insert(names_.node(name));
    }
    scheduler_.set_health(time_of(now), names_.node(name), healthy);
  }

  void set_quota(Minute now, const SetQuota& change) override {
    scheduler_.change(time_of(now), names_.quota(change.quota), change_of(names_, change));
  }

  std::optional<std::string> reserve(Minute now, const Reservation& reservation) override {
    const auto made = scheduler_.reserve(time_of(now), facts_of(names_, reservation));
    if (!made) return "Conflict";
    Live& live = reservations_[reservation.name];
    live.id = *made;
    if (!reservation.spare) live.end = reservation.end;
    return std::nullopt;
  }

  void end_reservations(Minute now) override {
    scheduler_.end_reservations(time_of(now));
    std::erase_if(reservations_, [&](const auto& entry) {
      return entry.second.end.has_value() && *entry.second.end <= now;
    });
  }

  std::vector<Decision> begin_reservations(Minute now) override {
    return told(scheduler_.begin_reservations(time_of(now)));
  }

  std::vector<Decision> pass(Minute now) override {
    std::vector<Decision> decisions = told(scheduler_.pass(time_of(now)));
    for (GiveUp& one : lives_.disagreements()) decisions.emplace_back(std::move(one));
    return decisions;
  }

  void end_waits(Minute now) override { told(scheduler_.end_waits(time_of(now))); }

  std::optional<Minute> next_wake(Minute now) override {
    const auto next = scheduler_.next_wake(time_of(now));
    if (!next) return std::nullopt;
    // Nothing of a case lies between minutes, so what begins there shows in the next.
    return minute_of(*next + (std::chrono::minutes{1} - Duration{1}));
  }

  Beliefs beliefs(Minute) override {
    Beliefs beliefs;
    for (std::size_t i = 1; i <= lives_.size(); ++i) tell_wait(JobId{i}, beliefs);
    for (const JobId job : scheduler_.borrowed()) {
      beliefs.borrowed.push_back(lives_.name_of(job));
    }
    std::ranges::sort(beliefs.borrowed);
    for (std::size_t i = 1; i < names_.scenario().tree.size(); ++i) tell_quota(i, beliefs);
    for (const auto& [name, user] : names_.users()) {
      beliefs.user_usage[name] = scheduler_.user_usage(user);
    }
    for (const auto& [name, live] : reservations_) {
      std::vector<std::string>& nodes = beliefs.reservations[name];
      for (const NodeId node : scheduler_.reservation_nodes(live.id)) {
        nodes.push_back(node_name(node));
      }
      std::ranges::sort(nodes);
    }
    return beliefs;
  }

 private:
  struct Live {
    sched::ReservationId id;
    std::optional<Minute> end;  // spares have none
  };

  std::optional<sched::ReservationId> live_reservation(const std::string& name) const {
    const auto entry = reservations_.find(name);
    if (entry == reservations_.end()) return std::nullopt;
    return entry->second.id;
  }

  std::optional<std::string> refusal_of(Minute now, const Job& job, sched::JobFacts& facts) {
    if (!job.reservation.empty()) {
      const auto live = live_reservation(job.reservation);
      if (!live) return "AccessDenied";
      facts.reservation = *live;
    }
    const auto accepted = scheduler_.submit(time_of(now), facts);
    if (accepted) return std::nullopt;
    return accepted.error().code == ErrorCode::kPermissionDenied ? "AccessDenied" : "NeverFits";
  }

  const Node& node_of(NodeId node) const { return names_.scenario().nodes[node.value]; }
  const std::string& node_name(NodeId node) const { return node_of(node).name; }

  void note_nodes(JobId job, const std::vector<sched::Share>& shares) {
    std::vector<NodeId>& nodes = held_[job];
    nodes.clear();
    for (const sched::Share& share : shares) nodes.push_back(share.node);
  }

  std::vector<Decision> told(const std::vector<sched::Decision>& decisions) {
    std::vector<Decision> told;
    for (const sched::Decision& decision : decisions) {
      if (const auto* signalled = std::get_if<sched::Signalled>(&decision)) {
        told.emplace_back(Signal{lives_.name_of(signalled->job)});
        continue;
      }
      if (const auto* given_up = std::get_if<sched::GivenUp>(&decision)) {
        lives_.core_gave_up(*given_up);
        continue;
      }
      const auto& started = std::get<sched::Started>(decision);
      note_nodes(started.job, started.shares);
      lives_.started(started.job);
      told.emplace_back(Start{lives_.name_of(started.job), shares_of(started.shares)});
    }
    return told;
  }

  std::vector<Share> shares_of(const std::vector<sched::Share>& held) const {
    std::vector<Share> shares;
    for (const sched::Share& share : held) {
      Share told{.node = node_name(share.node),
                 .gpus = share.gpus / kMilli,
                 .cpus = share.cores,
                 .gpu_milli = share.gpus % kMilli,
                 .memory = share.memory / kMegabyte,
                 .devices = {}};
      for (std::int64_t device = 0; device < kMostDevices; ++device) {
        if ((share.devices >> device & 1U) != 0) told.devices.push_back(device);
      }
      shares.push_back(std::move(told));
    }
    return shares;
  }

  void tell_wait(JobId id, Beliefs& beliefs) const {
    const auto stage = scheduler_.stage(id);
    const std::string& name = lives_.name_of(id);
    // The player works out the dependencies by itself, too.
    if (stage && depends_.contains(name) == scheduler_.missing(id).empty()) {
      beliefs.reasons[name] = "dependencies seen otherwise";
      return;
    }
    if (stage != sched::Stage::kPending && stage != sched::Stage::kClaiming) return;
    const sched::Wait wait = scheduler_.wait(id);
    beliefs.reasons[name] = sched::reason_name(wait.reason);
    if (wait.planned_start) beliefs.planned[name] = minute_of(*wait.planned_start);
  }

  void tell_quota(std::size_t index, Beliefs& beliefs) const {
    const sched::QuotaId quota{static_cast<std::uint32_t>(index)};
    const std::string& path = names_.scenario().tree[index].path;
    beliefs.score[path] = scheduler_.score(quota);
    const std::vector<double> entitled = scheduler_.entitlement(quota);
    double& gpus = beliefs.entitlement[path];
    for (std::size_t i = 0; i + 1 < entitled.size(); ++i) gpus += entitled[i] / kMilli;
  }

  CoreNames names_;
  sched::Scheduler scheduler_;
  CoreLives lives_;
  std::set<std::string> depends_;              // as the player sees it
  std::map<JobId, std::vector<NodeId>> held_;  // by the last attempt
  std::set<NodeId> down_;
  std::map<std::string, Live> reservations_;
};

}  // namespace

std::unique_ptr<Engine> make_core_engine(const Case& scenario) {
  return std::make_unique<CoreEngine>(scenario);
}

}  // namespace artel::scenario
