#include "sim/trace/artel_policy.h"

#include <functional>
#include <queue>
#include <utility>
#include <variant>

#include "sched/scheduler.h"
#include "sim/trace/artel_setup.h"
#include "sim/trace/lines.h"

namespace artel::trace {
namespace {

Time time_of(Seconds seconds) { return Time{std::chrono::seconds{seconds}}; }
JobId id_of(TaskIndex task) { return JobId(task + 1); }
TaskIndex task_of(JobId job) { return static_cast<TaskIndex>(job.value - 1); }

/// What is free on each node, for the figure of fragmentation.
class Ground {
 public:
  explicit Ground(const std::vector<sched::NodeFacts>& nodes) {
    for (const sched::NodeFacts& node : nodes) {
      const Milli all = node.gpus > 0 ? node.gpus : node.cores * kMilli;
      nodes_.push_back({all, all, node.gpus > 0});
    }
  }
  void take(const sched::Share& share) { change(share, -1); }
  void give(const sched::Share& share) { change(share, 1); }
  [[nodiscard]] Milli stranded() const { return stranded_; }

 private:
  struct Node {
    Milli all{};
    Milli free{};
    bool in_gpus{};
    [[nodiscard]] Milli piece() const { return free < all ? free : 0; }
  };
  void change(const sched::Share& share, Milli sign) {
    Node& node = nodes_[share.node.value];
    stranded_ -= node.piece();
    node.free += sign * (node.in_gpus ? share.gpus : share.cores * kMilli);
    stranded_ += node.piece();
  }

  std::vector<Node> nodes_;
  Milli stranded_{};
};

class Artel : public Policy {
 public:
  Artel(const Problem& problem, Site site, ArtelSetup setup)
      : problem_(problem),
        site_(std::move(site)),
        setup_(std::move(setup)),
        scheduler_(setup_.setup, Time{}),
        ground_(setup_.setup.nodes),
        runs_(problem.tasks.size()) {}

  bool submit(Seconds now, TaskIndex task) override {
    const Job& job = problem_.workload->jobs[problem_.tasks[task].job];
    sched::JobFacts facts;
    facts.id = id_of(task);
    facts.queue = setup_.queues.at(job.team);
    facts.user = sched::UserId(job.user);
    facts.request = request_of(problem_, site_, setup_, task);
    facts.grace = std::chrono::seconds{site_.grace};
    const auto priority = whole_number(problem_.workload->names[job.priority]);
    constexpr std::int64_t kMost = 1'000'000'000;
    if (priority && *priority >= -kMost && *priority <= kMost)
      facts.priority = static_cast<std::int32_t>(*priority);
    return scheduler_.submit(time_of(now), facts).has_value();
  }

  void end(Seconds now, TaskIndex task) override {
    leave(task);
    scheduler_.end(time_of(now), id_of(task), sched::Ended::kCompleted);
  }
  void requeue(Seconds now, TaskIndex task) override {
    leave(task);
    scheduler_.requeue(time_of(now), id_of(task));
  }

  Decisions pass(Seconds now) override {
    tell_checkpoints(now);
    Decisions decisions;
    for (const sched::Decision& decision : scheduler_.pass(time_of(now))) {
      decisions.again = true;
      if (const auto* started = std::get_if<sched::Started>(&decision)) {
        const TaskIndex task = task_of(started->job);
        start(now, task, started->shares);
        decisions.steps.push_back({task});
      } else {
        decisions.steps.push_back({task_of(std::get<sched::Signalled>(decision).job), true});
      }
    }
    return decisions;
  }

  std::optional<Seconds> next_wake(Seconds now) override {
    const auto wake = scheduler_.next_wake(time_of(now));
    if (!wake) return std::nullopt;
    return std::chrono::ceil<std::chrono::seconds>(wake->time_since_epoch()).count();
  }
  [[nodiscard]] Seconds grace(TaskIndex /*task*/) const override { return site_.grace; }
  [[nodiscard]] std::optional<Milli> stranded() const override { return ground_.stranded(); }

 private:
  struct Run {
    std::vector<sched::Share> shares;
    std::uint64_t sequence{};  // 0: not running
  };
  struct Checkpoint {
    Seconds at{};
    TaskIndex task{};
    std::uint64_t sequence{};
    bool operator>(const Checkpoint& other) const {
      return std::pair(at, task) > std::pair(other.at, other.task);
    }
  };

  void start(Seconds now, TaskIndex task, const std::vector<sched::Share>& shares) {
    runs_[task] = {shares, ++sequence_};
    for (const sched::Share& share : shares) ground_.take(share);
    if (site_.checkpoint_every) checkpoints_.push({now + *site_.checkpoint_every, task, sequence_});
  }

  void leave(TaskIndex task) {
    for (const sched::Share& share : runs_[task].shares) ground_.give(share);
    runs_[task] = {};
  }

  void tell_checkpoints(Seconds now) {
    while (!checkpoints_.empty() && checkpoints_.top().at <= now) {
      Checkpoint due = checkpoints_.top();
      checkpoints_.pop();
      if (runs_[due.task].sequence != due.sequence) continue;
      // Those in between say no more than the last one.
      due.at += (now - due.at) / *site_.checkpoint_every * *site_.checkpoint_every;
      scheduler_.checkpoint(time_of(now), id_of(due.task), time_of(due.at));
      due.at += *site_.checkpoint_every;
      checkpoints_.push(due);
    }
  }

  const Problem& problem_;
  Site site_;
  ArtelSetup setup_;
  sched::Scheduler scheduler_;
  Ground ground_;
  std::vector<Run> runs_;
  std::priority_queue<Checkpoint, std::vector<Checkpoint>, std::greater<>> checkpoints_;
  std::uint64_t sequence_{};
};

}  // namespace

Result<std::unique_ptr<Policy>> make_artel(const Problem& problem, const Site& site) {
  auto setup = make_setup(problem, site);
  if (!setup) return fail(setup);
  return std::make_unique<Artel>(problem, site, std::move(*setup));
}

}  // namespace artel::trace
