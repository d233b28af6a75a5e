#include "cli/follow.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <string>
#include <vector>

#include "cli/interrupts.h"
#include "cli/job_exit.h"
#include "fakes/fake_controller.h"
#include "rpc/client.h"
#include "unit/cli/views.h"

namespace artel::cli {
namespace {

using fakes::Answers;
using fakes::FakeController;

rpc::ClientOptions options(const FakeController& controller) {
  rpc::ClientOptions out;
  out.address = controller.address();
  out.make_credential = []() -> Result<std::string> { return "credential"; };
  return out;
}

/// Gives one scripted answer after the other.
template <typename Reply>
auto in_order(std::vector<Result<Reply>> replies) {
  return [replies = std::move(replies), next = std::size_t{0}](const auto&) mutable {
    REQUIRE(next < replies.size());
    return replies[next++];
  };
}

Result<v1::ShowReply> shown(const std::string& state) {
  v1::ShowReply reply;
  *reply.mutable_job() = job_view(17, state);
  return reply;
}

Result<v1::ReadOutputReply> piece(const std::string& data, std::uint64_t size, bool complete,
                                  const std::string& path = "/out") {
  v1::ReadOutputReply reply;
  reply.set_data(data);
  reply.set_file_size_bytes(size);
  reply.set_complete(complete);
  reply.set_path(path);
  reply.set_state(complete ? "COMPLETED" : "RUNNING");
  return reply;
}

TEST_CASE("waiting asks at once first and then for news of the known state") {
  std::vector<v1::WaitRequest> asked;
  Answers answers;
  answers.wait = [&asked, give = in_order<v1::ShowReply>({shown("PENDING"), shown("RUNNING"),
                                                          shown("RUNNING"), shown("COMPLETED")})](
                     const v1::WaitRequest& request) mutable {
    asked.push_back(request);
    return give(request);
  };
  FakeController controller(answers);
  Interrupts interrupts;
  rpc::Client client(options(controller));
  std::vector<std::string> told;
  const auto ended = wait_for(client, interrupts, 17, is_final_state,
                              [&](const v1::JobView& job) { told.push_back(job.state()); });
  REQUIRE(ended);
  CHECK(ended->state() == "COMPLETED");
  CHECK(told == std::vector<std::string>{"PENDING", "RUNNING", "COMPLETED"});
  REQUIRE(asked.size() == 4);
  CHECK((asked[0].timeout_ms() == 0 && asked[0].known_state().empty()));
  CHECK((asked[1].timeout_ms() > 0 && asked[1].known_state() == "PENDING"));
  CHECK(asked[3].known_state() == "RUNNING");
}

TEST_CASE("a change of the reason is told while the state stays") {
  auto first = shown("PENDING");
  auto second = shown("PENDING");
  second->mutable_job()->mutable_wait()->set_text("needs 4 nodes, 2 free");
  Answers answers;
  answers.wait = in_order<v1::ShowReply>({first, second, second, shown("CANCELLED")});
  FakeController controller(answers);
  Interrupts interrupts;
  rpc::Client client(options(controller));
  int told = 0;
  REQUIRE(wait_for(client, interrupts, 17, is_final_state, [&](const v1::JobView&) { ++told; }));
  CHECK(told == 3);
}

struct Read {
  std::string text;
  Result<> result;
};

Read read_all(Answers answers) {
  FakeController controller(std::move(answers));
  Interrupts interrupts;
  rpc::Client client(options(controller));
  Read read;
  OutputReader reader(client, 17, false, [&read](std::string_view text) -> Result<> {
    read.text += text;
    return {};
  });
  read.result = follow_output({&reader}, interrupts, [] { return false; });
  return read;
}

TEST_CASE("output is read piece by piece from where it was left until it is complete") {
  std::vector<std::uint64_t> offsets;
  Answers answers;
  answers.read_output = [&offsets,
                         give = in_order<v1::ReadOutputReply>(
                             {piece("abc", 3, false), piece("", 3, false), piece("de", 5, true)})](
                            const v1::ReadOutputRequest& request) mutable {
    offsets.push_back(request.offset_bytes());
    return give(request);
  };
  const Read read = read_all(answers);
  CHECK(read.result);
  CHECK(read.text == "abcde");
  CHECK(offsets == std::vector<std::uint64_t>{0, 3, 3});
}

TEST_CASE("a file that shrank or has another name is read from its start") {
  Answers shrunk;
  shrunk.read_output = in_order<v1::ReadOutputReply>(
      {piece("first", 5, false), piece("", 2, false), piece("2n", 2, true)});
  CHECK(read_all(shrunk).text == "first2n");
  Answers renamed;
  renamed.read_output =
      in_order<v1::ReadOutputReply>({piece("first", 5, false), piece("xx", 9, false, "/out.2"),
                                     piece("second", 6, true, "/out.2")});
  CHECK(read_all(renamed).text == "firstsecond");
}

TEST_CASE("a node that is away is waited for while the job goes on") {
  Answers answers;
  answers.show = [](const v1::ShowRequest&) { return shown("RUNNING"); };
  answers.read_output = in_order<v1::ReadOutputReply>(
      {piece("a", 1, false), fail(ErrorCode::kUnavailable, "node hgx01 is not connected"),
       piece("b", 2, true)});
  const Read read = read_all(answers);
  CHECK(read.result);
  CHECK(read.text == "ab");
}

TEST_CASE("a refusal to read ends the following") {
  Answers answers;
  answers.read_output =
      in_order<v1::ReadOutputReply>({fail(ErrorCode::kPermissionDenied, "not yours")});
  const Read read = read_all(answers);
  REQUIRE_FALSE(read.result);
  CHECK(read.result.error().text == "not yours");
}

TEST_CASE("pauses grow while nothing comes and shrink with news") {
  Pace pace;
  CHECK(pace.next(true) == Pace::kShortest);
  Duration last{0};
  for (int i = 0; i < 20; ++i) {
    const Duration pause = pace.next(false);
    CHECK(pause >= last);
    last = pause;
  }
  CHECK(last == Pace::kLongest);
  CHECK(pace.next(true) == Pace::kShortest);
}

TEST_CASE("signals are counted, and end a pause") {
  Interrupts interrupts;
  std::vector<int> seen;
  interrupts.on_signal([&seen] { seen.push_back(1); });
  REQUIRE(::kill(::getpid(), SIGINT) == 0);
  while (interrupts.count() == 0) interrupts.sleep(Duration{10});
  CHECK(interrupts.last() == SIGINT);
  CHECK(seen.size() == 1);
}

}  // namespace
}  // namespace artel::cli
