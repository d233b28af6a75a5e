#include "noded/os/sweeper.h"

#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "support.h"

namespace artel::noded {
namespace {

using testing::Folder;
using testing::key_of;
using testing::run_until;

/// A child of the test that is killed at the latest when this goes.
class Child {
 public:
  explicit Child(const std::vector<std::string>& argv, std::vector<std::string> environment)
      : pid_(testing::start(argv, std::move(environment))) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// The signal that ended it, 0 while it runs.
  int ended_by() {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return 0;
    pid_ = 0;
    return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
  }

 private:
  pid_t pid_;
};

std::vector<std::string> environment_of(const std::string& key, const std::string& node) {
  return {"PATH=/usr/bin:/bin", "ARTEL_ATTEMPT_KEY=" + key, "ARTEL_NODE=" + node};
}

const std::vector<std::string> kSleep = {"/bin/sleep", "1000"};

struct Sweep {
  boost::asio::io_context loop;
  std::vector<AttemptKey> swept;
  Sweeper sweeper;

  explicit Sweep(std::set<pid_t> spared = {})
      : sweeper(loop, "hgx01", std::move(spared),
                [this](const AttemptKey& key) { swept.push_back(key); }) {}

  bool operator()(const AttemptKey& key) {
    sweeper.sweep(key);
    return run_until(loop, [&] { return !swept.empty(); });
  }
};

TEST_CASE("a sweep kills the processes of the attempt and of no other attempt or node") {
  Child mine(kSleep, environment_of("71.0.1", "hgx01"));
  Child other_attempt(kSleep, environment_of("71.0.2", "hgx01"));
  Child longer_key(kSleep, environment_of("71.0.11", "hgx01"));
  Child other_node(kSleep, environment_of("71.0.1", "hgx02"));
  Child no_job(kSleep, {"PATH=/usr/bin:/bin"});
  Sweep sweep;
  REQUIRE(sweep(key_of(71)));
  CHECK(sweep.swept == std::vector{key_of(71)});
  CHECK(mine.ended_by() == SIGKILL);
  CHECK(other_attempt.ended_by() == 0);
  CHECK(longer_key.ended_by() == 0);
  CHECK(other_node.ended_by() == 0);
  CHECK(no_job.ended_by() == 0);
}

/// Waits for the shells of a test to have written a pid.
pid_t pid_in(const std::filesystem::path& file) {
  boost::asio::io_context loop;
  run_until(loop, [&] { return testing::text_of(file).ends_with('\n'); });
  return static_cast<pid_t>(std::stol(testing::text_of(file)));
}

bool gone(pid_t pid) {
  const auto status = testing::text_of("/proc/" + std::to_string(pid) + "/status");
  return status.empty() || status.find("State:\tZ") != std::string::npos;
}

TEST_CASE(
    "a sweep finds children in sessions of their own and children that hid their environment") {
  const Folder folder;
  const auto escaped = folder.path() / "escaped";
  const auto hidden = folder.path() / "hidden";
  const Child shell({"/bin/sh", "-c",
                     "setsid sh -c 'echo $$ > " + escaped.string() +
                         "; exec sleep 1000' & env -i /bin/sh -c 'echo $$ > " + hidden.string() +
                         "; exec /bin/sleep 1000' & wait"},
                    environment_of("72.0.1", "hgx01"));
  const pid_t escaped_pid = pid_in(escaped);
  const pid_t hidden_pid = pid_in(hidden);
  Sweep sweep;
  REQUIRE(sweep(key_of(72)));
  CHECK(gone(escaped_pid));
  CHECK(gone(hidden_pid));
}

TEST_CASE("a sweep of an attempt without processes ends, and one asked for twice is told once") {
  Sweep sweep;
  sweep.sweeper.sweep(key_of(73));
  sweep.sweeper.sweep(key_of(73));
  sweep.sweeper.sweep(key_of(74));
  REQUIRE(run_until(sweep.loop, [&] { return sweep.swept.size() == 2; }));
  sweep.loop.restart();
  sweep.loop.run_for(std::chrono::milliseconds(50));
  CHECK(sweep.swept == std::vector{key_of(73), key_of(74)});
}

TEST_CASE("a program that keeps starting others is swept in the end") {
  const Child storm({"/bin/sh", "-c", "while true; do sleep 1000 & done"},
                    environment_of("75.0.1", "hgx01"));
  Sweep sweep;
  REQUIRE(sweep(key_of(75)));
  ProcessScan scan("hgx01", {});
  scan.begin();
  while (scan.look(1000)) {
  }
  CHECK(scan.found().count(key_of(75)) == 0);
}

TEST_CASE("spared processes are left alone, with their descendants") {
  const Folder folder;
  const auto inner = folder.path() / "inner";
  Child spared(
      {"/bin/sh", "-c",
       "env -i /bin/sh -c 'echo $$ > " + inner.string() + "; exec /bin/sleep 1000' & wait"},
      environment_of("76.0.1", "hgx01"));
  const pid_t inner_pid = pid_in(inner);
  Sweep sweep({spared.pid()});
  REQUIRE(sweep(key_of(76)));
  CHECK(spared.ended_by() == 0);
  CHECK_FALSE(gone(inner_pid));
  ::kill(inner_pid, SIGKILL);
}

}  // namespace
}  // namespace artel::noded
