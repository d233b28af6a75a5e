// The controller with a quota tree: classes, access, evictions, and what a restart keeps.
#include <catch2/catch.hpp>

#include "harness.h"

using namespace artel;
using namespace artel::ctld;
using namespace artel::ctld::test;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

TeamConfig team(const std::string& name, std::int64_t guarantee) {
  TeamConfig out{.name = name};
  out.terms.guarantee = QuotaAmounts{{"h100", guarantee}};
  return out;
}

/// Four nodes of 8: search is promised two nodes, maps one, guests nothing.
ControllerConfig tree() {
  ControllerConfig config = Cluster::config();
  config.teams.teams = {team("search", 16), team("maps", 8), team("guests", 0)};
  return config;
}

JobSpec of(const std::string& name, std::uint32_t nodes, const std::string& job_class = "") {
  JobSpec out = spec(nodes);
  out.team = name;
  out.job_class = job_class;
  return out;
}

std::string refusal(ControllerConfig config, JobSpec what, ErrorCode code, Caller caller = kAlice) {
  Cluster cluster({}, std::move(config));
  const auto reply = cluster.submit(caller, {std::move(what)});
  REQUIRE_FALSE(reply);
  CHECK(reply.error().code == code);
  return reply.error().text;
}

/// Ends what is left of the attempt on all its nodes, as the agents would.
void end_all(Cluster& cluster, JobId id, const Cause& cause) {
  const auto attempt = cluster.job(id)->attempt;
  for (const NodePart& part : attempt->parts)
    cluster.from(
        part.share.node.value,
        AttemptEnded{attempt->key, {.started = cluster.now, .ended = cluster.now, .cause = cause}});
}

const Cause kEvicted{.actor = Actor::kPreemption, .code = CauseCode::kPreempted};

/// What the store has after these effects: enough for a start.
StoredState stored(const std::vector<std::shared_ptr<const Job>>& jobs, const Effects& effects) {
  StoredState out;
  for (const auto& job : jobs) {
    out.jobs.push_back(*job);
    out.last_job = job->id;
  }
  for (const StoreWrite& write : effects.writes) {
    if (const auto* claim = std::get_if<ClaimRow>(&write); claim && !claim->claim.shares.empty())
      out.claims.push_back(claim->claim);
    if (const auto* past = std::get_if<PastRow>(&write)) out.past.push_back(*past);
  }
  return out;
}

}  // namespace

TEST_CASE("a class gives priority, protection and grace, resolved at submit") {
  Cluster cluster({}, tree());
  JobSpec job = of("search", 1, "production");
  job.grace = std::nullopt;
  job.priority = -5;
  const JobSpec& got = *cluster.job(cluster.submit(job))->spec;
  CHECK(got.class_priority == 300);
  CHECK(got.preemptible == false);
  CHECK(got.grace == Duration{minutes{5}});
  job.job_class = "";
  CHECK(cluster.job(cluster.submit(job))->spec->job_class == "development");
  job.job_class = "production";
  job.preemptible = true;
  CHECK(cluster.job(cluster.submit(job))->spec->preemptible == true);
}

TEST_CASE("a job asks for less than its class gives, never for more") {
  JobSpec job = of("search", 1, "test");
  job.grace = minutes{2};
  CHECK(refusal(tree(), job, ErrorCode::kInvalidArgument) ==
        "grace: asked 2m, class 'test' gives at most 30s");
  CHECK(refusal(tree(), of("search", 1, "prod"), ErrorCode::kInvalidArgument) ==
        "class: 'prod' does not exist; name one of: production, development, test, experiment");
  job = of("search", 1);
  job.priority = -50;
  CHECK_THAT(refusal(tree(), job, ErrorCode::kInvalidArgument),
             Catch::StartsWith("priority: -50, possible are -49 to 49"));
}

TEST_CASE("a queue admits its classes, and its longest time is also the usual one") {
  ControllerConfig config = tree();
  config.teams.queues = {
      {.name = "q", .classes = {"development"}, .max_time = Duration{minutes{30}}}};
  CHECK(refusal(config, of("search", 1, "test"), ErrorCode::kPermissionDenied) ==
        "class: queue 'q' does not admit 'test'; it admits development");
  JobSpec job = of("search", 1);
  job.time_limit = minutes{31};
  CHECK(refusal(config, job, ErrorCode::kNeverFits) ==
        "time: asked 31m, queue 'q' allows at most 30m");
  Cluster cluster({}, config);
  CHECK(cluster.job(cluster.submit(of("search", 1)))->spec->time_limit == Duration{minutes{30}});
}

TEST_CASE("access lists name who may submit") {
  ControllerConfig config = tree();
  config.teams.teams[0].access = {.users = {"carol"}, .groups = {"search"}};
  CHECK(refusal(config, of("search", 1), ErrorCode::kPermissionDenied) ==
        "team: 'search' is for members of search and for carol, not for alice");
  Cluster cluster({}, config);
  Caller member = kAlice;
  member.groups = {"staff", "search"};
  CHECK(cluster.submit(member, {of("search", 1)}));
  config.teams.queues = {{.name = "q", .access = {.users = {"carol"}, .groups = {}}}};
  CHECK_THAT(refusal(config, of("maps", 1), ErrorCode::kPermissionDenied),
             Catch::StartsWith("queue: team 'maps' has none that alice may use"));
}

TEST_CASE("what can never start by quota is refused at submit, and nothing of the request stays") {
  // Not preemptible, so only inside the guarantee of one node.
  Cluster cluster({}, tree());
  const auto reply =
      cluster.submit(kAlice, {of("maps", 1, "production"), of("maps", 2, "production")});
  REQUIRE_FALSE(reply);
  CHECK(reply.error().code == ErrorCode::kNeverFits);
  CHECK_THAT(reply.error().text, Catch::StartsWith("job 2 of 2: "));
  CHECK(cluster.core().snapshot(cluster.now)->jobs.empty());
  CHECK(cluster.submit(of("maps", 1, "production")) == JobId{1});
}

TEST_CASE("a borrower is evicted for what another team is promised, and waits in its old place") {
  Cluster cluster({}, tree());
  cluster.connect_all();
  const AttemptKey guest = cluster.run(of("guests", 4));
  const JobId owner = cluster.submit(of("search", 2));
  const Effects effects = cluster.tick();
  const auto ends = sent<EndAttempt>(effects);
  REQUIRE(ends.size() == 4);
  CHECK(ends[0].second.cause.code == CauseCode::kPreempted);
  CHECK(ends[0].second.cause.text == "evicted for job 2 of team search");
  CHECK_FALSE(ends[0].second.immediately);
  CHECK(cluster.job(guest.job)->state == JobState::kCompleting);
  CHECK(cluster.job(owner)->wait.code == WaitCode::kPreempting);
  end_all(cluster, guest.job, kEvicted);
  CHECK(cluster.job(guest.job)->state == JobState::kPending);
  CHECK(cluster.job(guest.job)->retries == RetriesUsed{});
  CHECK(cluster.job(guest.job)->standing.evictions == 1);
  (void)cluster.tick();
  CHECK(cluster.job(owner)->state == JobState::kPreparing);
  (void)cluster.tick();
  CHECK(cluster.job(guest.job)->wait.code == WaitCode::kBackoff);
  CHECK_FALSE(cluster.core().check());
}

TEST_CASE("a job that is not to be requeued ends when it is evicted") {
  Cluster cluster({}, tree());
  cluster.connect_all();
  JobSpec once = of("guests", 4);
  once.requeue = false;
  const AttemptKey guest = cluster.run(once);
  cluster.submit(of("search", 1));
  (void)cluster.tick();
  end_all(cluster, guest.job, kEvicted);
  CHECK(cluster.job(guest.job)->state == JobState::kPreempted);
  CHECK(cluster.job(guest.job)->cause.actor == Actor::kPreemption);
}

TEST_CASE("a run that was done before it heard of its eviction is completed") {
  Cluster cluster({}, tree());
  cluster.connect_all();
  const AttemptKey guest = cluster.run(of("guests", 4));
  cluster.submit(of("search", 1));
  (void)cluster.tick();
  end_all(cluster, guest.job, well());
  CHECK(cluster.job(guest.job)->state == JobState::kCompleted);
}

TEST_CASE("a restart in the grace keeps the claim on what is being freed") {
  Cluster before({}, tree());
  before.connect_all();
  const AttemptKey guest = before.run(of("guests", 4));
  const JobId owner = before.submit(of("search", 2));
  const Effects effects = before.tick();
  const StoredState state = stored({before.job(guest.job), before.job(owner)}, effects);
  REQUIRE(state.claims.size() == 1);

  Cluster after(state, tree());
  for (std::uint32_t node = 0; node < 4; ++node)
    after.connect(node, {{.key = guest, .phase = NodePhase::kRunning, .started = kStart}});
  // What was told to end and may not have heard it is told again.
  CHECK(sent<EndAttempt>(after.tick()).size() == 4);
  CHECK(after.job(owner)->wait.code == WaitCode::kPreempting);
  const JobId other = after.submit(of("maps", 1));
  (void)after.tick();
  end_all(after, guest.job, kEvicted);
  (void)after.tick();
  CHECK(after.job(owner)->state == JobState::kPreparing);
  CHECK(after.job(other)->state == JobState::kPreparing);
  CHECK_FALSE(after.core().check());
}

TEST_CASE("with a change of what a job asks for its claim is gone, for a start as well") {
  Cluster cluster({}, tree());
  cluster.connect_all();
  cluster.run(of("guests", 4));
  const JobId owner = cluster.submit(of("search", 2));
  (void)cluster.tick();
  cluster.core().update(RequestId{9}, {.owner = cluster.job(owner)->spec->owner}, {owner},
                        {.nodes = 1}, cluster.now);
  const Effects effects = cluster.core().take_effects();
  const bool is_gone = std::ranges::any_of(effects.writes, [&](const StoreWrite& write) {
    const auto* claim = std::get_if<ClaimRow>(&write);
    return claim != nullptr && claim->claim.job == owner && claim->claim.shares.empty();
  });
  CHECK(is_gone);
  CHECK_FALSE(cluster.core().check());
}

TEST_CASE("a claim ends when a node of it does not come back after a restart") {
  Cluster before({}, tree());
  before.connect_all();
  const AttemptKey guest = before.run(of("guests", 4));
  const JobId owner = before.submit(of("search", 2));
  const Effects effects = before.tick();
  Cluster after(stored({before.job(guest.job), before.job(owner)}, effects), tree());
  (void)after.tick();
  CHECK(after.job(owner)->wait.code == WaitCode::kPreempting);
  (void)after.tick(seconds{61});
  CHECK(after.job(owner)->wait.code != WaitCode::kPreempting);
}

TEST_CASE("the past of teams and users is stored while something runs") {
  Cluster cluster({}, tree());
  cluster.connect_all();
  const AttemptKey guest = cluster.run(of("guests", 4));
  const Effects effects = cluster.tick(minutes{5});
  const StoredState state = stored({cluster.job(guest.job)}, effects);
  REQUIRE(state.past.size() == 2);
  CHECK(state.past[0].name == "guests");
  CHECK(state.past[0].past > 0);
  CHECK(state.past[1] == PastRow{PastRow::Of::kUser, "alice", state.past[1].past, cluster.now});
  // Time that passes without the controller counts too: the run went on.
  Cluster after(state, tree(), cluster.now + minutes{60});
  const Effects later = after.tick(minutes{1});
  const StoredState again = stored({}, later);
  REQUIRE_FALSE(again.past.empty());
  CHECK(again.past[0].past > 5 * state.past[0].past);
}

TEST_CASE("a team that left the configuration keeps what it runs") {
  Cluster before({}, tree());
  before.connect_all();
  const AttemptKey guest = before.run(of("guests", 1));
  ControllerConfig less = tree();
  less.teams.teams.pop_back();
  Cluster after(stored({before.job(guest.job)}, {}), less);
  CHECK(after.job(guest.job)->state == JobState::kRunning);
  CHECK_FALSE(after.core().check());
}
