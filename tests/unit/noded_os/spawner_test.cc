#include "noded/os/spawner.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <sstream>

#include "noded/spawn/spawn_server.h"
#include "support.h"

namespace artel::noded {
namespace {

using testing::Folder;
using testing::run_until;

/// In place of step daemons: the argument is run by a shell.
int serve_shells(int channel) {
  return serve_spawns(channel, [](Spawned mine) {
    std::vector<char*> environment;
    for (std::string& entry : mine.environment) environment.push_back(entry.data());
    environment.push_back(nullptr);
    ::execle("/bin/sh", "sh", "-c", mine.argument.c_str(), nullptr, environment.data());
    return 127;
  });
}

struct Scene {
  Folder folder;
  std::filesystem::path log = folder.path() / "log";
  boost::asio::io_context loop;
  pid_t exited = 0;
  int exit_status = 0;
  int helpers_lost = 0;
  std::optional<Spawner> spawner;

  Scene() {
    auto helper = fork_spawn_helper(serve_shells);
    if (!helper) throw std::runtime_error(helper.error().text);
    spawner.emplace(loop, std::move(*helper),
                    Spawner::Events{.exited =
                                        [this](pid_t pid, int status) {
                                          exited = pid;
                                          exit_status = status;
                                        },
                                    .helper_lost = [this] { ++helpers_lost; }});
  }
  ~Scene() {
    const pid_t helper = spawner->helper_pid();
    spawner.reset();
    ::waitpid(helper, nullptr, 0);
  }

  SpawnRequest request(const std::string& command) {
    SpawnRequest out;
    out.argument = command;
    out.environment = {"PATH=/usr/bin:/bin", "ARTEL_NODE=hgx01"};
    out.listener = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    out.log = Descriptor(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    return out;
  }

  Result<pid_t> spawn(const std::string& command) {
    std::optional<Result<pid_t>> answer;
    spawner->spawn(request(command), [&](Result<pid_t> result) { answer = result; });
    if (!run_until(loop, [&] { return answer.has_value(); })) return fail(ErrorCode::kIo, "late");
    return *answer;
  }
};

bool alive(pid_t pid) { return ::kill(pid, 0) == 0; }

TEST_CASE(
    "a spawned process has a session of its own, four descriptors and the given environment") {
  Scene scene;
  const auto pid = scene.spawn(
      "ls /proc/$$/fd | tr '\\n' ' '; readlink /proc/$$/fd/0; "
      "readlink /proc/$$/fd/3 | cut -c1-7; cut -d' ' -f5,6 /proc/$$/stat; "
      "echo $ARTEL_NODE; grep SigIgn /proc/$$/status");
  REQUIRE(pid);
  REQUIRE(run_until(scene.loop, [&] { return scene.exited == *pid; }));
  CHECK(scene.exit_status == 0);
  std::istringstream lines(testing::text_of(scene.log));
  std::string line;
  std::getline(lines, line);
  CHECK(line == "0 1 2 3 /dev/null");
  std::getline(lines, line);
  CHECK(line == "socket:");
  std::getline(lines, line);
  CHECK(line == std::to_string(*pid) + " " + std::to_string(*pid));
  std::getline(lines, line);
  CHECK(line == "hgx01");
  std::getline(lines, line);
  CHECK(std::stoull(line.substr(line.find('\t')), nullptr, 16) == 0);
}

TEST_CASE("the end of a spawned process is told") {
  Scene scene;
  const auto pid = scene.spawn("exit 7");
  REQUIRE(pid);
  REQUIRE(run_until(scene.loop, [&] { return scene.exited == *pid; }));
  CHECK(WIFEXITED(scene.exit_status));
  CHECK(WEXITSTATUS(scene.exit_status) == 7);
}

TEST_CASE("what was spawned outlives helper and agent, and the loss of the helper is told") {
  Scene scene;
  const auto pid = scene.spawn("exec sleep 1000");
  REQUIRE(pid);
  REQUIRE(::kill(scene.spawner->helper_pid(), SIGKILL) == 0);
  REQUIRE(run_until(scene.loop, [&] { return scene.helpers_lost == 1; }));
  CHECK(alive(*pid));
  const auto refused = scene.spawn("true");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text == "cannot start artel-stepd true: the spawn helper is gone");
  ::kill(*pid, SIGKILL);
}

TEST_CASE("the helper leaves when the agent does, and ignores a terminal's signals before") {
  auto helper = fork_spawn_helper(serve_shells);
  REQUIRE(helper);
  ::kill(helper->pid, SIGINT);
  ::kill(helper->pid, SIGTERM);
  boost::asio::io_context loop;
  {
    Spawner spawner(loop, SpawnServer{std::move(helper->channel), helper->pid}, {});
    std::optional<Result<pid_t>> answer;
    SpawnRequest request;
    request.argument = "true";
    request.listener = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    request.log = Descriptor(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    spawner.spawn(std::move(request), [&](Result<pid_t> result) { answer = result; });
    REQUIRE(run_until(loop, [&] { return answer.has_value(); }));
    CHECK(answer->has_value());
  }
  int status = 0;
  REQUIRE(::waitpid(helper->pid, &status, 0) == helper->pid);
  CHECK(WIFEXITED(status));
}

TEST_CASE("many spawns asked for at once are all answered") {
  Scene scene;
  constexpr int kMany = 300;
  int started = 0;
  for (int i = 0; i < kMany; ++i) {
    scene.spawner->spawn(scene.request("true"), [&](const Result<pid_t>& pid) {
      if (pid) ++started;
    });
  }
  CHECK(run_until(scene.loop, [&] { return started == kMany; }));
}

}  // namespace
}  // namespace artel::noded
