// What nodes offer, and when.
//
// Running jobs are there until their limit, signalled ones until the end of their grace, claims
// from now on, plans from their start (B1). A request looks at an interval: the least that is free
// in it.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "sched/devices.h"

namespace artel::sched {

struct Room {
  bool open = false;
  bool empty = true;
  std::int64_t gpus{};
  std::int64_t cores{};
  std::int64_t memory{};
  std::int64_t whole{};  // of the GPUs: on devices that nobody has touched
  std::int64_t share{};  // the largest share of one device that the sharer may get
};

/// How planned starts count.
enum class PlansCount : std::uint8_t {
  kInTime,  // from their start to their end
  kAlways,  // as taken, whenever they are (V3)
};

/// Whether what is held and reserved counts.
enum class Emptied : std::uint8_t {
  kNo,
  kHealthyNodes,  // all of them empty (N5)
  kAllNodes,      // all healthy and empty (Q6)
};

/// Running jobs that leave before their limit, and when.
using Leaving = std::map<JobId, Time>;

struct Interval {
  Time from;
  std::optional<Time> end;  // nullopt: for ever
  PlansCount plans_count = PlansCount::kInTime;
  bool signalled_gone = false;
  std::optional<ReservationId> inside;  // only the nodes of this one
  Sharer sharer{};                      // who asks (U4)
  Emptied emptied = Emptied::kNo;
  const Leaving* leaving = nullptr;  // who counts as gone before its limit (B2)
};

/// From now on, if the job starts now.
[[nodiscard]] Interval interval_now(const State& state, const Job& job);

/// A plan on a node, with what it will hold there.
struct PlannedHere {
  const Planned* plan{};
  Share share;
};

/// Plans by node, so that a node without any costs nothing.
class PlanBook {
 public:
  explicit PlanBook(std::size_t nodes) : on_(nodes) {}
  void add(const Planned& plan);
  [[nodiscard]] std::span<const PlannedHere> on(NodeIndex node) const { return on_[node]; }
  [[nodiscard]] bool empty() const { return count_ == 0; }

 private:
  std::vector<std::vector<PlannedHere>> on_;
  std::size_t count_ = 0;
};

/// The plans that count: all, those that bind somebody, or none (nullptr: none).
using PlanFilter = std::vector<const Planned*>;

class Rooms {
 public:
  /// `plans` may be null; `only`: of those only these, ascending by address.
  Rooms(const State& state, const Interval& interval, const PlanBook* plans,
        const PlanFilter* only = nullptr)
      : state_(state), interval_(interval), plans_(plans), only_(only) {}

  [[nodiscard]] Room at(NodeIndex node) const;
  /// The same, whatever is reserved.
  [[nodiscard]] Room beside_work(NodeIndex node) const;
  /// U3: which devices so many thousandths get on a node that is open for shares; 0 elsewhere.
  /// There must be room.
  [[nodiscard]] std::uint64_t choose_devices(NodeIndex node, std::int64_t gpus) const;
  /// Quick and never false where the node could take so many GPUs.
  [[nodiscard]] bool may_have(const Node& node, std::int64_t gpus) const {
    return (is_as_it_is(interval_.from) ? node.free_gpus : node.gpus) >= gpus;
  }

 private:
  template <typename Visit>
  void for_each_on(NodeIndex node, Time time, Visit visit) const;
  template <typename Visit>
  void for_each_later_start(NodeIndex node, Visit visit) const;
  /// Who is there now counts, but for victims of the plan in the making.
  [[nodiscard]] bool is_as_it_is(Time time) const {
    return time <= state_.now && !interval_.signalled_gone && interval_.emptied == Emptied::kNo;
  }
  [[nodiscard]] Room at_time(NodeIndex node, Time time) const;
  [[nodiscard]] Devices devices_at(NodeIndex node, Time time) const;
  [[nodiscard]] Devices devices(NodeIndex node) const;
  [[nodiscard]] bool is_reserved(NodeIndex node) const;
  [[nodiscard]] bool is_planned(NodeIndex node) const {
    return plans_ != nullptr && !plans_->on(node).empty();
  }
  [[nodiscard]] bool counts(const Planned& plan) const;

  const State& state_;
  Interval interval_;
  const PlanBook* plans_;
  const PlanFilter* only_;
};

/// Until when a job holds what it holds; nullopt: for ever.
[[nodiscard]] std::optional<Time> end_of_hold(const State& state, const Job& job,
                                              const Leaving* leaving = nullptr);
/// When a claim will start, or who would claim these nodes: after the signalled jobs on its nodes
/// and those that hold its licences.
[[nodiscard]] Time expected_start(const State& state, const Job& claim,
                                  const std::vector<Share>& shares);
/// All its nodes and licences are free but for itself and claims made later.
[[nodiscard]] bool can_start(const State& state, const Job& claim);

}  // namespace artel::sched
