#include "noded/step/causes.h"

#include <sys/wait.h>

#include <catch2/catch.hpp>

using namespace artel;
using namespace artel::step;

namespace {

LaunchSpec spec_of(LaunchKind launch) {
  LaunchSpec spec;
  spec.nodes = {"hgx01", "hgx02"};
  spec.node_index = 1;
  spec.ranks_per_node = 2;
  spec.launch = launch;
  return spec;
}

constexpr int exited(int code) { return code << 8; }

}  // namespace

TEST_CASE("an exit with code 0 is no cause", "[step]") {
  CHECK_FALSE(cause_of_exit(spec_of(LaunchKind::kPlain), 1, exited(0), false));
}

TEST_CASE("an exit with another code names rank, node and code", "[step]") {
  const auto cause = cause_of_exit(spec_of(LaunchKind::kPlain), 1, exited(7), false);
  REQUIRE(cause);
  CHECK(cause->code == CauseCode::kExit);
  CHECK(cause->rank == 3U);
  CHECK(cause->exit_code == 7);
  CHECK(cause->text == "rank 3 on hgx02 ended with exit code 7");
}

TEST_CASE("a signal names rank, node and signal, with or without a core", "[step]") {
  constexpr int kCore = 0x80;
  const auto cause = cause_of_exit(spec_of(LaunchKind::kPmix), 0, 11 | kCore, true);
  REQUIRE(cause);
  CHECK(cause->signal == 11);
  CHECK(cause->text == "rank 2 on hgx02 was killed by signal 11 (SEGV)");
}

TEST_CASE("an exit with code 0 before MPI_Finalize is a cause", "[step]") {
  const auto cause = cause_of_exit(spec_of(LaunchKind::kPmix), 0, exited(0), true);
  REQUIRE(cause);
  CHECK(cause->code == CauseCode::kLeftEarly);
}

TEST_CASE("a script has no rank", "[step]") {
  const auto cause = cause_of_exit(spec_of(LaunchKind::kScript), 0, exited(1), false);
  REQUIRE(cause);
  CHECK_FALSE(cause->rank);
  CHECK(cause->text == "the script on hgx02 ended with exit code 1");
}

TEST_CASE("who is stopped by somebody gets the job's grace, who failed gets little", "[step]") {
  const Duration grace = std::chrono::seconds(30);
  for (const Actor actor : {Actor::kUser, Actor::kLimit, Actor::kPreemption, Actor::kHealth}) {
    CHECK(grace_for({.actor = actor}, grace) == grace);
  }
  for (const Actor actor : {Actor::kApplication, Actor::kNode, Actor::kLaunch}) {
    CHECK(grace_for({.actor = actor}, grace) == Duration(kCrashGrace));
    CHECK(grace_for({.actor = actor}, Duration(5)) == Duration(5));
  }
}

TEST_CASE("texts lose what messages cannot carry", "[step]") {
  CHECK(printable("größe €😀") == "größe €😀");
  CHECK(printable("a\nb\x01"
                  "c\x7f") == "a?b?c?");
  CHECK(printable("\xff\xc3(\xe2\x82") ==
        "?"
        "?("
        "?"
        "?");
  CHECK(printable("\xed\xa0\x80\xc0\x80") == "?????");
}

TEST_CASE("success is told in the words of the launch", "[step]") {
  CHECK(cause_of_success(spec_of(LaunchKind::kPlain)).text == "all 4 ranks ended with exit code 0");
  CHECK(cause_of_success(spec_of(LaunchKind::kScript)).text == "the script ended with exit code 0");
  LaunchSpec one = spec_of(LaunchKind::kPlain);
  one.nodes = {"hgx01"};
  one.node_index = 0;
  one.ranks_per_node = 1;
  CHECK(cause_of_success(one).text == "the program ended with exit code 0");
}
