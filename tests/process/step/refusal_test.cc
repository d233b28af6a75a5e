// What is wrong is said before anything runs, or at the start, by name.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "fake_agent.h"

using namespace artel;
using namespace artel::test;

namespace {

/// Prepares a gang of one and gives the refusal.
Cause refusal(FakeGang& gang) {
  gang.prepare();
  const StepStatus status = gang.nodes[0].reach(NodePhase::kEnded);
  REQUIRE(status.end);
  CHECK(status.refused);
  CHECK(status.end->started == Time{});
  CHECK(status.end->cause.actor == Actor::kLaunch);
  CHECK(status.end->cause.node == "hgx01");
  CHECK(gang.nodes[0].forget() == 0);
  return status.end->cause;
}

bool has(const Cause& cause, const std::string& part) {
  INFO(cause.text);
  CHECK(cause.text.find(part) != std::string::npos);
  return cause.text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a program that does not exist is refused by name", "[refusal]") {
  FakeGang gang(1);
  gang.spec.argv = {"/no/such/program"};
  const Cause cause = refusal(gang);
  CHECK(cause.code == CauseCode::kExecFailed);
  CHECK(has(cause, "'/no/such/program'"));
  CHECK(has(cause, "hgx01"));
}

TEST_CASE("a program that is not in the job's PATH is refused", "[refusal]") {
  FakeGang gang(1);
  gang.spec.argv = {"no-such-program"};
  gang.spec.environment = {{"PATH", "/opt/nowhere:/usr/bin"}};
  const Cause cause = refusal(gang);
  CHECK(cause.code == CauseCode::kExecFailed);
  CHECK(has(cause, "/opt/nowhere:/usr/bin"));
}

TEST_CASE("a program without the right to execute is refused", "[refusal]") {
  FakeGang gang(1);
  std::ofstream(gang.folder.file("data")) << "no program";
  gang.spec.argv = {"./data"};
  CHECK(has(refusal(gang), "Permission denied"));
}

TEST_CASE("a folder as program is refused", "[refusal]") {
  FakeGang gang(1);
  gang.spec.argv = {"/tmp"};
  CHECK(has(refusal(gang), "is a folder"));
}

TEST_CASE("a folder as output is refused", "[refusal]") {
  FakeGang gang(1);
  gang.shell("true");
  gang.spec.output = gang.folder.path();
  const Cause cause = refusal(gang);
  CHECK(cause.code == CauseCode::kOutputFailed);
  CHECK(has(cause, "is a folder"));
}

TEST_CASE("an output in a folder that does not exist is refused and the folder is not made",
          "[refusal]") {
  FakeGang gang(1);
  gang.shell("true");
  gang.spec.output = gang.folder.file("none/out");
  CHECK(has(refusal(gang), "does not exist on hgx01"));
  CHECK_FALSE(std::filesystem::exists(gang.folder.file("none")));
}

TEST_CASE("a symbolic link as output is refused", "[refusal]") {
  FakeGang gang(1);
  gang.shell("true");
  std::filesystem::create_symlink("/etc/passwd", gang.spec.output);
  CHECK(has(refusal(gang), "symbolic link"));
}

TEST_CASE("a pipe as output is refused instead of waited for", "[refusal]") {
  FakeGang gang(1);
  gang.shell("true");
  REQUIRE(::mkfifo(gang.spec.output.c_str(), 0666) == 0);
  CHECK(refusal(gang).code == CauseCode::kOutputFailed);
}

TEST_CASE("a working directory that does not exist is refused", "[refusal]") {
  FakeGang gang(1);
  gang.shell("true");
  gang.spec.working_directory = gang.folder.file("none");
  CHECK(has(refusal(gang), "working directory"));
}

TEST_CASE("a user who does not exist on the node is refused", "[refusal]") {
  FakeGang gang(1);
  gang.shell("true");
  gang.spec.owner = {4242, 4242, "nobody-of-that-name"};
  CHECK(has(refusal(gang), "'nobody-of-that-name' does not exist on hgx01"));
}

TEST_CASE("a user with another uid on the node is refused", "[refusal]") {
  FakeGang gang(1);
  gang.shell("true");
  gang.spec.owner = {4242, 4242, "root"};
  CHECK(has(refusal(gang), "uid 0 on hgx01"));
}

TEST_CASE("scripts that the kernel cannot start are refused with the way out", "[refusal]") {
  const auto [script, part] = GENERATE(table<std::string, std::string>({
      {"echo no interpreter\n", "#!"},
      {"#!/bin/sh\r\necho windows\r\n", "dos2unix"},
      {"\xef\xbb\xbf#!/bin/sh\n", "byte order mark"},
      {"#!/no/such/shell\n", "/no/such/shell"},
      {"#!\n", "interpreter"},
  }));
  FakeGang gang(1);
  gang.spec.launch = LaunchKind::kScript;
  gang.spec.script = script;
  const Cause cause = refusal(gang);
  CHECK(cause.code == CauseCode::kExecFailed);
  CHECK(has(cause, part));
}

TEST_CASE("a program that goes missing after the check is named at the start", "[refusal]") {
  FakeGang gang(2, 2);
  const std::string program = gang.folder.file("program");
  std::filesystem::copy_file("/bin/true", program);
  gang.spec.argv = {program};
  gang.prepare();
  gang.get_ready();
  std::filesystem::remove(program);
  gang.start();
  for (const NodeEnd& end : gang.ends()) {
    CHECK(end.cause.actor == Actor::kLaunch);
    CHECK(end.cause.code == CauseCode::kExecFailed);
    CHECK(has(end.cause, program));
    CHECK(has(end.cause, "No such file"));
  }
}

TEST_CASE("a file that is no program is named at the start", "[refusal]") {
  FakeGang gang(1);
  std::ofstream(gang.folder.file("data")) << "no program";
  ::chmod(gang.folder.file("data").c_str(), 0755);
  gang.spec.argv = {"./data"};
  gang.launch();
  const NodeEnd end = gang.ends()[0];
  CHECK(end.cause.code == CauseCode::kExecFailed);
  CHECK(has(end.cause, "no '#!' line"));
}

TEST_CASE("a stop while it is ready ends it at once with the cause given", "[refusal]") {
  FakeGang gang(2);
  gang.shell("echo ran");
  gang.prepare();
  gang.get_ready();
  gang.stop({.actor = Actor::kUser, .code = CauseCode::kCancel, .actor_name = "alice"});
  for (FakeNode& node : gang.nodes) {
    const StepStatus status = node.reach(NodePhase::kEnded, std::chrono::seconds(2));
    CHECK_FALSE(status.refused);
    CHECK(status.end->cause.actor_name == "alice");
    CHECK(status.end->started == Time{});
    CHECK_FALSE(status.end->is_origin);
  }
  CHECK(gang.output().empty());
}

TEST_CASE("a stop before the prepare ends it at once", "[refusal]") {
  FakeGang gang(1);
  gang.stop({.actor = Actor::kUser, .code = CauseCode::kCancel});
  CHECK(gang.nodes[0].reach(NodePhase::kEnded).end->cause.code == CauseCode::kCancel);
  CHECK(gang.nodes[0].forget() == 0);
}

TEST_CASE("a daemon without a listening socket says how it is started", "[refusal]") {
  CHECK(WEXITSTATUS(std::system(ARTEL_STEPD " 1.0.1 3</dev/null 2>/dev/null")) == 2);
  CHECK(WEXITSTATUS(std::system(ARTEL_STEPD " nonsense 2>/dev/null")) == 2);
}
