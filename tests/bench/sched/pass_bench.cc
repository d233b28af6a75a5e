// The pass, growth, preemption and memory rows of the table of goals.
//
//   build/release/bin/sched_bench [--benchmark_filter=...]
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>

#include "workload.h"

namespace {

using artel::JobId;
using artel::Time;
using artel::bench::Size;
using artel::bench::Workload;
using artel::sched::Scheduler;

const Time kBegin = artel::time_from_ms(1'000'000'000'000);

/// A full cluster and so many pending jobs that no pass has seen.
struct Loaded {
  explicit Loaded(std::int64_t pending, const Size& size = {})
      : workload(size), scheduler(workload.setup(), kBegin) {
    running = artel::bench::fill(scheduler, workload, size.nodes, kBegin);
    for (std::int64_t i = 0; i < pending; ++i) submit(kBegin + std::chrono::milliseconds{i});
  }
  void submit(Time now) { static_cast<void>(scheduler.submit(now, workload.next_job())); }

  Workload workload;
  Scheduler scheduler;
  std::vector<JobId> running;
};

Time after_submits(std::int64_t pending) {
  return kBegin + std::chrono::milliseconds{pending} + std::chrono::minutes{1};
}

/// Arguments: pending jobs, nodes and as many running jobs.
Loaded loaded(const benchmark::State& state) {
  return Loaded(state.range(0), {.nodes = static_cast<std::uint32_t>(state.range(1))});
}

/// The first pass over jobs that no pass has seen.
void full_pass(benchmark::State& state) {
  const Loaded before = loaded(state);
  std::size_t decisions = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Scheduler scheduler = before.scheduler;
    state.ResumeTiming();
    decisions = scheduler.pass(after_submits(state.range(0))).size();
  }
  state.counters["running"] = static_cast<double>(before.running.size());
  state.counters["decisions"] = static_cast<double>(decisions);
  state.SetComplexityN(state.range(0));
}
BENCHMARK(full_pass)
    ->Args({1'000, 1'000})
    ->Args({10'000, 1'000})
    ->ArgsProduct({{1'000, 10'000, 100'000}, {10'000}})
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

/// The same in parts of 5 ms, as the controller makes it: when the first start is known, and for
/// how long nobody else is heard.
void pass_in_parts(benchmark::State& state) {
  using Clock = std::chrono::steady_clock;
  using Milliseconds = std::chrono::duration<double, std::milli>;
  constexpr std::chrono::milliseconds kPart{5};
  const Loaded before = loaded(state);
  double first_start = 0;
  double longest_part = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Scheduler scheduler = before.scheduler;
    state.ResumeTiming();
    const auto begin = Clock::now();
    first_start = 0;
    do {
      const auto part = Clock::now();
      const auto made = scheduler.pass(after_submits(state.range(0)),
                                       [&] { return Clock::now() < part + kPart; });
      const auto now = Clock::now();
      longest_part = std::max(longest_part, Milliseconds(now - part).count());
      if (first_start == 0 && !made.empty()) first_start = Milliseconds(now - begin).count();
    } while (scheduler.in_pass());
  }
  state.counters["first_start_ms"] = first_start;
  state.counters["longest_part_ms"] = longest_part;
}
BENCHMARK(pass_in_parts)->Args({100'000, 10'000})->Unit(benchmark::kMillisecond);

/// A pass that decides nothing: all planned starts and reasons are made anew.
void pass_at_rest(benchmark::State& state) {
  Loaded at_rest = loaded(state);
  const Time now = after_submits(state.range(0));
  const std::size_t decisions = artel::bench::pass_until_rest(at_rest.scheduler, now);
  for (auto _ : state) benchmark::DoNotOptimize(at_rest.scheduler.pass(now));
  state.counters["decisions_before"] = static_cast<double>(decisions);
  state.SetComplexityN(state.range(0));
}
BENCHMARK(pass_at_rest)
    ->Args({1'000, 1'000})
    ->ArgsProduct({{1'000, 10'000, 100'000}, {10'000}})
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

void pass_after_end(benchmark::State& state) {
  const std::int64_t pending = state.range(0);
  Loaded loaded(pending);
  Time now = after_submits(pending);
  artel::bench::pass_until_rest(loaded.scheduler, now);
  std::size_t next = 0;
  for (auto _ : state) {
    now += std::chrono::seconds{1};
    loaded.scheduler.end(now, loaded.running[next++], artel::sched::Ended::kCompleted);
    benchmark::DoNotOptimize(artel::bench::pass_until_rest(loaded.scheduler, now));
  }
}
BENCHMARK(pass_after_end)->Arg(100'000)->Unit(benchmark::kMillisecond);

void pass_after_submit(benchmark::State& state) {
  const std::int64_t pending = state.range(0);
  Loaded loaded(pending);
  Time now = after_submits(pending);
  artel::bench::pass_until_rest(loaded.scheduler, now);
  for (auto _ : state) {
    now += std::chrono::seconds{1};
    loaded.submit(now);
    benchmark::DoNotOptimize(artel::bench::pass_until_rest(loaded.scheduler, now));
  }
}
BENCHMARK(pass_after_submit)->Arg(100'000)->Unit(benchmark::kMillisecond);

/// A gang of 1,000 nodes of a team inside its guarantee takes them from 5,000 borrowed jobs.
void preemption_plan(benchmark::State& state) {
  artel::sched::Setup setup = Workload(Size{.nodes = 5'000}).setup();
  setup.tree.resize(1);
  for (const std::int64_t nodes : {1'000, 0, 0, 0}) {
    artel::sched::QuotaFacts team;
    team.name = "t" + std::to_string(setup.tree.size());
    team.is_team = true;
    team.guarantee = artel::sched::Amounts{nodes * 8'000, 0};
    setup.tree.push_back(team);
  }
  Scheduler full(setup, kBegin);
  artel::sched::JobFacts job;
  job.grace = std::chrono::seconds{60};
  job.request.parts.front().gpus = 8'000;
  job.request.limit = std::chrono::hours{24};
  for (std::uint32_t i = 1; i <= 5'000; ++i) {
    job.id = JobId{i};
    job.queue = artel::sched::QuotaId{2 + i % 3};
    static_cast<void>(full.submit(kBegin, job));
  }
  artel::bench::pass_until_rest(full, kBegin);
  job.id = JobId{10'000};
  job.queue = artel::sched::QuotaId{1};
  job.request.parts.front().nodes = 1'000;
  const Time now = kBegin + std::chrono::hours{1};
  static_cast<void>(full.submit(now, job));
  std::size_t decisions = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Scheduler scheduler = full;
    state.ResumeTiming();
    decisions = artel::bench::pass_until_rest(scheduler, now);
  }
  state.counters["decisions"] = static_cast<double>(decisions);
}
BENCHMARK(preemption_plan)->Unit(benchmark::kMillisecond);

/// Bytes, large blocks included.
std::size_t allocated() {
  const auto sums = mallinfo2();
  return sums.uordblks + sums.hblkhd;
}

void memory(benchmark::State& state) {
  constexpr std::int64_t kPending = 100'000;
  for (auto _ : state) {
    Workload workload{Size{}};
    const auto before_nodes = allocated();
    Scheduler scheduler(workload.setup(), kBegin);
    const auto before_jobs = allocated();
    for (std::int64_t i = 0; i < kPending; ++i) {
      static_cast<void>(scheduler.submit(kBegin, workload.next_job()));
    }
    const auto after = allocated();
    state.counters["bytes_per_node"] =
        static_cast<double>(before_jobs - before_nodes) / Size{}.nodes;
    state.counters["bytes_per_pending_job"] = static_cast<double>(after - before_jobs) / kPending;
  }
}
BENCHMARK(memory)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
