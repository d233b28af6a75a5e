// What leaves the control loop, and when.
#include "ctld/services/control_loop.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <variant>

#include "fakes/gated_store.h"
#include "fakes/mailbox.h"

namespace artel::ctld {
namespace {

using fakes::GatedStore;
using fakes::Mailbox;

JobSpec small_job() {
  JobSpec spec{.name = "train"};
  spec.components.emplace_back();
  spec.argv = {"/bin/true"};
  spec.working_directory = "/home/alice";
  spec.output = "out-%j";
  return spec;
}

const Caller kAlice{.owner = {.uid = 1001, .gid = 1001, .user = "alice"}, .is_operator = false};

std::unique_ptr<Controller> one_node_core() {
  ControllerConfig config{.cluster = "test", .nodes = {}, .teams = {}, .policy = {}};
  config.nodes.push_back(
      {.name = "n1",
       .address = "n1",
       .resources = {.cpus = 8, .memory = Bytes{1U << 30U}, .gpu_type = "", .gpus = 0},
       .simulated = true});
  return std::make_unique<Controller>(
      std::move(config), StoredState{}, [] { return std::string(32, 'k'); }, Time{});
}

/// A loop over a gated store, with what comes out of it.
class Bed {
 public:
  explicit Bed(std::size_t max_waiting = 1000)
      : loop_(one_node_core(), store,
              {.send = [this](AgentSend send) { sends.put(std::move(send)); },
               .changed = [this](const std::vector<JobId>& jobs) { changed.put(jobs); },
               .fatal = [this](const Error& error) { fatal.put(error); },
               .idle = {}},
              {.max_waiting = max_waiting}) {
    loop_.start();
  }
  ~Bed() {
    store.open();
    loop_.stop();
  }

  ControlLoop& loop() { return loop_; }

  Result<> submit(std::size_t jobs = 1) {
    return loop_.command(
        [jobs](Controller& core, RequestId id, Time now) {
          core.submit(id, kAlice, std::vector(jobs, small_job()), now);
        },
        [this](decltype(Reply::body) body) {
          replies.put(body ? std::get<Submitted>(*body).jobs.front() : JobId{});
        });
  }

  GatedStore store;
  Mailbox<AgentSend> sends;
  Mailbox<std::vector<JobId>> changed;
  Mailbox<Error> fatal;
  Mailbox<JobId> replies;

 private:
  ControlLoop loop_;
};

/// More rows than the control thread commits by itself.
constexpr std::size_t kManyJobs = 100;

/// Returns when the control thread has done everything that was posted before. Not for use while it
/// commits a small batch at a closed gate.
void settle(ControlLoop& loop) {
  Mailbox<bool> done;
  for (int i = 0; i < 2; ++i) {
    loop.post([&done](Controller&, Time) { done.put(true); });
    REQUIRE(done.wait_for(static_cast<std::size_t>(i) + 1));
  }
}

TEST_CASE("an answer does not leave before its rows are committed") {
  const std::size_t jobs = GENERATE(std::size_t{1}, kManyJobs);
  Bed bed;
  REQUIRE(bed.submit(jobs));
  bed.store.wait_for_arrivals(1);
  if (jobs == kManyJobs) settle(bed.loop());
  CHECK(bed.replies.size() == 0);
  CHECK(bed.changed.size() == 0);
  bed.store.open();
  REQUIRE(bed.replies.wait_for(1));
  CHECK(bed.replies.all().front() == JobId{1});
  CHECK_FALSE(bed.store.batches().empty());
}

TEST_CASE("a read does not overtake the commit that makes it true") {
  const std::size_t jobs = GENERATE(std::size_t{1}, kManyJobs);
  Bed bed;
  Mailbox<std::size_t> jobs_seen;
  REQUIRE(bed.submit(jobs));
  REQUIRE(bed.loop().read([&jobs_seen](const std::shared_ptr<const Snapshot>& snapshot) {
    jobs_seen.put(snapshot->jobs.size());
  }));
  bed.store.wait_for_arrivals(1);
  if (jobs == kManyJobs) settle(bed.loop());
  CHECK(jobs_seen.size() == 0);
  bed.store.open();
  REQUIRE(jobs_seen.wait_for(1));
  CHECK(jobs_seen.all().front() == jobs);
  CHECK(bed.replies.size() == 1);
}

TEST_CASE("work for the writer's thread waits for the commit that runs, and others wait for it") {
  Bed bed;
  REQUIRE(bed.submit(kManyJobs));
  bed.store.wait_for_arrivals(1);
  Mailbox<std::size_t> batches_before;
  bed.loop().chore([&]() -> Result<> {
    batches_before.put(bed.store.batches().size());
    return {};
  });
  REQUIRE(bed.submit());
  settle(bed.loop());
  CHECK(batches_before.size() == 0);
  bed.store.let_one_through();
  REQUIRE(batches_before.wait_for(1));
  CHECK(batches_before.all().front() == 1);  // its turn came before that of the next batch
  bed.store.open();
  REQUIRE(bed.replies.wait_for(2));
}

TEST_CASE("work for the writer's thread that fails ends the process as a commit does") {
  Bed bed;
  bed.store.open();
  bed.loop().chore([] { return fail(ErrorCode::kStorage, "no room"); });
  REQUIRE(bed.fatal.wait_for(1));
  CHECK(bed.fatal.all().front().text == "no room");
}

TEST_CASE("what queues while a commit runs goes into the next one") {
  Bed bed;
  REQUIRE(bed.submit(kManyJobs));
  bed.store.wait_for_arrivals(1);
  for (int i = 0; i < 20; ++i) {
    REQUIRE(bed.submit());
    settle(bed.loop());  // each is a step of its own
  }
  bed.store.let_one_through();
  bed.store.wait_for_arrivals(2);
  bed.store.let_one_through();
  REQUIRE(bed.replies.wait_for(21));
  const auto replies = bed.replies.all();
  for (std::size_t i = 1; i < replies.size(); ++i) CHECK(replies[i] == JobId{kManyJobs + i});
  CHECK(bed.store.batches().size() == 2);
}

TEST_CASE("what is posted while the control thread commits goes into one commit, too") {
  Bed bed;
  REQUIRE(bed.submit());
  bed.store.wait_for_arrivals(1);
  for (int i = 0; i < 20; ++i) REQUIRE(bed.submit());
  bed.store.let_one_through();
  bed.store.wait_for_arrivals(2);
  bed.store.let_one_through();
  REQUIRE(bed.replies.wait_for(21));
  const auto replies = bed.replies.all();
  for (std::size_t i = 0; i < replies.size(); ++i) CHECK(replies[i] == JobId{i + 1});
  CHECK(bed.store.batches().size() == 2);
}

TEST_CASE("a commit that fails is fatal, nothing of it is answered, and no other is tried") {
  const std::size_t jobs = GENERATE(std::size_t{1}, kManyJobs);
  Bed bed;
  bed.store.fail_with({ErrorCode::kStorage, "disk is gone"});
  REQUIRE(bed.submit(jobs));
  bed.store.wait_for_arrivals(1);
  REQUIRE(bed.submit());
  bed.store.open();
  REQUIRE(bed.fatal.wait_for(1));
  CHECK(bed.fatal.all().front().text == "disk is gone");
  bed.loop().stop();
  CHECK(bed.replies.size() == 0);
  CHECK(bed.fatal.size() == 1);
}

TEST_CASE("requests over the bound are told when to try again") {
  Bed bed(3);
  for (int i = 0; i < 3; ++i) REQUIRE(bed.submit());
  const auto refused = bed.submit();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kTryAgain);
  CHECK(refused.error().text.find("try again in") != std::string::npos);
  bed.store.open();
  REQUIRE(bed.replies.wait_for(3));
  CHECK(bed.submit());
}

TEST_CASE("a stop answers what was accepted and refuses what comes later") {
  Bed bed;
  for (int i = 0; i < 5; ++i) REQUIRE(bed.submit());
  bed.store.open();
  bed.loop().stop();
  CHECK(bed.replies.size() == 5);
  const auto late = bed.submit();
  REQUIRE_FALSE(late);
  CHECK(late.error().code == ErrorCode::kUnavailable);
}

TEST_CASE("an idle writer is told so once") {
  GatedStore store;
  store.open();
  Mailbox<bool> idle;
  ControlLoop loop(one_node_core(), store,
                   {.send = [](const AgentSend&) {},
                    .changed = [](const std::vector<JobId>&) {},
                    .fatal = [](const Error&) {},
                    .idle = [&idle]() -> Result<> {
                      idle.put(true);
                      return {};
                    }},
                   {});
  loop.start();
  REQUIRE(loop.command(
      [](Controller& core, RequestId id, Time now) { core.submit(id, kAlice, {small_job()}, now); },
      [](const decltype(Reply::body)&) {}));
  REQUIRE(idle.wait_for(1));
  loop.stop();
  CHECK(idle.size() == 1);
}

TEST_CASE("timers run in the order of their times") {
  Bed bed;
  Mailbox<int> fired;
  bed.loop().post([&](Controller&, Time) {
    bed.loop().after(Duration{2}, [&fired] { fired.put(2); });
    bed.loop().after(Duration{1}, [&fired] { fired.put(1); });
  });
  REQUIRE(fired.wait_for(2));
  CHECK(fired.all() == std::vector{1, 2});
}

}  // namespace
}  // namespace artel::ctld
