#include "rpc/client.h"

#include <catch2/catch.hpp>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "fakes/fake_controller.h"
#include "wire/agent_wire.h"

namespace artel::rpc {
namespace {

using fakes::Answers;
using fakes::FakeController;

ClientOptions options(const std::string& address, Duration patience = std::chrono::seconds{20}) {
  ClientOptions out;
  out.address = address;
  out.version = "test";
  out.connect_timeout = patience;
  out.make_credential = [count = 0]() mutable -> Result<std::string> {
    return "credential" + std::to_string(++count);
  };
  return out;
}

Answers with_queue() {
  Answers answers;
  answers.queue = [](const v1::QueueRequest&) -> Result<v1::QueueReply> {
    v1::QueueReply reply;
    reply.set_now_ms(7);
    return reply;
  };
  return answers;
}

TEST_CASE("one login serves all calls of a connection") {
  FakeController controller(with_queue());
  Client client(options(controller.address()));
  REQUIRE(client.queue({}));
  REQUIRE(client.queue({}));
  CHECK(controller.logins() == std::vector<std::string>{"credential1"});
  CHECK(controller.calls() == 2);
}

TEST_CASE("a refused token leads to a new login with a new credential") {
  FakeController controller(with_queue());
  Client client(options(controller.address()));
  REQUIRE(client.queue({}));
  controller.forget_tokens();
  REQUIRE(client.queue({}));
  CHECK(controller.logins() == std::vector<std::string>{"credential1", "credential2"});
}

TEST_CASE("a token that is refused again and again ends in an error") {
  Answers answers = with_queue();
  answers.login = [](const v1::LoginRequest&) -> Result<v1::LoginReply> {
    v1::LoginReply reply;
    reply.set_protocol_version(wire::kProtocolVersion);
    reply.set_token("never-valid");
    return reply;
  };
  FakeController controller(answers);
  Client client(options(controller.address()));
  const auto reply = client.queue({});
  REQUIRE_FALSE(reply);
  CHECK(reply.error().code == ErrorCode::kUnauthenticated);
}

TEST_CASE("a call waits for a controller that is being restarted") {
  FakeController controller(with_queue());
  Client client(options(controller.address()));
  REQUIRE(client.queue({}));
  controller.stop();
  auto later = std::async(std::launch::async, [&] { return client.queue({}); });
  controller.start();
  REQUIRE(later.get());
  CHECK(controller.logins().size() == 2);
}

TEST_CASE("a submission whose answer was lost is sent again with the same token") {
  std::vector<std::string> tokens;
  Answers answers;
  answers.submit = [&tokens](const v1::SubmitRequest& request) -> Result<v1::SubmitReply> {
    tokens.push_back(request.jobs(0).client_token());
    v1::SubmitReply reply;
    reply.add_jobs(17);
    return reply;
  };
  FakeController controller(answers);
  controller.lose_answers(2);
  Client client(options(controller.address()));
  v1::SubmitRequest request;
  request.add_jobs()->set_client_token("abc");
  const auto reply = client.submit(request);
  REQUIRE(reply);
  CHECK(reply->jobs(0) == 17);
  CHECK(tokens == std::vector<std::string>{"abc", "abc", "abc"});
}

TEST_CASE("a refusal is an answer and is not asked for again") {
  Answers answers;
  answers.queue = [](const v1::QueueRequest&) -> Result<v1::QueueReply> {
    return fail(ErrorCode::kTryAgain, "busy; try again in 3 s");
  };
  FakeController controller(answers);
  Client client(options(controller.address()));
  const auto reply = client.queue({});
  REQUIRE_FALSE(reply);
  CHECK(reply.error() == Error{ErrorCode::kTryAgain, "busy; try again in 3 s"});
  CHECK(controller.calls() == 1);
}

TEST_CASE("a controller that says it is stopping is asked again") {
  int asked = 0;
  Answers answers;
  answers.wait = [&asked](const v1::WaitRequest&) -> Result<v1::ShowReply> {
    if (++asked == 1) return fail(ErrorCode::kUnavailable, "the controller is stopping");
    return v1::ShowReply{};
  };
  FakeController controller(answers);
  Client client(options(controller.address()));
  CHECK(client.wait({}));
  CHECK(asked == 2);
}

TEST_CASE("output of a node that is away is reported and not waited for") {
  Answers answers;
  answers.read_output = [](const v1::ReadOutputRequest&) -> Result<v1::ReadOutputReply> {
    return fail(ErrorCode::kUnavailable, "node hgx01 is not connected");
  };
  FakeController controller(answers);
  Client client(options(controller.address()));
  const auto reply = client.read_output({});
  REQUIRE_FALSE(reply);
  CHECK(reply.error() == Error{ErrorCode::kUnavailable, "node hgx01 is not connected"});
  CHECK(controller.calls() == 1);
}

TEST_CASE("an unreachable controller is named with its address") {
  std::string address;
  {
    const FakeController gone(with_queue());
    address = gone.address();
  }
  Client client(options(address, Duration{50}));
  const auto reply = client.queue({});
  REQUIRE_FALSE(reply);
  CHECK(reply.error().code == ErrorCode::kUnavailable);
  CHECK_THAT(reply.error().text, Catch::Contains(address));
  CHECK_THAT(reply.error().text, Catch::Contains("Connection refused"));
  CHECK_THAT(reply.error().text, !Catch::Contains("last error"));
}

TEST_CASE("without a credential nothing is sent") {
  FakeController controller(with_queue());
  ClientOptions without = options(controller.address());
  without.make_credential = []() -> Result<std::string> {
    return fail(ErrorCode::kUnauthenticated, "munged is away");
  };
  Client client(without);
  const auto reply = client.queue({});
  REQUIRE_FALSE(reply);
  CHECK(reply.error() == Error{ErrorCode::kUnauthenticated, "munged is away"});
  CHECK(controller.logins().empty());
}

TEST_CASE("another protocol version is refused with both versions named") {
  Answers answers = with_queue();
  answers.login = [](const v1::LoginRequest&) -> Result<v1::LoginReply> {
    v1::LoginReply reply;
    reply.set_protocol_version(wire::kProtocolVersion + 1);
    reply.set_token("token");
    return reply;
  };
  FakeController controller(answers);
  Client client(options(controller.address()));
  const auto reply = client.queue({});
  REQUIRE_FALSE(reply);
  CHECK(reply.error().code == ErrorCode::kProtocol);
  CHECK_THAT(reply.error().text, Catch::Contains("speaks protocol 2"));
}

TEST_CASE("a token that no header can carry is a protocol error, not a crash") {
  Answers answers = with_queue();
  answers.login = [](const v1::LoginRequest&) -> Result<v1::LoginReply> {
    v1::LoginReply reply;
    reply.set_protocol_version(wire::kProtocolVersion);
    reply.set_token(std::string("bad\0\n", 5));
    return reply;
  };
  FakeController controller(answers);
  Client client(options(controller.address()));
  const auto reply = client.queue({});
  REQUIRE_FALSE(reply);
  CHECK(reply.error().code == ErrorCode::kProtocol);
}

TEST_CASE("an interrupt ends the call that waits and those after it until resume") {
  std::promise<void> asked;
  std::promise<void> release;
  Answers answers = with_queue();
  answers.wait = [&](const v1::WaitRequest&) -> Result<v1::ShowReply> {
    asked.set_value();
    release.get_future().wait();
    return v1::ShowReply{};
  };
  FakeController controller(answers);
  Client client(options(controller.address()));
  auto waiting = std::async(std::launch::async, [&] { return client.wait({}); });
  asked.get_future().wait();
  client.interrupt();
  const auto reply = waiting.get();
  release.set_value();
  REQUIRE_FALSE(reply);
  CHECK(reply.error().code == ErrorCode::kUnavailable);
  CHECK(client.interrupted());
  CHECK_FALSE(client.queue({}));
  client.resume();
  CHECK(client.queue({}));
}

TEST_CASE("a long outage is told once, and its end") {
  FakeController controller(with_queue());
  Client client(options(controller.address()));
  REQUIRE(client.queue({}));
  client.set_patience(std::chrono::minutes{5});
  std::vector<bool> told;
  std::promise<void> broken;
  client.on_trouble([&](bool is_broken, const std::string&) {
    told.push_back(is_broken);
    if (is_broken) broken.set_value();
  });
  controller.stop();
  auto later = std::async(std::launch::async, [&] { return client.queue({}); });
  broken.get_future().wait();
  controller.start();
  REQUIRE(later.get());
  CHECK(told == std::vector<bool>{true, false});
}

}  // namespace
}  // namespace artel::rpc
