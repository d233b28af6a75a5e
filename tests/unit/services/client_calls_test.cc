// Calls of clients through a real gRPC server and a real store.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>

#include "fakes/server_bed.h"
#include "wire/agent_wire.h"

namespace artel::ctld {
namespace {

using fakes::Client;
using fakes::job_message;
using fakes::ServerBed;

template <typename T>
ErrorCode code_of(const Result<T>& result) {
  REQUIRE_FALSE(result);
  return result.error().code;
}

TEST_CASE("a call without a login is refused") {
  const ServerBed bed;
  Client stranger(bed.address());
  CHECK(code_of(stranger.queue({})) == ErrorCode::kUnauthenticated);
  CHECK(code_of(stranger.submit_one(job_message())) == ErrorCode::kUnauthenticated);
}

TEST_CASE("a bad credential gives no token") {
  const ServerBed bed;
  Client stranger(bed.address());
  CHECK(code_of(stranger.login("forged", wire::kProtocolVersion)) == ErrorCode::kUnauthenticated);
}

TEST_CASE("a token of another connection is refused") {
  const ServerBed bed;
  const auto alice = bed.client("alice");
  Client thief(bed.address());
  thief.set_token(alice->token());
  CHECK(code_of(thief.queue({})) == ErrorCode::kUnauthenticated);
  CHECK(alice->queue({}));
}

TEST_CASE("a client of another protocol version is told both versions") {
  const ServerBed bed;
  Client client(bed.address());
  const auto reply = client.login("alice", wire::kProtocolVersion + 1);
  CHECK(code_of(reply) == ErrorCode::kProtocol);
  CHECK(reply.error().text.find("protocol 2") != std::string::npos);
}

TEST_CASE("the owner of a job is who logged in, not who the message names") {
  const ServerBed bed;
  const auto alice = bed.client("alice");
  v1::JobSpec spec = job_message();
  spec.mutable_owner()->set_uid(0);
  spec.mutable_owner()->set_user("root");
  const auto job = alice->submit_one(spec);
  REQUIRE(job);
  const auto shown = alice->show(*job);
  REQUIRE(shown);
  CHECK(shown->spec().owner().uid() == 1001);
  CHECK(shown->spec().owner().user() == "alice");
  CHECK(shown->spec().output() == "artel-%j.out");
}

TEST_CASE("script and environment are for the owner and operators only") {
  const ServerBed bed;
  const auto alice = bed.client("alice");
  const auto job = alice->submit_one(job_message());
  REQUIRE(job);
  for (const char* reader : {"alice", "op"}) {
    const auto shown = bed.client(reader)->show(*job);
    REQUIRE(shown);
    CHECK(shown->spec().script() == job_message().script());
    CHECK(shown->spec().environment_size() == 1);
  }
  const auto shown = bed.client("bob")->show(*job);
  REQUIRE(shown);
  CHECK(shown->spec().script().empty());
  CHECK(shown->spec().environment_size() == 0);
  CHECK(shown->spec().name() == "train");
}

TEST_CASE("listings carry neither script nor environment") {
  const ServerBed bed;
  const auto alice = bed.client("alice");
  REQUIRE(alice->submit_one(job_message()));
  const auto queue = alice->queue({});
  REQUIRE(queue);
  REQUIRE(queue->jobs_size() == 1);
  CHECK(queue->jobs(0).spec().script().empty());
  CHECK(queue->jobs(0).spec().environment_size() == 0);
  CHECK(queue->jobs(0).state() == "PENDING");
  CHECK_FALSE(queue->jobs(0).wait().text().empty());
  const auto history = alice->history({});
  REQUIRE(history);
  REQUIRE(history->jobs_size() == 1);
  CHECK(history->jobs(0).spec().script().empty());
}

TEST_CASE("the queue can be cut by user and by job") {
  const ServerBed bed;
  const auto alice = bed.client("alice");
  const auto bob = bed.client("bob");
  REQUIRE(alice->submit_one(job_message()));
  const auto of_bob = bob->submit_one(job_message());
  REQUIRE(of_bob);
  v1::QueueRequest request;
  request.set_user("bob");
  CHECK(alice->queue(request)->jobs_size() == 1);
  request.set_user("carol");
  CHECK(alice->queue(request)->jobs_size() == 0);
  request.clear_user();
  request.add_jobs(*of_bob);
  REQUIRE(alice->queue(request)->jobs_size() == 1);
  CHECK(alice->queue(request)->jobs(0).id() == *of_bob);
}

TEST_CASE("a call with no job or too many jobs is refused with the limit") {
  const ServerBed bed;
  const auto alice = bed.client("alice");
  CHECK(code_of(alice->submit({})) == ErrorCode::kInvalidArgument);
  v1::CancelRequest request;
  for (int i = 0; i < 10'001; ++i) request.add_jobs(1);
  const auto reply = alice->cancel(request);
  CHECK(code_of(reply) == ErrorCode::kInvalidArgument);
  CHECK(reply.error().text.find("10000") != std::string::npos);
}

TEST_CASE("lists of tasks that would take long are refused with the limit") {
  const ServerBed bed;
  const auto alice = bed.client("alice");
  v1::CancelRequest request;
  const auto add = [&request](std::uint64_t array, const std::string& indexes) {
    auto& some = *request.add_tasks();
    some.set_array(array);
    some.set_indexes(indexes);
  };
  for (std::uint32_t i = 0; i < 31; ++i) add(1, fmt::format("{}-{}", 10 * i, 10 * i + 2));
  const auto lists = alice->cancel(request);
  CHECK(code_of(lists) == ErrorCode::kInvalidArgument);
  CHECK(lists.error().text.find("name its tasks in one list") != std::string::npos);

  request.Clear();
  std::string list = "0";
  for (std::uint32_t i = 1; i < 5000; ++i) list += fmt::format(",{}", i * 10 + i % 2);
  for (std::uint64_t array = 1; array <= 21; ++array) add(array, list);
  const auto runs = alice->cancel(request);
  CHECK(code_of(runs) == ErrorCode::kInvalidArgument);
  CHECK(runs.error().text.find("more than 100000 ranges") != std::string::npos);

  request.Clear();
  add(1, "0-3999999:2,1-3999999:2");
  CHECK(code_of(alice->cancel(request)) == ErrorCode::kInvalidArgument);
}

TEST_CASE("one bad job refuses the whole submission") {
  const ServerBed bed;
  const auto alice = bed.client("alice");
  v1::SubmitRequest request;
  *request.add_jobs() = job_message();
  *request.add_jobs() = job_message();
  request.mutable_jobs(1)->mutable_components(0)->set_nodes(3);
  CHECK(code_of(alice->submit(request)) == ErrorCode::kNeverFits);
  CHECK(alice->queue({})->jobs_size() == 0);
}

TEST_CASE("a stranger's cancel is refused and the owner's wakes whoever waits") {
  const ServerBed bed;
  const auto alice = bed.client("alice");
  const auto bob = bed.client("bob");
  const auto job = alice->submit_one(job_message());
  REQUIRE(job);
  v1::CancelRequest request;
  request.add_jobs(*job);
  const auto refused = bob->cancel(request);
  REQUIRE(refused);
  CHECK(refused->outcomes(0).error().name() == "permission-denied");

  Result<v1::ShowReply> waited = fail(ErrorCode::kIo, "not run");
  std::thread waiter([&] {
    v1::WaitRequest wait;
    wait.set_job(*job);
    wait.set_timeout_ms(60'000);
    waited = bob->wait(wait);
  });
  const auto cancelled = alice->cancel(request);
  waiter.join();
  REQUIRE(cancelled);
  CHECK_FALSE(cancelled->outcomes(0).has_error());
  REQUIRE(waited);
  CHECK(waited->job().state() == "CANCELLED");
  CHECK(waited->job().cause().actor_name() == "alice");
}

TEST_CASE("a wait that finds no news answers at its time with the present state") {
  const ServerBed bed;
  const auto alice = bed.client("alice");
  const auto job = alice->submit_one(job_message());
  REQUIRE(job);
  v1::WaitRequest request;
  request.set_job(*job);
  for (const std::uint32_t timeout : {0U, 20U}) {
    request.set_timeout_ms(timeout);
    const auto reply = alice->wait(request);
    REQUIRE(reply);
    CHECK(reply->job().state() == "PENDING");
  }
  request.set_known_state("RUNNING");
  request.set_timeout_ms(60'000);
  CHECK(alice->wait(request)->job().state() == "PENDING");
}

TEST_CASE("a wait for a job that is not there says so") {
  const ServerBed bed;
  v1::WaitRequest request;
  request.set_job(77);
  request.set_timeout_ms(60'000);
  CHECK(code_of(bed.client("alice")->wait(request)) == ErrorCode::kNotFound);
}

TEST_CASE("a client that hangs up while it waits leaves nothing behind") {
  ServerBed bed;
  const auto alice = bed.client("alice");
  const auto job = alice->submit_one(job_message());
  REQUIRE(job);
  const auto bob = bed.client("bob");
  v1::WaitRequest request;
  request.set_job(*job);
  request.set_timeout_ms(60'000);
  std::thread waiter([&] { CHECK_FALSE(bob->wait(request)); });
  bob->hang_up();
  waiter.join();
  bed.stop();  // hangs if the call was never finished
}

TEST_CASE("a stop sends waiting clients away") {
  ServerBed bed;
  const auto alice = bed.client("alice");
  const auto job = alice->submit_one(job_message());
  REQUIRE(job);
  v1::WaitRequest request;
  request.set_job(*job);
  request.set_timeout_ms(60'000);
  Result<v1::ShowReply> waited = v1::ShowReply{};
  std::thread waiter([&] { waited = alice->wait(request); });
  bed.stop();
  waiter.join();
  CHECK(code_of(waited) == ErrorCode::kUnavailable);
}

TEST_CASE("an acknowledged job is there after a restart, under the same number") {
  ServerBed bed;
  const auto job = bed.client("alice")->submit_one(job_message());
  REQUIRE(job);
  bed.restart();
  const auto alice = bed.client("alice");
  const auto shown = alice->show(*job);
  REQUIRE(shown);
  CHECK(shown->spec().script() == job_message().script());
  const auto next = alice->submit_one(job_message());
  REQUIRE(next);
  CHECK(*next > *job);
}

TEST_CASE("a login of before a restart is not known after it") {
  ServerBed bed;
  const std::string token = bed.client("alice")->token();
  bed.restart();
  Client client(bed.address());
  client.set_token(token);
  CHECK(code_of(client.queue({})) == ErrorCode::kUnauthenticated);
}

TEST_CASE("what the store lost and found is told to operators only") {
  const ServerBed bed;
  CHECK(code_of(bed.client("alice")->lost_and_found()) == ErrorCode::kPermissionDenied);
  const auto found = bed.client("op")->lost_and_found();
  REQUIRE(found);
  REQUIRE(found->records_size() == 1);
  CHECK(found->records(0).kind() == "job");
  CHECK(found->records(0).name() == "17");
  CHECK(found->records(0).why() == "column state has the value 99");
}

TEST_CASE("usage can be cut in known ways only") {
  const ServerBed bed;
  const auto alice = bed.client("alice");
  v1::UsageRequest request;
  request.set_by("team");
  CHECK(alice->usage(request));
  request.set_by("moon");
  const auto refused = alice->usage(request);
  CHECK(code_of(refused) == ErrorCode::kInvalidArgument);
  CHECK(refused.error().text.find("node") != std::string::npos);
}

TEST_CASE("output of a job that never ran is empty, and complete once it is over") {
  const ServerBed bed;
  const auto alice = bed.client("alice");
  const auto job = alice->submit_one(job_message());
  REQUIRE(job);
  v1::ReadOutputRequest request;
  request.set_job(*job);
  auto reply = alice->read_output(request);
  REQUIRE(reply);
  CHECK_FALSE(reply->complete());
  CHECK(reply->state() == "PENDING");
  v1::CancelRequest cancel;
  cancel.add_jobs(*job);
  REQUIRE(alice->cancel(cancel));
  reply = alice->read_output(request);
  REQUIRE(reply);
  CHECK(reply->complete());
  CHECK(reply->data().empty());
}

TEST_CASE("output is for the owner and operators") {
  const ServerBed bed;
  const auto job = bed.client("alice")->submit_one(job_message());
  REQUIRE(job);
  v1::ReadOutputRequest request;
  request.set_job(*job);
  CHECK(bed.client("op")->read_output(request));
  CHECK(code_of(bed.client("bob")->read_output(request)) == ErrorCode::kPermissionDenied);
}

}  // namespace
}  // namespace artel::ctld
