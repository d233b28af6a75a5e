// The loop itself: a policy that evicts, one that cheats, one that sleeps.
#include <catch2/catch.hpp>
#include <deque>
#include <functional>

#include "unit/sim_trace/builders.h"

namespace artel::trace {
namespace {

/// Does at each pass what the test says.
class Scripted : public Policy {
 public:
  std::function<Decisions(Seconds)> on_pass;
  std::function<bool(TaskIndex)> on_submit = [](TaskIndex) { return true; };
  std::optional<Seconds> wake;
  Seconds grace_s = 0;
  std::vector<std::string> told;

  bool submit(Seconds now, TaskIndex task) override {
    note("submit", now, task);
    return on_submit(task);
  }
  void end(Seconds now, TaskIndex task) override { note("end", now, task); }
  void requeue(Seconds now, TaskIndex task) override { note("requeue", now, task); }
  Decisions pass(Seconds now) override { return on_pass(now); }
  std::optional<Seconds> next_wake(Seconds now) override {
    return wake && *wake > now ? wake : std::nullopt;
  }
  [[nodiscard]] Seconds grace(TaskIndex /*task*/) const override { return grace_s; }

 private:
  void note(const char* what, Seconds now, TaskIndex task) {
    told.push_back(std::string(what) + " " + std::to_string(task) + " at " + std::to_string(now));
  }
};

Decisions starting(TaskIndex task) { return {{{task}}, false}; }
Decisions evicting(TaskIndex task, bool again) { return {{{task, true}}, again}; }

TEST_CASE("an evicted job leaves after its grace, waits again and begins anew") {
  const Workload workload = workload_of({{0, 1, 100, 100}, {40, 1, 10, 10}});
  const Problem problem = problem_of(workload, 1);
  Scripted policy;
  policy.grace_s = 5;
  policy.on_pass = [](Seconds now) -> Decisions {
    if (now == 0) return starting(0);
    if (now == 40) return evicting(0, false);
    if (now == 45) return starting(1);
    if (now == 55) return starting(0);
    return {};
  };
  const Outcome outcome = replay_with(problem, policy);
  CHECK(policy.told == std::vector<std::string>{"submit 0 at 0", "submit 1 at 40",
                                                "requeue 0 at 45", "end 1 at 55", "end 0 at 155"});
  CHECK(outcome.tasks[0].start == 0);
  CHECK(outcome.tasks[0].evictions == 1);
  CHECK(outcome.stays[0].lost == 45);
}

TEST_CASE("an evicted job goes on from what it had saved") {
  const Workload workload = workload_of({{0, 1, 100, 100}, {40, 1, 10, 10}});
  const Problem problem = problem_of(workload, 1);
  Scripted policy;
  policy.on_pass = [](Seconds now) -> Decisions {
    if (now == 0) return starting(0);
    if (now == 40) return evicting(0, true);
    if (now == 50) return starting(0);
    return {};
  };
  bool started = false;
  const auto inner = policy.on_pass;
  policy.on_pass = [&](Seconds now) -> Decisions {
    if (now != 40) return inner(now);
    if (policy.told.back() != "requeue 0 at 40") return evicting(0, true);
    if (started) return {};
    started = true;
    return starting(1);
  };
  const Outcome outcome = replay_with(problem, policy, {.checkpoint_every = 15});
  CHECK(outcome.stays[0].lost == 10);  // saved at 30
  CHECK(outcome.tasks[1].start == 40);
  CHECK(outcome.tasks[0].end == 50 + 70);
}

TEST_CASE("a job that ends inside its grace has lost nothing") {
  const Workload workload = workload_of({{0, 1, 100, 100}, {98, 1, 1, 1}});
  const Problem problem = problem_of(workload, 1);
  Scripted policy;
  policy.grace_s = 5;
  policy.on_pass = [](Seconds now) -> Decisions {
    if (now == 0) return starting(0);
    if (now == 98) return evicting(0, false);
    if (now == 100) return starting(1);
    return {};
  };
  const Outcome outcome = replay_with(problem, policy);
  CHECK(outcome.tasks[0].end == 100);
  CHECK(outcome.stays[0].lost == 0);
}

TEST_CASE("a policy may ask to be woken") {
  const Workload workload = workload_of({{0, 1, 10, 10}});
  const Problem problem = problem_of(workload, 1);
  Scripted policy;
  policy.wake = 7;
  policy.on_pass = [](Seconds now) { return now == 7 ? starting(0) : Decisions{}; };
  CHECK(starts_of(replay_with(problem, policy)) == std::vector<Seconds>{7});
}

TEST_CASE("a policy cannot start what has no room") {
  const Workload workload = workload_of({{0, 1, 10, 10}, {0, 1, 10, 10}});
  const Problem problem = problem_of(workload, 1);
  Scripted policy;
  policy.on_pass = [](Seconds) { return Decisions{{{0}, {1}}, false}; };
  const auto outcome = replay(problem, policy, {});
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().text == "the policy starts job j2, which has no room");
}

TEST_CASE("a policy cannot start a job twice") {
  const Workload workload = workload_of({{0, 1, 10, 10}});
  const Problem problem = problem_of(workload, 4);
  Scripted policy;
  policy.on_pass = [](Seconds) { return Decisions{{{0}, {0}}, false}; };
  CHECK_FALSE(replay(problem, policy, {}));
}

TEST_CASE("jobs that a policy never starts are an error that names one") {
  const Workload workload = workload_of({{0, 1, 10, 10}});
  const Problem problem = problem_of(workload, 1);
  Scripted policy;
  policy.on_pass = [](Seconds) { return Decisions{}; };
  const auto outcome = replay(problem, policy, {});
  REQUIRE_FALSE(outcome);
  CHECK_THAT(outcome.error().text, Catch::Contains("1 jobs waiting for ever, the first is j1"));
}

TEST_CASE("a refused job counts nowhere but as refused") {
  const Workload workload = workload_of({{0, 1, 10, 10}, {0, 1, 10, 10}});
  const Problem problem = problem_of(workload, 1);
  Scripted policy;
  policy.on_submit = [](TaskIndex task) { return task == 0; };
  policy.on_pass = [](Seconds now) { return now == 0 ? starting(0) : Decisions{}; };
  const Metrics metrics = measure(problem, replay_with(problem, policy), {});
  CHECK(metrics.summary.jobs == 1);
  CHECK(metrics.summary.refused == 1);
  CHECK(metrics.summary.idle_while_waiting == 0);
}

TEST_CASE("progress is told to the end, passes are timed by the caller's clock") {
  const Workload workload = workload_of({{0, 1, 10, 10}});
  const Problem problem = problem_of(workload, 1);
  const auto policy = make_policy("fcfs", problem);
  std::size_t over = 0;
  std::int64_t time = 0;
  ReplayOptions options;
  options.progress = [&over](std::size_t count) { over = count; };
  options.clock_ns = [&time] { return time += 7; };
  const Outcome outcome = replay_with(problem, **policy, options);
  CHECK(over == 1);
  CHECK(outcome.pass_ns == std::vector<std::int64_t>{7, 7});
}

}  // namespace
}  // namespace artel::trace
