// What is kept of nodes is what a look at each node says: open nodes after every start and end, and
// the nodes that take a job at each time to come.
#include <catch2/catch.hpp>
#include <memory>
#include <random>

#include "sched/admit.h"
#include "sched/booked.h"
#include "sched/books.h"
#include "sched/future.h"
#include "sched/waiting.h"
#include "unit/sched/running.h"

using namespace artel;
using namespace artel::sched;
using namespace artel::sched::bed;

namespace {

constexpr std::uint32_t kNodes = 7;
constexpr int kMinutes = 40;

/// A cluster on which jobs of any size come and go; two of its nodes are open for shares.
class Site {
 public:
  explicit Site(std::uint32_t seed) : random_(seed), state_(setup(), at_minute(0)) {
    state_.now = at_minute(0);
  }

  State& state() { return state_; }
  std::uint32_t below(std::uint32_t most) { return static_cast<std::uint32_t>(random_() % most); }
  bool one_in(std::uint32_t chances) { return below(chances) == 0; }

  JobFacts request() {
    static constexpr std::array<std::int64_t, 5> kAmounts = {1, 2, 4, 8, 0};
    JobFacts facts = job(++last_job_, QuotaId{0}, 1 + below(3), kAmounts[below(5)]);
    if (one_in(5)) facts.request.parts.front().gpus = 250;
    facts.request.parts.front().cores = below(3) * 20;
    facts.request.exclusive = one_in(6) && facts.request.parts.front().gpus != 250;
    facts.request.limit = std::chrono::minutes{1 + below(20)};
    if (one_in(10)) facts.request.limit.reset();
    facts.user = UserId{1 + below(2)};
    return facts;
  }

  Job& enter(const JobFacts& facts) {
    Job made = job_of(state_, facts, intern(state_, facts.request));
    return admit(state_, std::move(made), facts);
  }

  /// Runs, or leaves, or claims what leaves, where there is room now.
  void start_one() {
    Job& job = enter(request());
    const Rooms rooms(state_, interval_now(state_, job), nullptr);
    auto shares = place(state_, job, {largest_size(*job.request), kFlavor}, rooms,
                        {.domain = {}, .anywhere = true});
    if (!shares) {
      finish(state_, job.id, false);
      return;
    }
    job.shares = std::move(*shares);
    job.charge = charge_of_shares(state_, job);
    job.stage = Stage::kRunning;
    job.start = state_.now;
    job.limit_end = end_of_run(job, state_.now);
    hold(state_, job);
    book(state_, job, 1);
    running_.push_back(job.id);
    if (one_in(4)) signal(state_, job);
  }

  void end_one() {
    if (running_.empty()) return;
    const std::size_t which = below(static_cast<std::uint32_t>(running_.size()));
    release(state_, state_.jobs.at(running_[which]));
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(which));
  }

  void break_or_mend_one() {
    const std::uint32_t node = below(kNodes);
    state_.nodes[node].healthy = !state_.nodes[node].healthy;
    state_.openings.health_changed(state_, node);
  }

  void reserve_one() {
    ReservationFacts facts;
    facts.owner = QuotaId{0};
    facts.start = at_minute(static_cast<int>(1 + below(15)));
    facts.end = facts.start + std::chrono::minutes{1 + below(10)};
    facts.nodes = {NodeId{below(kNodes)}};
    static_cast<void>(add_reservation(state_, facts));
  }

 private:
  static Setup setup() {
    Setup setup = cluster(kNodes);
    setup.nodes[1].shared = setup.nodes[3].shared = setup.nodes[5].shared = true;
    setup.policy.share_between = ShareBetween::kUser;
    return setup;
  }

  std::minstd_rand random_;
  State state_;
  std::uint64_t last_job_ = 0;
  std::vector<JobId> running_;
};

std::vector<NodeIndex> nodes_in(const State& state, const RankSet& set) {
  return nodes_of(state, set);
}

/// One node after the other.
std::vector<NodeIndex> look(const State& state, const Job& job, const Interval& interval,
                            const PlanBook* plans, bool regardless_of_reservations) {
  const Rooms rooms(state, interval, plans);
  std::vector<NodeIndex> found;
  for (const NodeIndex node : state.by_name) {
    const Room room = regardless_of_reservations ? rooms.beside_work(node) : rooms.at(node);
    if (is_candidate(state, job, kFlavor, job.request->parts.front(), node, room)) {
      found.push_back(node);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("open nodes are those that a look at each node finds", "[openings]") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Site site(seed);
    State& state = site.state();
    for (int step = 0; step < 40; ++step) {
      if (site.one_in(8)) site.break_or_mend_one();
      if (site.one_in(3)) {
        site.end_one();
      } else {
        site.start_one();
      }
      const JobFacts facts = site.request();
      const Job asks = job_of(state, facts, intern(state, facts.request));
      const Opening& opening = state.openings.of(state, asks, kFlavor, asks.request->parts.front());
      const auto expected = look(state, asks, interval_now(state, asks), nullptr, true);
      REQUIRE(nodes_in(state, opening.now) == expected);
      CHECK(opening.count == expected.size());
      std::vector<std::uint32_t> in_leaf(state.leaves.size());
      for (const NodeIndex node : expected) ++in_leaf[state.nodes[node].leaf];
      CHECK(opening.in_leaf == in_leaf);
      const Interval emptied{.from = state.now, .emptied = Emptied::kHealthyNodes};
      CHECK(nodes_in(state, opening.emptied) == look(state, asks, emptied, nullptr, true));
    }
  }
}

TEST_CASE("a timeline has the nodes that take the job's part all through its limit", "[future]") {
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    Site site(seed);
    State& state = site.state();
    for (int i = 0; i < 8; ++i) site.start_one();
    for (int i = 0; i < 2; ++i) site.reserve_one();
    std::deque<Planned> plans;
    PlanBook book(kNodes);
    Releases releases(state, book);
    Leaving leaving;
    if (site.one_in(2)) {
      for (const JobId id : state.active) {
        if (site.one_in(3)) leaving.emplace(id, at_minute(static_cast<int>(1 + site.below(5))));
      }
    }
    const Beside beside{releases, leaving};
    for (int planned = 0; planned < 6; ++planned) {
      Job& asks = site.enter(site.request());
      const Part& part = asks.request->parts.front();
      Timeline timeline(state, asks, kFlavor, part, beside);
      std::optional<Planned> plan;
      for (int minute = 0; minute < kMinutes; ++minute) {
        CAPTURE(planned, minute);
        const Time time = at_minute(minute);
        timeline.advance(time);
        RankSet nodes(kNodes);
        timeline.add_to(nodes);
        const Interval interval{.from = time,
                                .end = end_of_run(asks, time),
                                .sharer = sharer_of(state, asks),
                                .leaving = &leaving};
        const auto expected = look(state, asks, interval, &book, false);
        REQUIRE(nodes_in(state, nodes) == expected);
        CHECK(timeline.most() == std::ssize(expected));
        const bool is_later = minute > 0 && site.one_in(3);
        if (plan || !is_later || expected.empty()) continue;
        const Rooms rooms(state, interval, &book);
        auto shares = place(state, asks, {1, kFlavor}, rooms, {.domain = {}, .anywhere = true});
        if (!shares) continue;
        plan = Planned{.job = &asks, .start = time, .end = interval.end, .shares = *shares};
      }
      if (!plan) continue;
      book.add(plans.emplace_back(std::move(*plan)));
      for (const Share& share : plans.back().shares) releases.planned(share.node.value);
    }
  }
}

TEST_CASE("on shared nodes it has to be the same devices all through the limit", "[future]") {
  Setup setup = cluster(1);
  setup.nodes.front().shared = true;
  State state(setup, at_minute(0));
  Job& early = running_job(state, job(1, QuotaId{0}, 1, 4), {0});
  take_off(state, early, 0);
  early.shares = {{.node = NodeId{0}, .gpus = 4 * kGpu, .devices = 0x0f}};
  early.limit_end = at_minute(8);
  hold(state, early);
  PlanBook book(1);
  const Job& later = waiting_job(state, job(2, QuotaId{0}, 1, 4));
  const Planned plan{.job = &later,
                     .start = at_minute(8),
                     .end = at_minute(12),
                     .shares = {{.node = NodeId{0}, .gpus = 4 * kGpu, .devices = 0xf0}}};
  book.add(plan);
  Releases releases(state, book);
  const Leaving nobody;
  JobFacts facts = job(3, QuotaId{0}, 1, 4);
  facts.request.limit = std::chrono::minutes{6};
  const Job& asks = waiting_job(state, facts);
  const Beside beside{releases, nobody};
  Timeline timeline(state, asks, kFlavor, asks.request->parts.front(), beside);
  for (const auto& [minute, fits] : {std::pair(2, 1), {3, 0}, {7, 0}, {8, 1}}) {
    CAPTURE(minute);
    timeline.advance(at_minute(minute));
    CHECK(timeline.most() == fits);  // four devices are free at every instant
  }
}
