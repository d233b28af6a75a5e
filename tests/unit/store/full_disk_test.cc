// A disk that is full: the reserve holds what must not be lost, and nothing has to be repaired
// afterwards. The file systems are tmpfs in a mount namespace of the test's own.
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <fstream>

#include "ctld/store/disk_space.h"
#include "support.h"

using namespace artel;
using namespace artel::ctld;
using namespace artel::ctld::testing;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

/// A file system of 8 MiB; without the right to make one the test says so and passes.
class SmallDisk {
 public:
  SmallDisk() {
    if (unshare(CLONE_NEWNS) != 0 || mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      return;
    path_ = folder_.file().parent_path();
    is_mounted_ = mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=8m") == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (is_mounted_) umount2(path_.c_str(), MNT_DETACH);
  }

  [[nodiscard]] bool is_there() const {
    if (!is_mounted_) WARN("no right to mount: skipped");
    return is_mounted_;
  }
  [[nodiscard]] std::filesystem::path folder() const { return path_; }
  [[nodiscard]] std::filesystem::path file() const { return folder_.file(); }
  [[nodiscard]] std::uint64_t free() const {
    struct statvfs status{};
    REQUIRE(statvfs(path_.c_str(), &status) == 0);
    return std::uint64_t{status.f_bavail} * status.f_frsize;
  }
  /// Fills it but for so many bytes.
  void fill(std::uint64_t but) const {
    std::ofstream out(path_ / "filler", std::ios::app | std::ios::binary);
    const std::string block(4096, 'x');
    while (free() > but && out.write(block.data(), 4096).flush()) {
    }
  }
  void clear() const { std::filesystem::remove(path_ / "filler"); }

 private:
  Folder folder_;
  std::filesystem::path path_;
  bool is_mounted_ = false;
};

constexpr SpaceLimits kLimits{Bytes{2 * kMiB}, Bytes{kMiB}};

std::unique_ptr<SqliteStore> open_with(const SmallDisk& disk, DiskSpace& space) {
  auto store = open_store(
      disk.file(),
      {.first_start = true, .checkpoint_pages = 64, .count_used = false, .space = &space});
  INFO((store ? "" : store.error().text));
  REQUIRE(store);
  (*store)->set_node_names({"n1", "n2", "n3", "n4"});
  return std::move(*store);
}

}  // namespace

TEST_CASE("below the watermark nothing new is taken, and the refusal says what to do") {
  const SmallDisk disk;
  if (!disk.is_there()) return;
  DiskSpace space(disk.folder(), kLimits);
  space.begin();
  CHECK(space.check());
  CHECK(std::filesystem::file_size(space.reserve_file()) == kMiB);
  disk.fill(kMiB);
  space.look();
  const auto refused = space.check();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kTryAgain);
  CHECK(has(refused.error().text, disk.folder().string()));
  CHECK(has(refused.error().text, "at least 2 are needed"));
  CHECK(has(refused.error().text, "try again in 30 s"));
  disk.clear();
  space.look();
  CHECK(space.check());
}

TEST_CASE("a disk that cannot be looked at is not known to be full") {
  DiskSpace space("/no/such/folder", kLimits);
  space.begin();
  CHECK(space.check());
}

TEST_CASE("a commit that finds the disk full takes the reserve, and all of it is kept") {
  const SmallDisk disk;
  if (!disk.is_there()) return;
  DiskSpace space(disk.folder(), kLimits);
  space.begin();
  Attempt attempt;
  {
    constexpr std::uint32_t kNoRoomForAll = 3000;  // pages of the log: it stays short
    auto opened = open_store(
        disk.file(), {.first_start = true, .checkpoint_pages = kNoRoomForAll, .space = &space});
    REQUIRE(opened);
    (*opened)->set_node_names({"n1", "n2", "n3", "n4"});
    load(**opened);
    Job job = a_job(1);
    commit(**opened, {JobRow{job, true}});
    attempt = an_attempt(job, {0, 1, 2, 3});
    commit(**opened, placed(job, attempt));
    disk.fill(0);
    attempt.parts[2].phase = NodePhase::kEnded;
    attempt.parts[2].end = NodeEnd{at(10), at(20), {}, true, 1, Bytes{1}};
    commit(**opened, {JobRow{job, false}, AttemptRow{attempt},
                      EventRow{at(1), "fill", JobId{1}, "n1", std::string(100'000, 'x')}});
    CHECK(space.is_low());
    CHECK_FALSE(std::filesystem::exists(space.reserve_file()));
  }
  disk.clear();
  const StoredState state = load(*open_with(disk, space));
  REQUIRE(state.jobs.size() == 1);
  CHECK(state.jobs[0].attempt->parts == attempt.parts);
}

TEST_CASE("a log that cannot be moved into a full store grows on, and nothing is lost") {
  const SmallDisk disk;
  if (!disk.is_there()) return;
  DiskSpace space(disk.folder(), kLimits);
  space.begin();
  std::uint64_t id = 0;
  {
    const auto store = open_with(disk, space);
    load(*store);
    disk.fill(0);
    while (std::filesystem::exists(space.reserve_file())) {
      REQUIRE(id < 10'000);
      commit(*store, {JobRow{a_job(++id), true}});
    }
    commit(*store, {JobRow{a_job(++id), true}});
  }
  disk.clear();
  CHECK(load(*open_with(disk, space)).jobs.size() == id);
}

TEST_CASE("a commit for which the reserve came too late is an error, and what was there stays") {
  const SmallDisk disk;
  if (!disk.is_there()) return;
  {
    DiskSpace space(disk.folder(), {Bytes{0}, Bytes{0}});
    const auto store = open_with(disk, space);
    load(*store);
    commit(*store, {JobRow{a_job(1), true}});
    disk.fill(0);
    JobSpec spec = a_spec();
    spec.script = std::string(1'000'000, 'x');
    const auto done = store->commit({JobRow{a_job(2, spec), true}});
    REQUIRE_FALSE(done);
    CHECK(has(done.error().text, "free space"));
  }
  disk.clear();
  DiskSpace space(disk.folder(), kLimits);
  CHECK(load(*open_with(disk, space)).jobs.size() == 1);
}

TEST_CASE("commits and a start after a kill find room in the log when there is none elsewhere") {
  const SmallDisk disk;
  if (!disk.is_there()) return;
  DiskSpace space(disk.folder(), kLimits);
  space.begin();
  auto opened =
      open_store(disk.file(), {.first_start = true, .checkpoint_pages = 512, .space = &space});
  REQUIRE(opened);
  (*opened)->set_node_names({"n1", "n2", "n3", "n4"});
  load(**opened);
  CHECK(std::filesystem::file_size(disk.file().string() + "-wal") >= 512 * 4096);
  disk.fill(0);
  CHECK(space.give_up_reserve());
  disk.fill(0);  // somebody else takes that too
  for (std::uint64_t id = 1; id <= 50; ++id) commit(**opened, {JobRow{a_job(id), true}});
  // As a kill leaves it.
  const Folder crashed;
  for (const char* suffix : {"", "-wal"})
    std::filesystem::copy_file(disk.file().string() + suffix, crashed.file().string() + suffix);
  CHECK(load(*open_new(crashed.file())).jobs.size() == 50);
}

TEST_CASE("a start on a full disk takes the reserve") {
  const SmallDisk disk;
  if (!disk.is_there()) return;
  {
    DiskSpace space(disk.folder(), kLimits);
    space.begin();
    const auto store = open_with(disk, space);
    load(*store);
    commit(*store, {JobRow{a_job(1), true}});
  }
  disk.fill(0);
  DiskSpace space(disk.folder(), kLimits);
  space.begin();
  CHECK_FALSE(std::filesystem::exists(space.reserve_file()));
  const auto store = open_with(disk, space);
  CHECK(load(*store).jobs.size() == 1);
  disk.clear();
  space.look();
  CHECK(std::filesystem::exists(space.reserve_file()));
  CHECK_FALSE(space.is_low());
}
