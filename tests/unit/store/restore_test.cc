// What a restore may not forget, and what a killed backup may not leave.
#include "ctld/store/restore.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ctld/store/backup.h"
#include "support.h"

using namespace artel;
using namespace artel::ctld;
using namespace artel::ctld::testing;

TEST_CASE("a restore over a store that was made anew gives no number again") {
  const Folder folder;
  const auto backups = folder.file().parent_path() / "backups";
  Result<std::filesystem::path> copy;
  {
    const auto store = open_new(folder.file());
    load(*store);
    for (std::uint64_t i = 1; i <= 10; ++i) commit(*store, {JobRow{a_job(i), true}});
    copy = back_up(folder.file(), backups, 3, at(0));
    REQUIRE(copy);
    for (std::uint64_t i = 11; i <= 20; ++i) commit(*store, {JobRow{a_job(i), true}});
  }
  // The disk is lost, somebody starts anew in its place.
  for (const char* s : {"", "-wal", "-shm"}) std::filesystem::remove(folder.file().string() + s);
  {
    const auto store = open_new(folder.file());
    load(*store);
    commit(*store, {JobRow{a_job(1), true}});
  }
  const auto restored = restore_store(*copy, folder.file(), at(100));
  REQUIRE(restored);
  CHECK(restored->lost_last >= 20);
  const auto state = load(*open_new(folder.file()));
  CHECK(state.last_job.value >= 20);
  CHECK(state.incarnation.value > 1000);
}

TEST_CASE("a second restore still knows what the first one lost") {
  const Folder folder;
  const auto backups = folder.file().parent_path() / "backups";
  Result<std::filesystem::path> first, second;
  {
    const auto store = open_new(folder.file());
    load(*store);
    for (std::uint64_t i = 1; i <= 10; ++i) commit(*store, {JobRow{a_job(i), true}});
    first = back_up(folder.file(), backups, 3, at(0));
    for (std::uint64_t i = 11; i <= 20; ++i) commit(*store, {JobRow{a_job(i), true}});
  }
  REQUIRE(restore_store(*first, folder.file(), at(100)));
  {
    const auto store = open_new(folder.file());
    CHECK(load(*store).lost_first.value == 11);
    for (std::uint64_t i = 21; i <= 25; ++i) commit(*store, {JobRow{a_job(i), true}});
    second = back_up(folder.file(), backups, 3, at(200));
    for (std::uint64_t i = 26; i <= 30; ++i) commit(*store, {JobRow{a_job(i), true}});
  }
  REQUIRE(restore_store(*second, folder.file(), at(300)));
  const auto state = load(*open_new(folder.file()));
  CHECK(state.lost_first.value == 11);
  CHECK(state.lost_last.value == 30);
}

TEST_CASE("two restores within a second put two stores aside") {
  const Folder folder;
  Result<std::filesystem::path> copy;
  {
    const auto store = open_new(folder.file());
    load(*store);
    copy = back_up(folder.file(), folder.file().parent_path() / "backups", 3, at(0));
    REQUIRE(copy);
  }
  const auto first = restore_store(*copy, folder.file(), at(100));
  const auto second = restore_store(*copy, folder.file(), at(100));
  REQUIRE((first && second));
  CHECK(first->put_aside != second->put_aside);
  CHECK(std::filesystem::exists(first->put_aside));
  CHECK(std::filesystem::exists(second->put_aside));
}

TEST_CASE("what root restores belongs to the account of the controller") {
  if (geteuid() != 0) return;
  const Folder folder;
  constexpr uid_t kAccount = 12'345;
  Result<std::filesystem::path> copy;
  {
    const auto store = open_new(folder.file());
    load(*store);
    copy = back_up(folder.file(), folder.file().parent_path() / "backups", 3, at(0));
    REQUIRE(copy);
  }
  REQUIRE(chown(folder.file().parent_path().c_str(), kAccount, kAccount) == 0);
  REQUIRE(restore_store(*copy, folder.file(), at(100)));
  for (const char* suffix : {"", ".lock"}) {
    struct stat file{};
    REQUIRE(stat((folder.file().string() + suffix).c_str(), &file) == 0);
    CHECK(file.st_uid == kAccount);
    CHECK(file.st_gid == kAccount);
  }
}

TEST_CASE("a backup that a kill cut short does not stay for ever") {
  const Folder folder;
  const auto backups = folder.file().parent_path() / "backups";
  {
    const auto store = open_new(folder.file());
    load(*store);
  }
  std::filesystem::create_directories(backups);
  std::ofstream(backups / "state-20260921T141319Z.db.new") << "half";
  REQUIRE(back_up(folder.file(), backups, 3, at(0)));
  REQUIRE(back_up(folder.file(), backups, 3, at(3600)));
  CHECK_FALSE(std::filesystem::exists(backups / "state-20260921T141319Z.db.new"));
}
