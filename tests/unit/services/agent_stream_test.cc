// Streams of agents through a real gRPC server: handshake, commands, events, clocks, output.
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <variant>

#include "fakes/agent.h"
#include "fakes/server_bed.h"
#include "wire/agent_wire.h"

namespace artel::ctld {
namespace {

using fakes::Agent;
using fakes::Client;
using fakes::job_message;
using fakes::ServerBed;

const rpc::NodeKey kWrongKey(std::array<unsigned char, rpc::kKeyBytes>{1, 2, 3});

v1::NodeView node(Client& client, int index) {
  const auto reply = client.nodes({});
  REQUIRE(reply);
  return reply->nodes(index);
}

/// Asks until the node is so; each question is a round trip, so this does not spin.
bool becomes(Client& client, int index, const std::string& contact) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < deadline) {
    if (node(client, index).contact() == contact) return true;
  }
  return false;
}

/// Reads the next command as one of this kind.
template <typename Command>
Command next(Agent& agent) {
  const auto command = agent.next_command();
  REQUIRE(command);
  REQUIRE(std::holds_alternative<Command>(*command));
  return std::get<Command>(*command);
}

/// A started one-node job of alice on n1.
std::uint64_t start_job(Client& alice, Agent& agent, const v1::JobSpec& spec) {
  const auto job = alice.submit_one(spec);
  REQUIRE(job);
  const auto prepare = next<Prepare>(agent);
  agent.send(FromAgent(AttemptReady{prepare.spec.key, 4711}));
  const auto start = next<StartAttempt>(agent);
  CHECK(start.key == prepare.spec.key);
  agent.send(FromAgent(AttemptStarted{start.key, time_from_ms(1)}));
  v1::WaitRequest wait;
  wait.set_job(*job);
  wait.set_timeout_ms(30'000);
  for (std::string state = "PENDING"; state != "RUNNING";) {
    wait.set_known_state(state);
    const auto reply = alice.wait(wait);
    REQUIRE(reply);
    state = reply->job().state();
  }
  return *job;
}

TEST_CASE("an agent with the node's key is in contact") {
  const ServerBed bed;
  Agent agent(bed.address(), "n1");
  REQUIRE(agent.connect(bed.key("n1"), bed.hello("n1")));
  const auto alice = bed.client("alice");
  REQUIRE(becomes(*alice, 0, "up"));
  CHECK(node(*alice, 0).boot_id() == "boot-1");
  CHECK(node(*alice, 1).contact() == "unknown");
}

TEST_CASE("an agent with a wrong key is refused and stays without effect") {
  const ServerBed bed;
  Agent agent(bed.address(), "n1");
  const auto challenge = agent.open(wire::kProtocolVersion);
  REQUIRE(challenge);
  agent.prove(kWrongKey, *challenge, bed.hello("n1"));
  const auto closed = agent.next();
  REQUIRE_FALSE(closed);
  CHECK(closed.error().code == ErrorCode::kUnauthenticated);
  CHECK(node(*bed.client("alice"), 0).contact() == "unknown");
}

TEST_CASE("a node's key does not speak for another node") {
  const ServerBed bed;
  Agent agent(bed.address(), "n2");
  const auto challenge = agent.open(wire::kProtocolVersion);
  REQUIRE(challenge);
  agent.prove(bed.key("n1"), *challenge, bed.hello("n2"));
  const auto closed = agent.next();
  REQUIRE_FALSE(closed);
  CHECK(closed.error().code == ErrorCode::kUnauthenticated);
}

TEST_CASE("the controller proves that it holds the key too") {
  const ServerBed bed;
  Agent agent(bed.address(), "n1");
  const auto challenge = agent.open(wire::kProtocolVersion);
  REQUIRE(challenge);
  const auto right = rpc::controller_proof(bed.key("n1"), agent.challenge(), "n1");
  CHECK(rpc::same_proof(right, challenge->proof()));
  CHECK_FALSE(rpc::same_proof(rpc::controller_proof(kWrongKey, agent.challenge(), "n1"),
                              challenge->proof()));
}

TEST_CASE("a node that is not configured is refused by name") {
  const ServerBed bed;
  for (const char* name : {"n9", "../n1", ""}) {
    Agent agent(bed.address(), name);
    const auto closed = agent.open(wire::kProtocolVersion);
    REQUIRE_FALSE(closed);
    CHECK(closed.error().code == ErrorCode::kUnauthenticated);
  }
}

TEST_CASE("an agent of another protocol version is told both versions") {
  const ServerBed bed;
  Agent agent(bed.address(), "n1");
  const auto closed = agent.open(wire::kProtocolVersion + 1);
  REQUIRE_FALSE(closed);
  CHECK(closed.error().code == ErrorCode::kProtocol);
  CHECK(closed.error().text.find("protocol 2") != std::string::npos);
}

TEST_CASE("events before the proof are refused") {
  const ServerBed bed;
  Agent agent(bed.address(), "n1");
  agent.send(FromAgent(AttemptReady{{JobId{1}, TaskIndex{0}, AttemptNo{1}}, 1}));
  const auto closed = agent.next();
  REQUIRE_FALSE(closed);
  CHECK(closed.error().code == ErrorCode::kProtocol);
}

TEST_CASE("an agent that does not identify itself is sent away in time") {
  const ServerBed bed([](ServerOptions& options) {
    options.agent_handshake = Duration{1};
    options.agent_sweep = Duration{5};
  });
  Agent agent(bed.address(), "n1");
  (void)agent.open(wire::kProtocolVersion);
  CHECK_FALSE(agent.next());
}

TEST_CASE("a newer stream of a node ends the older one") {
  const ServerBed bed;
  Agent older(bed.address(), "n1");
  REQUIRE(older.connect(bed.key("n1"), bed.hello("n1")));
  const auto alice = bed.client("alice");
  REQUIRE(becomes(*alice, 0, "up"));
  Agent newer(bed.address(), "n1");
  REQUIRE(newer.connect(bed.key("n1"), bed.hello("n1")));
  const auto closed = older.next();
  REQUIRE_FALSE(closed);
  CHECK(closed.error().code == ErrorCode::kWrongState);
  start_job(*alice, newer, job_message());
  CHECK(node(*alice, 0).contact() == "up");
}

TEST_CASE("a broken stream is lost contact") {
  const ServerBed bed;
  const auto alice = bed.client("alice");
  Agent agent(bed.address(), "n1");
  REQUIRE(agent.connect(bed.key("n1"), bed.hello("n1")));
  REQUIRE(becomes(*alice, 0, "up"));
  agent.vanish();
  CHECK(becomes(*alice, 0, "lost"));
}

TEST_CASE("a silent agent is lost contact, and heartbeats go its way before") {
  const ServerBed bed([](ServerOptions& options) {
    options.agent_beat = Duration{1};
    options.agent_silence = Duration{200};
    options.agent_sweep = Duration{5};
  });
  const auto alice = bed.client("alice");
  Agent agent(bed.address(), "n1");
  REQUIRE(agent.connect(bed.key("n1"), bed.hello("n1")));
  const auto beat = agent.next_raw();
  REQUIRE(beat);
  CHECK(beat->has_heartbeat());
  CHECK(becomes(*alice, 0, "lost"));
}

TEST_CASE("the offset of a node's clock is shown") {
  const ServerBed bed;
  const auto alice = bed.client("alice");
  Agent agent(bed.address(), "n1");
  REQUIRE(agent.connect(bed.key("n1"), bed.hello("n1")));
  REQUIRE(becomes(*alice, 0, "up"));
  const auto an_hour_ahead = std::chrono::system_clock::now() + std::chrono::hours(1);
  v1::AgentMessage beat;
  beat.mutable_heartbeat()->set_sent_ms(
      to_ms(std::chrono::time_point_cast<Duration>(an_hour_ahead)));
  agent.send(beat);
  std::int64_t offset = 0;
  for (int i = 0; i < 10'000 && offset == 0; ++i) offset = node(*alice, 0).clock_offset_ms();
  CHECK(offset > 3'500'000);
  CHECK(offset <= 3'600'000);
}

TEST_CASE("a job runs through both phases and its end is recorded once it is committed") {
  const ServerBed bed;
  const auto alice = bed.client("alice");
  Agent agent(bed.address(), "n1");
  REQUIRE(agent.connect(bed.key("n1"), bed.hello("n1")));
  const std::uint64_t job = start_job(*alice, agent, job_message());
  CHECK(node(*alice, 0).jobs(0) == job);
  const AttemptKey key{JobId{job}, TaskIndex{0}, AttemptNo{1}};
  NodeEnd end{.started = time_from_ms(1), .ended = time_from_ms(2), .cause = {}};
  end.cause = {
      .actor = Actor::kApplication, .code = CauseCode::kExit, .node = "n1", .text = "done"};
  end.is_origin = true;
  agent.send(FromAgent(AttemptEnded{key, end}));
  CHECK(next<ForgetAttempt>(agent).key == key);
  const auto shown = alice->show(job);
  REQUIRE(shown);
  CHECK(shown->state() == "COMPLETED");
  REQUIRE(shown->attempts_size() == 1);
  CHECK(shown->attempts(0).parts(0).node() == "n1");
}

TEST_CASE("output is read from the node where the job writes it") {
  const ServerBed bed;
  const auto alice = bed.client("alice");
  Agent agent(bed.address(), "n1");
  REQUIRE(agent.connect(bed.key("n1"), bed.hello("n1")));
  v1::JobSpec spec = job_message();
  spec.set_output("out-%j.txt");
  const std::uint64_t job = start_job(*alice, agent, spec);
  v1::ReadOutputRequest request;
  request.set_job(job);
  request.set_offset_bytes(3);
  Result<v1::ReadOutputReply> reply = v1::ReadOutputReply{};
  std::thread reader([&] { reply = alice->read_output(request); });
  const auto asked = agent.next();
  REQUIRE(asked);
  REQUIRE(asked->has_read_output());
  const v1::ReadOutput& question = asked->read_output();
  CHECK(question.path() == "/home/alice/out-" + std::to_string(job) + ".txt");
  CHECK(question.owner().uid() == 1001);
  CHECK(question.offset_bytes() == 3);
  v1::AgentMessage answer;
  answer.mutable_output()->set_request(question.request());
  answer.mutable_output()->set_data("lo");
  answer.mutable_output()->set_file_size_bytes(5);
  agent.send(answer);
  reader.join();
  REQUIRE(reply);
  CHECK(reply->data() == "lo");
  CHECK(reply->file_size_bytes() == 5);
  CHECK(reply->state() == "RUNNING");
  CHECK_FALSE(reply->complete());
}

TEST_CASE("a read of output ends with its agent, or at its time") {
  const ServerBed bed([](ServerOptions& options) {
    options.output_timeout = Duration{20};
    options.agent_sweep = Duration{5};
  });
  const auto alice = bed.client("alice");
  Agent agent(bed.address(), "n1");
  REQUIRE(agent.connect(bed.key("n1"), bed.hello("n1")));
  const std::uint64_t job = start_job(*alice, agent, job_message());
  v1::ReadOutputRequest request;
  request.set_job(job);
  const auto late = alice->read_output(request);
  REQUIRE_FALSE(late);
  CHECK(late.error().code == ErrorCode::kUnavailable);
  agent.vanish();
  REQUIRE(becomes(*alice, 0, "lost"));
  const auto gone = alice->read_output(request);
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code == ErrorCode::kUnavailable);
  CHECK(gone.error().text.find("n1") != std::string::npos);
}

TEST_CASE("a stop tells agents and leaves their work alone") {
  ServerBed bed;
  const auto alice = bed.client("alice");
  Agent agent(bed.address(), "n1");
  REQUIRE(agent.connect(bed.key("n1"), bed.hello("n1")));
  start_job(*alice, agent, job_message());
  bed.stop();
  const auto closed = agent.next();
  REQUIRE_FALSE(closed);
  CHECK(closed.error().code == ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace artel::ctld
