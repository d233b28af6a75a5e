// Jobs of an ordinary user: nothing is done with root's rights.
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "fake_agent.h"

using namespace artel;
using namespace artel::test;

namespace {

/// An account for the life of the object.
class TestAccount {
 public:
  TestAccount() : name_("artelt" + std::to_string(::getpid() % 100000)) {
    const std::string command = "useradd -M -d /tmp -s /bin/sh -G tty " + name_;
    REQUIRE(std::system(command.c_str()) == 0);
  }
  ~TestAccount() {
    [[maybe_unused]] const int code = std::system(("userdel -f " + name_ + " 2>/dev/null").c_str());
  }
  TestAccount(const TestAccount&) = delete;
  TestAccount& operator=(const TestAccount&) = delete;
  [[nodiscard]] Owner owner() const {
    const passwd* entry = ::getpwnam(name_.c_str());
    REQUIRE(entry != nullptr);
    return {entry->pw_uid, entry->pw_gid, name_};
  }

 private:
  std::string name_;
};

}  // namespace

TEST_CASE("ranks run as the user with the user's groups", "[account]") {
  const TestAccount account;
  FakeGang gang(2);
  gang.spec.owner = account.owner();
  gang.shell(
      "echo $(id -u) $(id -g) $(id -Gn) $USER $HOME; umask; cat /proc/self/status | grep CapEff");
  gang.launch();
  gang.ends();
  const Owner owner = account.owner();
  const std::string output = gang.output();
  INFO(output);
  CHECK(count_lines(output, std::to_string(owner.uid) + " " + std::to_string(owner.gid)) == 2);
  CHECK(count_lines(output, "tty") == 2);
  CHECK(count_lines(output, owner.user + " /tmp") == 2);
  CHECK(count_lines(output, "0000000000000000") == 2);
}

TEST_CASE("the output file belongs to the user", "[account]") {
  const TestAccount account;
  FakeGang gang(1);
  gang.spec.owner = account.owner();
  gang.shell("echo hello");
  gang.launch();
  gang.ends();
  struct stat status{};
  REQUIRE(::stat(gang.spec.output.c_str(), &status) == 0);
  CHECK(status.st_uid == account.owner().uid);
  CHECK((status.st_mode & 0777) == 0644);
}

TEST_CASE("an output that only root may write is refused", "[account]") {
  const TestAccount account;
  FakeGang gang(1);
  gang.spec.owner = account.owner();
  gang.spec.output = gang.folder.file("locked/out");
  std::filesystem::create_directory(gang.folder.file("locked"));
  gang.shell("echo hello");
  gang.prepare();
  const StepStatus status = gang.nodes[0].reach(NodePhase::kEnded);
  CHECK(status.refused);
  CHECK(status.end->cause.code == CauseCode::kOutputFailed);
  CHECK(status.end->cause.text.find("Permission denied") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(gang.spec.output));
}

TEST_CASE("a working directory that the user may not enter is refused", "[account]") {
  const TestAccount account;
  FakeGang gang(1);
  gang.spec.owner = account.owner();
  gang.spec.working_directory = gang.folder.file("closed");
  std::filesystem::create_directory(gang.spec.working_directory);
  ::chmod(gang.spec.working_directory.c_str(), 0700);
  gang.shell("echo hello");
  gang.prepare();
  const StepStatus status = gang.nodes[0].reach(NodePhase::kEnded);
  CHECK(status.refused);
  CHECK(status.end->cause.text.find("cannot enter working directory") != std::string::npos);
}

TEST_CASE("a program that the user may not execute is refused", "[account]") {
  const TestAccount account;
  FakeGang gang(1);
  gang.spec.owner = account.owner();
  const std::string program = gang.folder.file("mine");
  std::filesystem::copy_file("/bin/true", program);
  ::chmod(program.c_str(), 0700);
  gang.spec.argv = {program};
  gang.prepare();
  const StepStatus status = gang.nodes[0].reach(NodePhase::kEnded);
  CHECK(status.end->cause.code == CauseCode::kExecFailed);
  CHECK(status.end->cause.text.find("Permission denied") != std::string::npos);
}

TEST_CASE("a script is the user's, closed to others, and runs from a folder closed to others",
          "[account]") {
  const TestAccount account;
  FakeGang gang(1);
  gang.spec.owner = account.owner();
  gang.spec.launch = LaunchKind::kScript;
  gang.spec.script =
      "#!/bin/sh\nstat -c '%U %a' \"$0\"; ls " + gang.nodes[0].directory() + " 2>&1\n";
  gang.launch();
  gang.ends();
  CHECK(gang.output().find(account.owner().user + " 500\n") == 0);
  CHECK(gang.output().find("Permission denied") != std::string::npos);
}

#ifdef ARTEL_MPI_PROBE
TEST_CASE("MPI ranks of an ordinary user are one world", "[account]") {
  const TestAccount account;
  FakeGang gang(2, 2);
  gang.spec.owner = account.owner();
  gang.spec.launch = LaunchKind::kPmix;
  // A copy, since the build folder may be closed to others.
  const std::string program = gang.folder.file("mpi_probe");
  std::filesystem::copy_file(ARTEL_MPI_PROBE, program);
  gang.spec.argv = {program};
  gang.launch();
  const auto ends = gang.ends(std::chrono::seconds(60));
  INFO(gang.output());
  CHECK(ends[1].cause.text == "all 4 ranks ended with exit code 0");
  CHECK(count_lines(gang.output(), "of 4 node") == 4);
}
#endif
