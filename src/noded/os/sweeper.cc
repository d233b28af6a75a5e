#include "noded/os/sweeper.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace artel::noded {
namespace {

constexpr std::size_t kSlice = 100;  // processes; about 2 ms
constexpr int kCleanScans = 2;
constexpr Duration kFirstPause{5};
constexpr Duration kLongestPause{2000};

}  // namespace

Sweeper::Sweeper(boost::asio::io_context& loop, const std::string& node, std::set<pid_t> spared,
                 Done done)
    : timer_(loop), scan_(node, std::move(spared)), done_(std::move(done)) {}

void Sweeper::sweep(const AttemptKey& key) {
  targets_.try_emplace(key);
  pause_ = kFirstPause;
  if (!active_) schedule(Duration{0});
}

void Sweeper::schedule(Duration delay) {
  active_ = true;
  timer_.expires_after(delay);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) slice();
  });
}

void Sweeper::slice() {
  if (!std::exchange(scanning_, true)) {
    for (auto& [key, target] : targets_) target.in_scan = true;
    scan_.begin();
  }
  if (scan_.look(kSlice)) return schedule(Duration{0});
  end_scan();
}

void Sweeper::end_scan() {
  scanning_ = false;
  const auto found = scan_.found();
  std::vector<AttemptKey> swept;
  for (auto& [key, target] : targets_) {
    if (!target.in_scan) continue;
    const auto left = found.find(key);
    if (left == found.end()) {
      if (++target.clean == kCleanScans) swept.push_back(key);
      continue;
    }
    target.clean = 0;
    std::for_each(left->second.begin(), left->second.end(), kill_process);
  }
  for (const AttemptKey& key : swept) targets_.erase(key);
  active_ = false;
  if (!targets_.empty()) {
    schedule(pause_);
    pause_ = std::min(pause_ * 2, kLongestPause);
  }
  for (const AttemptKey& key : swept) done_(key);
}

}  // namespace artel::noded
