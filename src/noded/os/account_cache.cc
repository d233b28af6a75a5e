#include "noded/os/account_cache.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace artel::noded {
namespace {

using Clock = AccountCache::Clock;

/// Users whose jobs a node starts within a minute; more than that are not kept.
constexpr std::size_t kMostEntries = 1000;

struct Entry {
  Owner owner;
  std::optional<UserAccount> account;
  Clock::time_point asked_at;  // not later than the answer
  bool asking{};
};

}  // namespace

/// Outlives the cache where its thread is held up by the name service.
struct AccountCache::Shared {
  explicit Shared(LookUp function) : look_up(std::move(function)) {}

  const LookUp look_up;
  std::mutex mutex;
  std::condition_variable wake;
  std::vector<Entry> entries;
  bool stopping = false;

  Entry* entry_of(const Owner& owner) {
    const auto found = std::ranges::find(entries, owner, &Entry::owner);
    return found == entries.end() ? nullptr : &*found;
  }

  void answer_questions() {
    std::unique_lock lock(mutex);
    for (;;) {
      auto next = entries.end();
      wake.wait(lock, [&] {
        next = std::ranges::find(entries, true, &Entry::asking);
        return stopping || next != entries.end();
      });
      if (stopping) return;
      const Owner owner = next->owner;
      lock.unlock();
      const auto asked_at = Clock::now();
      Result<UserAccount> account = look_up(owner);
      lock.lock();
      Entry* const entry = entry_of(owner);
      if (entry == nullptr) continue;
      entry->asking = false;
      entry->asked_at = asked_at;
      entry->account = account ? std::optional(std::move(*account)) : std::nullopt;
    }
  }
};

AccountCache::AccountCache(LookUp look_up) : shared_(std::make_shared<Shared>(std::move(look_up))) {
  std::thread([shared = shared_] { shared->answer_questions(); }).detach();
}

AccountCache::~AccountCache() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stopping = true;
  shared_->wake.notify_one();
}

std::optional<UserAccount> AccountCache::find(const Owner& owner, Clock::time_point now) {
  const std::lock_guard lock(shared_->mutex);
  Entry* entry = shared_->entry_of(owner);
  if (entry == nullptr) {
    std::erase_if(shared_->entries, [&](const Entry& old) {
      return !old.asking && now - old.asked_at > kAccountAge;
    });
    if (shared_->entries.size() >= kMostEntries) return std::nullopt;
    entry = &shared_->entries.emplace_back(Entry{.owner = owner});
  }
  const bool is_fresh = entry->account && now - entry->asked_at <= kAccountAge;
  const bool is_young = entry->account && now - entry->asked_at <= kAccountAge / 2;
  if (!is_young && !entry->asking) {
    entry->asking = true;
    shared_->wake.notify_one();
  }
  return is_fresh ? entry->account : std::nullopt;
}

}  // namespace artel::noded
