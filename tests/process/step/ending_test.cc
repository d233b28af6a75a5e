// Ends that go wrong: the first cause is named on all nodes, and nothing is left anywhere.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>

#include "fake_agent.h"

using namespace artel;
using namespace artel::test;

namespace {

using Clock = std::chrono::steady_clock;

const Cause kCancelled{.actor = Actor::kUser,
                       .code = CauseCode::kCancel,
                       .actor_name = "alice",
                       .text = "cancelled by alice"};

/// Pid that rank `rank` wrote as "pid RANK PID".
pid_t pid_of_rank(FakeGang& gang, int rank) {
  const std::string mark = "pid " + std::to_string(rank) + " ";
  gang.wait_for_output(mark);
  const std::string output = gang.output();
  pid_t pid = 0;
  REQUIRE(eventually([&] {
    const std::string now = gang.output();
    const std::size_t at = now.find(mark);
    const std::size_t end = now.find('\n', at);
    if (end == std::string::npos) return false;
    pid = std::stoi(now.substr(at + mark.size(), end - at - mark.size()));
    return true;
  }));
  return pid;
}

void check_all(const std::vector<NodeEnd>& ends, const Cause& cause, std::size_t origin) {
  for (std::size_t i = 0; i < ends.size(); ++i) {
    CHECK(ends[i].cause == cause);
    CHECK(ends[i].is_origin == (i == origin));
  }
}

}  // namespace

TEST_CASE("a rank that fails ends the gang with rank, node and code", "[ending]") {
  FakeGang gang(3, 2);
  gang.shell("[ $RANK = 3 ] && exit 7; sleep 100");
  gang.launch();
  const auto begun = Clock::now();
  check_all(gang.ends(),
            {.actor = Actor::kApplication,
             .code = CauseCode::kExit,
             .node = "hgx02",
             .rank = 3,
             .exit_code = 7,
             .text = "rank 3 on hgx02 ended with exit code 7"},
            1);
  CHECK(Clock::now() - begun < std::chrono::seconds(5));
  CHECK(gang.marked().empty());
}

TEST_CASE("kill -9 of one rank ends all ranks on all nodes within 5 s, without the agents",
          "[ending]") {
  FakeGang gang(4, 2);
  gang.shell("trap '' TERM; echo pid $RANK $$; while :; do sleep 1; done");
  gang.launch();
  for (int rank = 0; rank < 8; ++rank) pid_of_rank(gang, rank);
  for (FakeNode& node : gang.nodes) node.disconnect();
  ::kill(pid_of_rank(gang, 5), SIGKILL);
  CHECK(eventually([&] { return gang.marked().empty(); }, std::chrono::seconds(5)));
  for (FakeNode& node : gang.nodes) node.connect();
  check_all(gang.ends(),
            {.actor = Actor::kApplication,
             .code = CauseCode::kSignal,
             .node = "hgx03",
             .rank = 5,
             .signal = 9,
             .text = "rank 5 on hgx03 was killed by signal 9 (KILL)"},
            2);
}

TEST_CASE("a failing rank of the first node ends the gang, too", "[ending]") {
  FakeGang gang(2);
  gang.shell("[ $RANK = 0 ] && exit 3; sleep 100");
  gang.launch();
  const auto ends = gang.ends();
  CHECK(ends[1].cause.node == "hgx01");
  CHECK(ends[0].is_origin);
}

TEST_CASE("all nodes agree on one first cause when several ranks fail together", "[ending]") {
  FakeGang gang(4, 2);
  gang.shell("exit $((RANK + 10))");
  gang.launch();
  const auto ends = gang.ends();
  int origins = 0;
  for (const NodeEnd& end : ends) {
    CHECK(end.cause == ends[0].cause);
    if (end.is_origin) ++origins;
  }
  CHECK(origins == 1);
}

TEST_CASE("what a failing rank wrote last reaches the output", "[ending]") {
  FakeGang gang(2);
  gang.shell("[ $RANK = 1 ] && { echo last words; exit 1; }; sleep 100");
  gang.launch();
  gang.ends();
  CHECK(gang.output() == "last words\n");
}

TEST_CASE("a failing script is named as such", "[ending]") {
  FakeGang gang(1);
  gang.spec.launch = LaunchKind::kScript;
  gang.spec.script = "#!/bin/sh\nexit 9\n";
  gang.launch();
  const Cause cause = gang.ends()[0].cause;
  CHECK(cause.text == "the script on hgx01 ended with exit code 9");
  CHECK_FALSE(cause.rank);
}

TEST_CASE("a cancelled gang gets TERM and time to leave", "[ending]") {
  FakeGang gang(2, 2);
  gang.shell("trap 'echo saved $RANK; exit 0' TERM; echo here $RANK; while :; do sleep 0.05; done");
  gang.launch();
  for (int rank = 0; rank < 4; ++rank) gang.wait_for_output("here " + std::to_string(rank));
  gang.stop(kCancelled);
  for (const NodeEnd& end : gang.ends()) CHECK(end.cause == kCancelled);
  CHECK(count_lines(gang.output(), "saved") == 4);
}

TEST_CASE("a cancel that reaches one node only ends the whole gang", "[ending]") {
  FakeGang gang(2);
  gang.shell("echo here $RANK; sleep 100");
  gang.launch();
  gang.wait_for_output("here 0");
  gang.wait_for_output("here 1");
  gang.nodes[1].send(StepStop{kCancelled, false});
  for (const NodeEnd& end : gang.ends()) CHECK(end.cause == kCancelled);
}

TEST_CASE("whoever ignores TERM is killed when the grace is over", "[ending]") {
  FakeGang gang(1);
  gang.spec.grace = std::chrono::milliseconds(600);
  gang.shell("trap '' TERM; echo here; while :; do sleep 1; done");
  gang.launch();
  gang.wait_for_output("here");
  const auto begun = Clock::now();
  gang.stop(kCancelled);
  gang.ends();
  CHECK(Clock::now() - begun >= std::chrono::milliseconds(600));
  CHECK(Clock::now() - begun < std::chrono::seconds(5));
  CHECK(gang.marked().empty());
}

TEST_CASE("an immediate stop does not wait for the grace, even after a patient one", "[ending]") {
  FakeGang gang(1);
  gang.spec.grace = std::chrono::hours(1);
  gang.shell("trap '' TERM; echo here; while :; do sleep 1; done");
  gang.launch();
  gang.wait_for_output("here");
  gang.stop(kCancelled);
  CHECK(gang.nodes[0].reach(NodePhase::kEnding).phase == NodePhase::kEnding);
  gang.stop(kCancelled, true);
  CHECK(gang.ends(std::chrono::seconds(5))[0].cause == kCancelled);
}

TEST_CASE("a stopped process hears TERM", "[ending]") {
  FakeGang gang(1);
  gang.spec.grace = std::chrono::hours(1);
  gang.shell("echo here; kill -STOP $$; sleep 100");
  gang.launch();
  gang.wait_for_output("here");
  gang.stop(kCancelled);
  CHECK(gang.ends(std::chrono::seconds(5))[0].cause == kCancelled);
}

TEST_CASE("the time limit ends the gang without anybody's help", "[ending]") {
  FakeGang gang(2);
  gang.spec.time_limit = std::chrono::seconds(1);
  gang.shell("sleep 100");
  gang.launch();
  for (FakeNode& node : gang.nodes) node.reach(NodePhase::kRunning);
  const auto ends = gang.ends();
  for (const NodeEnd& end : ends) {
    CHECK(end.cause.actor == Actor::kLimit);
    CHECK(end.cause.code == CauseCode::kTimeLimit);
    CHECK(end.cause.text == "time limit of 1s reached");
    CHECK(end.ended - end.started >= std::chrono::milliseconds(900));
  }
  CHECK(gang.marked().empty());
}

TEST_CASE("children in sessions of their own do not outlive a good end", "[ending]") {
  FakeGang gang(2);
  gang.shell("(setsid sleep 300 &) ; setsid sh -c 'trap \"\" TERM; sleep 300' & echo done");
  gang.launch();
  for (const NodeEnd& end : gang.ends()) CHECK(end.cause.exit_code == 0);
  CHECK(gang.marked().empty());
}

TEST_CASE("children in sessions of their own do not outlive a cancel", "[ending]") {
  FakeGang gang(1);
  gang.spec.grace = std::chrono::milliseconds(300);
  gang.shell(
      "(setsid sh -c 'trap \"\" TERM; (setsid sh -c \"trap : TERM; while :; do sleep 1; done\" &); "
      "while :; do sleep 1; done' &) ; echo here; sleep 300");
  gang.launch();
  gang.wait_for_output("here");
  gang.stop(kCancelled);
  gang.ends();
  CHECK(gang.marked().empty());
}

// What such a daemon leaves behind its ranks is swept by the agent, by the mark in the environment.
TEST_CASE("the loss of a step daemon ends the gang and names its node", "[ending]") {
  FakeGang gang(3);
  gang.shell("echo here $RANK; exec sleep 100");
  gang.launch();
  for (int rank = 0; rank < 3; ++rank) gang.wait_for_output("here " + std::to_string(rank));
  ::kill(gang.nodes[1].pid(), SIGKILL);
  for (const std::size_t i : {0U, 2U}) {
    const StepStatus status = gang.nodes[i].reach(NodePhase::kEnded);
    CHECK(status.end->cause.actor == Actor::kNode);
    CHECK(status.end->cause.code == CauseCode::kStepLost);
    CHECK(status.end->cause.node == "hgx02");
    CHECK_FALSE(status.end->is_origin);
  }
  CHECK(eventually([&] { return gang.marked().empty(); }, std::chrono::seconds(5)));
}

TEST_CASE("the loss of the first node's daemon ends the others", "[ending]") {
  FakeGang gang(2);
  gang.shell("echo here $RANK; exec sleep 100");
  gang.launch();
  gang.wait_for_output("here 1");
  ::kill(gang.nodes[0].pid(), SIGKILL);
  const StepStatus status = gang.nodes[1].reach(NodePhase::kEnded);
  CHECK(status.end->cause.code == CauseCode::kStepLost);
  CHECK(status.end->cause.node == "hgx01");
  CHECK(eventually([&] { return gang.marked().empty(); }, std::chrono::seconds(5)));
}

TEST_CASE("a step daemon that is told to end takes its ranks along", "[ending]") {
  FakeGang gang(1);
  gang.shell("echo here; sleep 100");
  gang.launch();
  gang.wait_for_output("here");
  ::kill(gang.nodes[0].pid(), SIGTERM);
  CHECK(gang.ends()[0].cause.code == CauseCode::kStepLost);
  CHECK(gang.marked().empty());
}

TEST_CASE("CPU time and memory of all processes are counted", "[ending]") {
  FakeGang gang(1);
  gang.shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done");
  gang.launch();
  const NodeEnd end = gang.ends()[0];
  CHECK(end.cpu_ms > 10);
  CHECK(end.max_rss.value > 100'000);
}
