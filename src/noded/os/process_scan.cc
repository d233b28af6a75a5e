#include "noded/os/process_scan.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "noded/os/files.h"

namespace artel::noded {
namespace {

// Linux allows arguments and environment of a quarter of the stack limit, 6 MiB at most where the
// limit is "unlimited" (execve(2)).
constexpr std::size_t kMaxEnvironment = 8U << 20U;
constexpr std::size_t kMaxStat = 4096;
constexpr int kParentField = 4;  // proc(5), /proc/PID/stat
constexpr int kStartField = 22;

struct Stat {
  pid_t parent{};
  std::uint64_t start{};
};

template <typename Number>
Number number_of(std::string_view text) {
  Number number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::optional<Stat> stat_of(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/stat", pid), kMaxStat);
  if (!text) return std::nullopt;
  // The name in parentheses may contain anything; the fields after it are plain.
  const auto name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(*text).substr(name_end + 1);
  Stat stat;
  for (int field = 3; field <= kStartField && !rest.empty(); ++field) {
    rest.remove_prefix(1);
    const auto word = rest.substr(0, rest.find(' '));
    if (field == kParentField) stat.parent = number_of<pid_t>(word);
    if (field == kStartField) stat.start = number_of<std::uint64_t>(word);
    rest.remove_prefix(word.size());
  }
  return stat;
}

std::optional<std::string_view> value_of(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const auto entry = environment.substr(0, environment.find('\0'));
    if (entry.starts_with(name)) return entry.substr(name.size());
    environment.remove_prefix(std::min(environment.size(), entry.size() + 1));
  }
  return std::nullopt;
}

}  // namespace

ProcessScan::ProcessScan(std::string node, std::set<pid_t> spared)
    : node_(std::move(node)), spared_(std::move(spared)) {}

void ProcessScan::begin() {
  pids_.clear();
  processes_.clear();
  next_ = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc", error), last; !error && it != last;
       it.increment(error)) {
    const auto pid = number_of<pid_t>(it->path().filename().string());
    if (pid > 0) pids_.push_back(pid);
  }
}

bool ProcessScan::look(std::size_t count) {
  for (; count > 0 && next_ < pids_.size(); --count, ++next_) {
    const pid_t pid = pids_[next_];
    if (spared_.contains(pid)) continue;
    const auto stat = stat_of(pid);
    if (!stat) continue;  // gone meanwhile
    Process process{.parent = stat->parent, .start = stat->start, .key = {}, .foreign = false};
    if (const auto environment = read_file(fmt::format("/proc/{}/environ", pid), kMaxEnvironment)) {
      const auto key = value_of(*environment, "ARTEL_ATTEMPT_KEY=");
      const auto node = value_of(*environment, "ARTEL_NODE=");
      if (key && node == node_) process.key = parse_key(*key);
      process.foreign = key && node != node_;
    }
    processes_.emplace(pid, process);
  }
  return next_ < pids_.size();
}

std::optional<AttemptKey> ProcessScan::owner(pid_t pid) const {
  // Parents are read one after the other, so a chain may be stale; its length is bounded all the
  // same.
  for (std::size_t steps = 0; steps < processes_.size(); ++steps) {
    const auto it = processes_.find(pid);
    if (it == processes_.end() || it->second.foreign) return std::nullopt;
    if (it->second.key) return it->second.key;
    pid = it->second.parent;
  }
  return std::nullopt;
}

std::map<AttemptKey, std::vector<ProcessScan::Found>> ProcessScan::found() const {
  std::map<AttemptKey, std::vector<Found>> out;
  for (const auto& [pid, process] : processes_) {
    if (const auto key = owner(pid)) out[*key].push_back({pid, process.start});
  }
  return out;
}

void kill_process(const ProcessScan::Found& process) {
  const Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0U)));
  if (!handle.valid()) return;
  const auto stat = stat_of(process.pid);
  if (!stat || stat->start != process.start) return;
  ::syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0U);
}

}  // namespace artel::noded
