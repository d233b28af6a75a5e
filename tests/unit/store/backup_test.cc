// Backups: whole, verified, few; and the way back.
#include "ctld/store/backup.h"

#include <fstream>

#include "ctld/store/restore.h"
#include "support.h"

using namespace artel;
using namespace artel::ctld;
using namespace artel::ctld::testing;

namespace {

std::filesystem::path folder_for(const Folder& folder) {
  return folder.file().parent_path() / "backups";
}

std::filesystem::path need_backup(const Folder& folder, Time now, std::size_t keep = 3) {
  const auto copy = back_up(folder.file(), folder_for(folder), keep, now);
  INFO((copy ? "" : copy.error().text));
  REQUIRE(copy);
  return *copy;
}

StoredState load_copy(const std::filesystem::path& copy) {
  const Folder other;
  std::filesystem::copy_file(copy, other.file());
  return load(*open_new(other.file()));
}

Restored need_restored(const std::filesystem::path& backup, const Folder& folder) {
  auto restored = restore_store(backup, folder.file(), at(100));
  INFO((restored ? "" : restored.error().text));
  REQUIRE(restored);
  return *restored;
}

}  // namespace

TEST_CASE("a backup holds all that was committed, also what is only in the log") {
  const Folder folder;
  const auto store = open_new(folder.file());
  load(*store);
  commit(*store, {JobRow{a_job(1), true}});
  const auto copy = need_backup(folder, at(0));
  CHECK(copy.filename() == "state-20260921T141320Z.db");
  commit(*store, {JobRow{a_job(2), true}});  // the writer goes on
  CHECK(load_copy(copy).jobs.size() == 1);
  CHECK(std::filesystem::status(copy).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  // Nothing but the copy is left there.
  CHECK(std::distance(std::filesystem::directory_iterator(folder_for(folder)), {}) == 1);
}

TEST_CASE("the oldest backups go when there are more than are kept") {
  const Folder folder;
  open_new(folder.file());
  for (int i = 0; i < 5; ++i) need_backup(folder, at(i), 2);
  const auto copies = backups_in(folder_for(folder));
  REQUIRE(copies.size() == 2);
  CHECK(copies[0].filename() == "state-20260921T141323Z.db");
  CHECK(copies[1].filename() == "state-20260921T141324Z.db");
}

TEST_CASE("a store that is damaged costs no earlier backup") {
  const Folder folder;
  {
    const auto store = open_new(folder.file());
    load(*store);
    JobSpec spec = a_spec();
    spec.script = std::string(100'000, 'x');
    commit(*store, {JobRow{a_job(1, spec), true}});
  }
  const auto good = need_backup(folder, at(0), 1);
  std::filesystem::resize_file(folder.file(), std::filesystem::file_size(folder.file()) / 2);
  const auto copy = back_up(folder.file(), folder_for(folder), 1, at(1));
  REQUIRE_FALSE(copy);
  CHECK(copy.error().code == ErrorCode::kStorage);
  CHECK(backups_in(folder_for(folder)) == std::vector{good});
  CHECK(std::distance(std::filesystem::directory_iterator(folder_for(folder)), {}) == 1);
}

TEST_CASE("a backup can be given up") {
  const Folder folder;
  {
    const auto store = open_new(folder.file());
    load(*store);
    for (std::uint64_t id = 1; id <= 500; ++id) commit(*store, {JobRow{a_job(id), true}});
  }
  CHECK_FALSE(back_up(folder.file(), folder_for(folder), 1, at(0), [] { return true; }));
  CHECK(std::filesystem::is_empty(folder_for(folder)));
}

TEST_CASE("a copy of which a part is missing is not verified") {
  const Folder folder;
  open_new(folder.file());
  CHECK(verify_store(folder.file()));
  std::filesystem::resize_file(folder.file(), std::filesystem::file_size(folder.file()) - 4096);
  CHECK_FALSE(verify_store(folder.file()));
}

TEST_CASE("a store that a controller uses is not replaced") {
  const Folder folder;
  const auto store = open_new(folder.file());
  const auto copy = need_backup(folder, at(0));
  const auto restored = restore_store(copy, folder.file(), at(100));
  REQUIRE_FALSE(restored);
  CHECK(has(restored.error().text, "in use by process"));
}

TEST_CASE("numbers of jobs and starts go on above those of the store that is put aside") {
  const Folder folder;
  std::filesystem::path copy;
  {
    const auto store = open_new(folder.file());
    load(*store);
    commit(*store, {JobRow{a_job(1), true}});
    copy = need_backup(folder, at(0));
    commit(*store, {JobRow{a_job(2), true}, JobRow{a_job(3), true}});
  }
  load(*open_new(folder.file()));  // start 2
  const Restored restored = need_restored(copy, folder);
  CHECK(restored.lost_first == 2);
  CHECK(restored.lost_last == 3);
  CHECK(load_copy(restored.put_aside).jobs.size() == 3);
  const auto store = open_new(folder.file());
  const StoredState state = load(*store);
  CHECK(state.jobs.size() == 1);
  CHECK(state.last_job == JobId{3});
  CHECK(state.lost_first == JobId{2});
  CHECK(state.lost_last == JobId{3});
  CHECK(state.incarnation.value == 3);
  REQUIRE(store->set_aside().size() == 1);
  CHECK(store->set_aside()[0].name == "2-3");
  // The backup itself can be used again.
  CHECK(verify_store(copy));
}

TEST_CASE("numbers jump where the store that is put aside cannot be read") {
  const Folder folder;
  open_new(folder.file());
  const auto copy = need_backup(folder, at(0));
  SECTION("because it is gone") {
    std::filesystem::remove(folder.file());
    CHECK(need_restored(copy, folder).put_aside.empty());
  }
  SECTION("because it is no database") {
    std::ofstream(folder.file()) << std::string(10'000, 'x');
    CHECK(std::filesystem::exists(need_restored(copy, folder).put_aside));
  }
  const StoredState state = load(*open_new(folder.file()));
  CHECK(state.last_job == JobId{100'000'000});
  CHECK(state.incarnation.value == 100'001);
}

TEST_CASE("a log without its store is not taken for that of the restored one") {
  const Folder folder;
  std::filesystem::path copy;
  const Folder crashed;
  {
    const auto store = open_new(folder.file());
    load(*store);
    copy = need_backup(folder, at(0));
    commit(*store, {JobRow{a_job(1), true}});
    // As a kill leaves it: the job is in the log only.
    for (const char* suffix : {"", "-wal"})
      std::filesystem::copy_file(folder.file().string() + suffix, crashed.file().string() + suffix);
  }
  std::filesystem::remove(crashed.file());  // a restore that ended between two of its steps
  need_restored(copy, crashed);
  CHECK(load(*open_new(crashed.file())).jobs.empty());
}

TEST_CASE("what is no sound backup is refused and the store stays") {
  const Folder folder;
  {
    const auto store = open_new(folder.file());
    load(*store);
    commit(*store, {JobRow{a_job(1), true}});
  }
  const auto bad = folder.file().parent_path() / "bad.db";
  SECTION("missing") {
    CHECK(restore_store(bad, folder.file(), at(0)).error().code == ErrorCode::kNotFound);
  }
  SECTION("something else") {
    std::ofstream(bad) << std::string(10'000, 'x');
    CHECK_FALSE(restore_store(bad, folder.file(), at(0)));
  }
  SECTION("cut short") {
    std::filesystem::copy_file(folder.file(), bad);
    std::filesystem::resize_file(bad, std::filesystem::file_size(bad) - 4096);
    CHECK_FALSE(restore_store(bad, folder.file(), at(0)));
  }
  CHECK(load(*open_new(folder.file())).jobs.size() == 1);
}
