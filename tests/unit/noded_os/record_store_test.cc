#include "noded/os/record_store.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "support.h"

namespace artel::noded {
namespace {

using testing::Folder;
using testing::key_of;
using testing::record_of;

const Time kNow = time_from_ms(1'700'000'000'000);

TEST_CASE("records come back as they were saved, in the order of their keys") {
  const Folder folder;
  RecordStore store(folder.path(), "hgx01");
  REQUIRE(store.load("boot-1", kNow));
  auto running = record_of(12);
  running.phase = NodePhase::kRunning;
  auto ended = record_of(3);
  ended.phase = NodePhase::kEnded;
  ended.end = NodeEnd{.started = kNow,
                      .ended = kNow,
                      .cause = {.actor = Actor::kApplication, .code = CauseCode::kExit},
                      .is_origin = true,
                      .cpu_ms = 7,
                      .max_rss = {8}};
  ended.refused = true;
  REQUIRE(store.save(running, false));
  REQUIRE(store.save(ended, true));

  const auto loaded = RecordStore(folder.path(), "hgx01").load("boot-1", kNow);
  REQUIRE(loaded);
  CHECK(loaded->warnings.empty());
  CHECK_FALSE(loaded->rebooted);
  CHECK(loaded->records == std::vector{ended, running});
}

TEST_CASE("a dropped record does not come back") {
  const Folder folder;
  RecordStore store(folder.path(), "hgx01");
  REQUIRE(store.load("boot-1", kNow));
  REQUIRE(store.save(record_of(1), false));
  store.drop(key_of(1));
  store.drop(key_of(2));
  const auto loaded = store.load("boot-1", kNow);
  REQUIRE(loaded);
  CHECK(loaded->records.empty());
}

TEST_CASE("a reboot ends what was running, names itself as the cause, and says so only once") {
  const Folder folder;
  RecordStore store(folder.path(), "hgx01");
  REQUIRE(store.load("boot-1", kNow));
  auto running = record_of(1);
  running.phase = NodePhase::kRunning;
  REQUIRE(store.save(running, false));

  const auto loaded = RecordStore(folder.path(), "hgx01").load("boot-2", kNow);
  REQUIRE(loaded);
  CHECK(loaded->rebooted);
  REQUIRE(loaded->records.size() == 1);
  const AttemptRecord& record = loaded->records.front();
  CHECK(record.phase == NodePhase::kEnded);
  REQUIRE(record.end);
  CHECK(record.end->cause.actor == Actor::kNode);
  CHECK(record.end->cause.code == CauseCode::kNodeLost);
  CHECK(record.end->cause.node == "hgx01");
  CHECK(record.end->cause.text == "node hgx01 was rebooted");
  CHECK(record.end->ended == kNow);

  const auto again =
      RecordStore(folder.path(), "hgx01").load("boot-2", kNow + std::chrono::hours(1));
  REQUIRE(again);
  CHECK_FALSE(again->rebooted);
  CHECK(again->records == loaded->records);
}

TEST_CASE("an end that was recorded before a reboot keeps its cause") {
  const Folder folder;
  RecordStore store(folder.path(), "hgx01");
  REQUIRE(store.load("boot-1", kNow));
  auto ended = record_of(1);
  ended.phase = NodePhase::kEnded;
  ended.end = NodeEnd{.ended = kNow, .cause = {.code = CauseCode::kSignal, .signal = 9}};
  REQUIRE(store.save(ended, true));
  const auto loaded = store.load("boot-2", kNow);
  REQUIRE(loaded);
  CHECK(loaded->records == std::vector{ended});
}

TEST_CASE("unreadable records are set aside and named, and their attempts are still known") {
  const Folder folder;
  RecordStore store(folder.path(), "hgx01");
  REQUIRE(store.load("boot-1", kNow));
  REQUIRE(store.save(record_of(1), false));
  REQUIRE(store.save(record_of(2), false));
  REQUIRE(store.save(record_of(3), false));
  REQUIRE(store.save(record_of(4), false));
  const auto records = folder.path() / "records";
  testing::write_file(records / "1.0.1", "");
  const auto whole = testing::text_of(records / "2.0.1");
  testing::write_file(records / "2.0.1", whole.substr(0, whole.size() / 2));
  std::filesystem::rename(records / "3.0.1", records / "5.0.1");
  testing::write_file(records / "6.0.1.tmp", "cut short");

  const auto loaded = store.load("boot-1", kNow);
  REQUIRE(loaded);
  std::vector<AttemptRecord> known;
  for (const std::uint64_t job : {1, 2, 5}) {
    AttemptRecord record;
    record.spec.key = AttemptKey{JobId{job}, TaskIndex{0}, AttemptNo{1}};
    record.spec.nodes = {"hgx01"};
    record.spec.launch = LaunchKind::kPlain;
    record.phase = NodePhase::kStarting;
    known.push_back(record);
  }
  known.insert(known.begin() + 2, record_of(4));
  CHECK(loaded->records == known);
  CHECK(loaded->warnings.size() == 3);
  CHECK(std::filesystem::exists(records / "1.0.1.bad"));
  CHECK(std::filesystem::exists(records / "2.0.1.bad"));
  CHECK(std::filesystem::exists(records / "5.0.1.bad"));
  CHECK_FALSE(std::filesystem::exists(records / "6.0.1.tmp"));
  const auto again = store.load("boot-1", kNow);
  REQUIRE(again);
  CHECK(again->warnings.empty());
  CHECK(again->records == known);
}

TEST_CASE("records are readable by root alone") {
  const Folder folder;
  RecordStore store(folder.path(), "hgx01");
  REQUIRE(store.load("boot-1", kNow));
  REQUIRE(store.save(record_of(1), false));
  struct stat status{};
  REQUIRE(::stat((folder.path() / "records").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0700);
  REQUIRE(::stat((folder.path() / "records/1.0.1").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0600);
}

}  // namespace
}  // namespace artel::noded
