// What the store keeps for the scheduling core.
#include "support.h"

using namespace artel;
using namespace artel::ctld;
using namespace artel::ctld::testing;

namespace {

sched::Share share(std::uint32_t node) {
  return {.node = NodeId{node}, .gpus = 8000, .cores = 64, .memory = 1 << 20, .devices = 5};
}

}  // namespace

TEST_CASE("evictions and the back-off of a job are kept") {
  const Folder folder;
  Job job = a_job(1);
  job.standing = {.evictions = 3, .backoff_until = at(600), .retry_at = at(700)};
  {
    const auto store = open_new(folder.file());
    load(*store);
    commit(*store, {JobRow{job, true}});
  }
  const StoredState state = load(*open_new(folder.file()));
  REQUIRE(state.jobs.size() == 1);
  CHECK(state.jobs[0].standing == job.standing);
}

TEST_CASE("a claim is kept until it is taken away") {
  const Folder folder;
  const sched::Claim claim{.job = JobId{1}, .number = 7, .shares = {share(0), share(2)}};
  {
    const auto store = open_new(folder.file());
    load(*store);
    commit(*store, {JobRow{a_job(1), true}, ClaimRow{claim}});
  }
  {
    const auto store = open_new(folder.file());
    CHECK(load(*store).claims == std::vector<sched::Claim>{claim});
    commit(*store, {ClaimRow{{.job = JobId{1}, .number = 0, .shares = {}}}});
  }
  CHECK(load(*open_new(folder.file())).claims.empty());
}

TEST_CASE("a claim on a node that is not configured any more is void") {
  const Folder folder;
  {
    const auto store = open_new(folder.file());
    load(*store);
    commit(*store, {JobRow{a_job(1), true}, ClaimRow{{JobId{1}, 1, {share(0), share(2)}}}});
  }
  const auto store = open_new(folder.file());
  store->set_node_names({"n0", "n1"});
  CHECK(load(*store).claims.empty());
}

TEST_CASE("the latest past of each team and user is kept") {
  const Folder folder;
  using Of = PastRow::Of;
  const PastRow late{.of = Of::kQuota, .name = "research/nlp", .past = 0.125, .at = at(60)};
  const PastRow user{.of = Of::kUser, .name = "alice", .past = 1e-9, .at = at(60)};
  {
    const auto store = open_new(folder.file());
    load(*store);
    commit(*store, {PastRow{Of::kQuota, "research/nlp", 0.5, at(0)}, late, user});
  }
  CHECK(load(*open_new(folder.file())).past == std::vector<PastRow>{late, user});
}

TEST_CASE("what teams have used is added up where it is asked for") {
  const Folder folder;
  Job job = a_job(1);
  Attempt attempt = an_attempt(job, {0});
  attempt.parts[0].share.gpus = {0, 1};
  attempt.ended_at = attempt.allocated_at + std::chrono::seconds{10};
  std::vector<StoreWrite> rows = {JobRow{job, true}};
  for (StoreWrite& row : placed(job, attempt)) rows.push_back(std::move(row));
  {
    const auto store = open_new(folder.file());
    load(*store);
    commit(*store, rows);
  }
  CHECK(load(*open_new(folder.file())).used_gpu_ms.empty());
  auto store = open_store(folder.file(), {.count_used = true});
  REQUIRE(store);
  (*store)->set_node_names({"n0", "n1", "n2"});
  CHECK(load(**store).used_gpu_ms ==
        std::map<std::string, double>{{job.spec->team, 2.0 * 1000 * 10'000}});
}
