#include "noded/step/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string_view>
#include <unordered_map>

#include "noded/step/fd.h"

namespace artel::step {
namespace {

template <typename Number>
bool parse(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end != text.data();
}

/// The parent of a process, or -1. Format: "pid (comm) state ppid ...", comm may contain anything.
pid_t parent_of(std::string_view pid) {
  const Fd file(::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return -1;
  std::array<char, 512> buffer{};
  const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
  if (size <= 0) return -1;
  std::string_view text(buffer.data(), static_cast<std::size_t>(size));
  const std::size_t close = text.rfind(')');
  constexpr std::size_t kToParent = 4;  // ") S "
  if (close == std::string_view::npos || close + kToParent >= text.size()) return -1;
  pid_t parent = -1;
  return parse(text.substr(close + kToParent), parent) ? parent : -1;
}

std::unordered_multimap<pid_t, pid_t> children_of_all() {
  std::unordered_multimap<pid_t, pid_t> out;
  DIR* const folder = ::opendir("/proc");
  if (folder == nullptr) return out;
  while (const dirent* entry = ::readdir(folder)) {
    pid_t pid = 0;
    if (!parse(entry->d_name, pid)) continue;
    if (const pid_t parent = parent_of(entry->d_name); parent > 0) out.emplace(parent, pid);
  }
  ::closedir(folder);
  return out;
}

std::uint64_t to_ms(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1000U +
         static_cast<std::uint64_t>(time.tv_usec) / 1000U;
}

}  // namespace

std::vector<pid_t> descendants() {
  const auto children = children_of_all();
  std::vector<pid_t> out;
  std::vector<pid_t> open{::getpid()};
  while (!open.empty()) {
    const pid_t parent = open.back();
    open.pop_back();
    const auto [begin, end] = children.equal_range(parent);
    for (auto it = begin; it != end; ++it) {
      out.push_back(it->second);
      open.push_back(it->second);
    }
  }
  return out;
}

void signal_descendants(int signal) {
  for (const pid_t pid : descendants()) {
    ::kill(pid, signal);
    if (signal == SIGTERM) ::kill(pid, SIGCONT);
  }
}

bool reap(const std::function<void(const Reaped&)>& each) {
  while (true) {
    int status = 0;
    rusage usage{};
    const pid_t pid = ::wait4(-1, &status, WNOHANG, &usage);
    if (pid == 0) return true;
    if (pid < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    each({.pid = pid,
          .status = status,
          .cpu_ms = to_ms(usage.ru_utime) + to_ms(usage.ru_stime),
          .max_rss = Bytes{static_cast<std::uint64_t>(usage.ru_maxrss) * 1024U}});
  }
}

}  // namespace artel::step
