// What the tests of the agent's adapters share: a folder that goes away, an account that goes away,
// a loop with a deadline.
#pragma once

#include <pwd.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/job_spec.h"
#include "noded/core/effects.h"

namespace artel::noded::testing {

class Folder {
 public:
  Folder() {
    std::string pattern = "/tmp/artel-noded-os.XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline pid_t start(std::vector<std::string> argv, std::vector<std::string> environment) {
  const auto pointers = [](std::vector<std::string>& list) {
    std::vector<char*> out;
    for (auto& text : list) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
  };
  pid_t pid = 0;
  if (::posix_spawn(&pid, argv.front().c_str(), nullptr, nullptr, pointers(argv).data(),
                    pointers(environment).data()) != 0) {
    throw std::runtime_error("cannot start " + argv.front());
  }
  return pid;
}

/// Runs the program to its end; its exit code, or -1.
inline int run(std::vector<std::string> argv) {
  int status = 0;
  const pid_t pid = start(std::move(argv), {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"});
  return ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// An account of the machine for the time of a test.
class Account {
 public:
  explicit Account(const std::string& name) {
    run({"/usr/sbin/userdel", name});  // of a run that was interrupted
    if (run({"/usr/sbin/useradd", "--no-create-home", "--user-group", name}) != 0) {
      throw std::runtime_error("cannot make account " + name);
    }
    const passwd* entry = ::getpwnam(name.c_str());
    if (entry == nullptr) throw std::runtime_error("no account " + name);
    owner_ = {.uid = entry->pw_uid, .gid = entry->pw_gid, .user = name};
  }
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;
  ~Account() { run({"/usr/sbin/userdel", owner_.user}); }
  [[nodiscard]] const Owner& owner() const { return owner_; }

 private:
  Owner owner_;
};

/// Runs the loop until `done()`; false if that takes longer than 20 s.
inline bool run_until(boost::asio::io_context& loop, const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    if (loop.stopped()) loop.restart();
    loop.run_one_for(std::chrono::milliseconds(20));
  }
  return true;
}

inline AttemptKey key_of(std::uint64_t job, std::uint32_t attempt = 1) {
  return {JobId{job}, TaskIndex{0}, AttemptNo{attempt}};
}

inline AttemptRecord record_of(std::uint64_t job) {
  AttemptRecord record;
  record.spec.key = key_of(job);
  record.spec.cluster = "test";
  record.spec.job_name = "train";
  record.spec.owner = {1000, 1000, "alice"};
  record.spec.launch = LaunchKind::kPlain;
  record.spec.nodes = {"hgx01", "hgx02"};
  record.spec.argv = {"/bin/true"};
  record.spec.working_directory = "/tmp";
  record.spec.output = "/tmp/out";
  record.spec.step_key = std::string("\0secret", 7);
  return record;
}

}  // namespace artel::noded::testing
