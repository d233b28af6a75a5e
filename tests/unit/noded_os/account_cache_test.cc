// Accounts are asked for once in a while, never waited for, and never used when they are old.
#include "noded/os/account_cache.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "noded/users/user_lookup.h"

namespace artel::noded {
namespace {

using Clock = AccountCache::Clock;
using std::chrono::seconds;

const Owner kAlice{1001, 1001, "alice"};

/// A name service that answers when it is let. Shared with the thread that asks, which may outlive
/// the test.
class NameService {
 public:
  Result<UserAccount> answer(const Owner& owner) {
    std::unique_lock lock(mutex_);
    ++questions_;
    news_.notify_all();
    news_.wait(lock, [this] { return answers_ > 0; });
    --answers_;
    if (owner.user == "nobody-here") return fail(ErrorCode::kNotFound, "no such user");
    return UserAccount{"/home/" + owner.user, "/bin/sh", {owner.gid, next_group_++}};
  }
  void let(int answers) {
    const std::lock_guard lock(mutex_);
    answers_ += answers;
    news_.notify_all();
  }
  void wait_for_questions(int count) {
    std::unique_lock lock(mutex_);
    news_.wait(lock, [&] { return questions_ >= count; });
  }
  int questions() {
    const std::lock_guard lock(mutex_);
    return questions_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable news_;
  int questions_ = 0;
  int answers_ = 0;
  std::uint32_t next_group_ = 1;
};

/// Asks at a given time until somebody has answered. The cache's thread is the only one that can
/// make it come true.
std::optional<UserAccount> eventually(AccountCache& cache, const Owner& owner,
                                      Clock::time_point now) {
  const auto end = Clock::now() + seconds(20);
  std::optional<UserAccount> found;
  while (!found && Clock::now() < end) found = cache.find(owner, now);
  return found;
}

TEST_CASE("an account that is not known is not waited for") {
  const auto service = std::make_shared<NameService>();
  AccountCache cache([service](const Owner& owner) { return service->answer(owner); });
  const auto now = Clock::now();
  CHECK_FALSE(cache.find(kAlice, now));
  service->wait_for_questions(1);
  CHECK_FALSE(cache.find(kAlice, now));  // while the name service hangs
  service->let(1);
  const auto found = eventually(cache, kAlice, now);
  REQUIRE(found);
  CHECK(found->home == "/home/alice");
  CHECK(service->questions() == 1);
}

TEST_CASE(
    "an account is asked for anew when it is half as old as allowed, and not used when older") {
  const auto service = std::make_shared<NameService>();
  AccountCache cache([service](const Owner& owner) { return service->answer(owner); });
  service->let(1);
  const auto found = eventually(cache, kAlice, Clock::now());
  REQUIRE(found);
  const auto then = Clock::now();  // not before the question
  CHECK(cache.find(kAlice, then + kAccountAge / 2 - seconds(10)) == found);
  CHECK(service->questions() == 1);
  CHECK(cache.find(kAlice, then + kAccountAge / 2 + seconds(1)) == found);
  service->wait_for_questions(2);
  CHECK_FALSE(cache.find(kAlice, then + kAccountAge + seconds(1)));
  service->let(1);
  const auto newer = eventually(cache, kAlice, Clock::now());
  REQUIRE(newer);
}

TEST_CASE("a user who was not found is not remembered as such") {
  const auto service = std::make_shared<NameService>();
  AccountCache cache([service](const Owner& owner) { return service->answer(owner); });
  const Owner stranger{5, 5, "nobody-here"};
  service->let(1);
  CHECK_FALSE(cache.find(stranger, Clock::now()));
  service->wait_for_questions(1);
  for (int asked = service->questions(); asked < 2; asked = service->questions()) {
    CHECK_FALSE(cache.find(stranger, Clock::now()));
  }
  service->let(1);
}

TEST_CASE("the same name with another uid is another account") {
  const auto service = std::make_shared<NameService>();
  AccountCache cache([service](const Owner& owner) { return service->answer(owner); });
  service->let(2);
  REQUIRE(eventually(cache, kAlice, Clock::now()));
  CHECK_FALSE(cache.find({2002, 1001, "alice"}, Clock::now()));
}

TEST_CASE("this node knows root, and tells both uids of a name that differs") {
  const auto root = look_up({0, 0, "root"}, "n1");
  REQUIRE(root);
  CHECK_FALSE(root->home.empty());
  CHECK(std::ranges::find(root->groups, 0U) != root->groups.end());
  const auto other = look_up({4711, 0, "root"}, "n1");
  REQUIRE_FALSE(other);
  CHECK(other.error().text.find("has uid 0 on n1 but submitted with uid 4711") !=
        std::string::npos);
  CHECK(look_up({1, 1, "artel-no-such-user"}, "n1").error().code == ErrorCode::kNotFound);
}

}  // namespace
}  // namespace artel::noded
