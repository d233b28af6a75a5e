// News in the middle of a pass that would make its decisions wrong ends it there; what only makes
// them late waits.
#include <catch2/catch.hpp>
#include <map>

#include "harness.h"

namespace artel::ctld::test {
namespace {

void part(Cluster& cluster, int jobs) {
  cluster.core().tick(cluster.now, [&] { return jobs-- > 0; });
}

ControllerConfig two_teams(ControllerConfig config = Cluster::config()) {
  for (const auto& [name, guarantee] : {std::pair("search", 16), std::pair("guests", 0)}) {
    TeamConfig team{.name = name};
    team.terms.guarantee = QuotaAmounts{{"h100", guarantee}};
    config.teams.teams.push_back(std::move(team));
  }
  return config;
}

JobSpec of(const char* team, std::uint32_t nodes) {
  JobSpec out = spec(nodes);
  out.team = team;
  return out;
}

struct Evict {
  Evict() : cluster({}, two_teams()) {
    cluster.connect_all();
    victim = cluster.run(of("guests", 4));
    waits = cluster.submit(of("search", 1));
    cluster.now += std::chrono::hours{1};
    part(cluster, 0);
    (void)cluster.core().take_effects();
    REQUIRE(cluster.core().in_pass());
  }
  Cluster cluster;
  AttemptKey victim;
  JobId waits;
};

TEST_CASE("nobody is evicted for a job that was cancelled in the middle of a pass") {
  Evict e;
  REQUIRE(e.cluster.cancel(kAlice, e.waits));
  (void)e.cluster.tick();
  const auto job = e.cluster.job(e.victim.job);
  CHECK(job->state == JobState::kRunning);
  CHECK(job->standing.evictions == 0);
  CHECK(job->attempt->cause.text == "");
}

TEST_CASE("nobody is evicted for a job that was held in the middle of a pass") {
  Evict e;
  e.cluster.core().hold(RequestId{3}, kAlice, {e.waits}, "", e.cluster.now);
  (void)e.cluster.tick();
  const auto job = e.cluster.job(e.victim.job);
  CHECK(job->state == JobState::kRunning);
}

TEST_CASE("a job that was updated in the middle of a pass gets what it asks for now") {
  Evict e;
  e.cluster.core().update(RequestId{3}, kAlice, {e.waits}, {.nodes = 1}, e.cluster.now);
  (void)e.cluster.tick();
  const auto victim = e.cluster.job(e.victim.job)->attempt;
  for (std::uint32_t node = 0; node < 4; ++node)
    e.cluster.from(node, AttemptEnded{e.victim, ended(e.cluster.now, victim->cause)});
  (void)e.cluster.tick(std::chrono::seconds{1});
  REQUIRE(e.cluster.job(e.waits)->state == JobState::kPreparing);
  CHECK(e.cluster.job(e.waits)->attempt->parts.size() == 1);
  CHECK_FALSE(e.cluster.core().check());
}

TEST_CASE("nobody is evicted for room on a node that was drained in the middle of a pass") {
  Evict e;
  e.cluster.core().drain(RequestId{8}, kOperator, {"hgx01", "hgx02", "hgx03", "hgx04"},
                         {.reason = "x"}, e.cluster.now);
  (void)e.cluster.tick();
  CHECK(e.cluster.job(e.victim.job)->state == JobState::kRunning);
}

TEST_CASE("whose run ended by itself in the middle of a pass has no back-off") {
  Evict e;
  const Cause failed{.actor = Actor::kNode, .code = CauseCode::kNodeLost};
  for (std::uint32_t node = 0; node < 4; ++node)
    e.cluster.from(node, AttemptEnded{e.victim, ended(e.cluster.now, failed)});
  REQUIRE(e.cluster.job(e.victim.job)->state == JobState::kPending);
  (void)e.cluster.tick();
  REQUIRE(e.cluster.cancel(kAlice, e.waits));
  for (int i = 0; i < 4; ++i) (void)e.cluster.tick(std::chrono::seconds{2});
  const auto job = e.cluster.job(e.victim.job);
  CHECK(job->wait.code != WaitCode::kBackoff);
  CHECK(job->state == JobState::kPreparing);
}

TEST_CASE("who is on the way out by itself is not recorded as evicted") {
  Evict e;
  const Cause failed{.actor = Actor::kNode, .code = CauseCode::kNodeLost, .node = "hgx01"};
  e.cluster.from(0, AttemptEnded{e.victim, ended(e.cluster.now, failed)});
  (void)e.cluster.core().take_effects();
  REQUIRE(e.cluster.job(e.victim.job)->state == JobState::kCompleting);
  Effects effects = e.cluster.tick();
  bool told = false;
  for (const auto& w : effects.writes)
    if (const auto* row = std::get_if<EventRow>(&w)) told = told || row->kind == "preempt";
  CHECK_FALSE(told);
  CHECK(e.cluster.job(e.victim.job)->standing.evictions == 0);
}

TEST_CASE("a start that a lost node undid keeps the job starving") {
  ControllerConfig config = Cluster::config();
  config.policy.starve_after = std::chrono::hours{24};
  Cluster cluster({}, config);
  cluster.connect_all();
  const AttemptKey big = cluster.run(spec(4));  // alice has usage
  const JobId old = cluster.submit(spec(4));
  (void)cluster.tick();
  cluster.now += std::chrono::hours{30};
  (void)cluster.tick();
  // bob has used nothing, and wants the whole cluster too
  const JobId young = std::get<Submitted>(cluster.submit(kBob, {spec(4)}).value()).jobs.at(0);
  (void)cluster.tick();
  for (std::uint32_t node = 0; node < 4; ++node)
    cluster.from(node, AttemptEnded{big, ended(cluster.now, well())});
  (void)cluster.core().take_effects();
  const bool in_parts = GENERATE(false, true);
  if (in_parts) {
    part(cluster, 0);
    REQUIRE(cluster.core().in_pass());
  }
  cluster.disconnect(3);
  (void)cluster.tick();
  cluster.connect(3);
  (void)cluster.tick(std::chrono::seconds{1});
  (void)cluster.tick(std::chrono::seconds{1});
  CAPTURE(in_parts);
  CHECK(cluster.job(old)->state == JobState::kPreparing);
  CHECK(cluster.job(young)->state == JobState::kPending);
}

TEST_CASE("a strict queue stays in order when a node is lost in the middle of a pass") {
  ControllerConfig config = Cluster::config();
  config.teams.queues = {{.name = "s", .strict_fifo = true}};
  const bool in_parts = GENERATE(false, true);
  Cluster cluster({}, config);
  cluster.connect(2);
  (void)cluster.run(spec(1));
  cluster.connect(0);
  cluster.connect(1);
  JobSpec big = spec(2);
  JobSpec small = spec(1);
  big.components[0].per_node =
      small.components[0].per_node = {.whole_node = false, .gpus = GpuMilli{1000}};
  const JobId first = cluster.submit(big);
  const JobId second = cluster.submit(small);
  if (in_parts) {
    part(cluster, 0);
    REQUIRE(cluster.core().in_pass());
  }
  cluster.disconnect(1);
  (void)cluster.tick();
  CAPTURE(in_parts);
  CHECK(cluster.job(first)->state == JobState::kPending);
  CHECK(cluster.job(second)->state == JobState::kPending);
}

TEST_CASE("a claim of a job that was held before a crash does not come back") {
  Evict e;
  Cluster& c = e.cluster;
  std::map<JobId, sched::Claim> claims;
  const auto keep = [&](const Effects& effects) {
    for (const auto& w : effects.writes)
      if (const auto* row = std::get_if<ClaimRow>(&w)) {
        claims.erase(row->claim.job);
        if (!row->claim.shares.empty()) claims.emplace(row->claim.job, row->claim);
      }
  };
  part(c, 1);
  keep(c.core().take_effects());
  REQUIRE(claims.size() == 1);
  c.core().hold(RequestId{3}, kAlice, {e.waits}, "", c.now);
  keep(c.core().take_effects());
  // crash here, in the middle of the pass: restart with what was stored
  const auto stored = [&](Cluster& from) {
    StoredState out;
    out.last_job = JobId{10};
    for (const JobId id : {e.victim.job, e.waits}) {
      Job job = *from.job(id);
      if (is_final(job.state)) continue;
      out.jobs.push_back(std::move(job));
    }
    for (const auto& [id, claim] : claims) out.claims.push_back(claim);
    return out;
  };
  Cluster again(stored(c), two_teams(), c.now + std::chrono::minutes{1});
  again.connect_all();
  keep(again.tick());
  for (int i = 0; i < 5; ++i) keep(again.tick(std::chrono::seconds{30}));
  again.core().release(RequestId{4}, kAlice, {e.waits}, again.now);
  keep(again.core().take_effects());
  CHECK(claims.empty());
}

TEST_CASE("who starts after a pause in the middle of a pass is protected from its start on") {
  ControllerConfig config = two_teams();
  config.policy.protect_reclaim = std::chrono::minutes{30};
  Cluster cluster({}, config);
  cluster.connect_all();
  const JobId guest = cluster.submit(of("guests", 4));
  part(cluster, 0);
  (void)cluster.core().take_effects();
  REQUIRE(cluster.core().in_pass());
  cluster.core().pause_starts(true);
  (void)cluster.tick(std::chrono::hours{3});
  cluster.core().pause_starts(false);
  (void)cluster.tick();
  REQUIRE(cluster.job(guest)->state == JobState::kPreparing);
  const JobId owner = cluster.submit(of("search", 1));
  (void)cluster.tick(std::chrono::seconds{1});
  (void)cluster.tick(std::chrono::seconds{1});
  CHECK(cluster.job(guest)->state == JobState::kPreparing);
  CHECK(cluster.job(owner)->wait.code == WaitCode::kProtected);
}

TEST_CASE("a pause in the middle of a pass costs nobody budget") {
  ControllerConfig config = two_teams();
  config.teams.teams[1].budget = 100;  // guests: GPU-hours
  Cluster cluster({}, config);
  cluster.connect_all();
  JobSpec one = of("guests", 4);
  one.time_limit = std::chrono::hours{1};
  const JobId first = cluster.submit(one);
  part(cluster, 0);
  (void)cluster.core().take_effects();
  REQUIRE(cluster.core().in_pass());
  cluster.core().pause_starts(true);
  (void)cluster.tick(std::chrono::hours{3});
  cluster.core().pause_starts(false);
  (void)cluster.tick();
  REQUIRE(cluster.job(first)->state == JobState::kPreparing);
  (void)cluster.cancel(kAlice, first);
  const AttemptKey key{first, TaskIndex{0}, AttemptNo{1}};
  for (std::uint32_t n = 0; n < 4; ++n)
    cluster.from(n, AttemptEnded{key, ended(cluster.now, well())});
  (void)cluster.tick(std::chrono::seconds{1});
  const JobId second = cluster.submit(one);  // 32 of 100 GPU-hours, nothing was used
  for (int i = 0; i < 3; ++i) (void)cluster.tick(std::chrono::seconds{1});
  CHECK(cluster.job(second)->wait.code != WaitCode::kBudget);
  CHECK(cluster.job(second)->state == JobState::kPreparing);
}

TEST_CASE("a pass that was ended a few times in a row is made in one part") {
  Cluster cluster;
  cluster.connect_all();
  std::vector<JobId> jobs;
  for (int i = 0; i < 8; ++i) jobs.push_back(cluster.submit(spec(4)));
  int stops = 0;
  for (; stops < 8; ++stops) {
    part(cluster, 0);
    (void)cluster.core().take_effects();
    if (!cluster.core().in_pass()) break;
    REQUIRE(cluster.cancel(kAlice, jobs[static_cast<std::size_t>(stops) + 1]));
    REQUIRE(cluster.core().next_tick().value() <= cluster.now);
  }
  CHECK(stops == 3);
  CHECK(cluster.job(jobs[0])->state == JobState::kPreparing);
}

}  // namespace
}  // namespace artel::ctld::test
