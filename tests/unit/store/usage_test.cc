#include "ctld/store/usage.h"

#include <array>
#include <numeric>
#include <random>

#include "ctld/store/reader.h"
#include "support.h"

using namespace artel;
using namespace artel::ctld;
using namespace artel::ctld::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::array kAllCuts = {UsageBy::kTeam, UsageBy::kUser, UsageBy::kQueue, UsageBy::kNode,
                                 UsageBy::kDay};

/// Midnight of 2026-11-30.
Time day(int days, Duration after = 0ms) {
  return Time{std::chrono::sys_days{std::chrono::year{2026} / 11 / 30}} + 24h * days + after;
}

HeldPart held(Time from, std::optional<Time> until) {
  HeldPart part;
  part.key = {JobId{1}, TaskIndex{}, AttemptNo{1}};
  part.user = "alice";
  part.team = "nlp";
  part.queue = "main";
  part.node = "n1";
  part.allocated = from;
  part.part_ended = until;
  part.attempt_ended = until;
  part.gpus = 8;
  part.cpus = 96;
  return part;
}

std::vector<UsageRow> rows_of(const UsageFilter& filter, const std::vector<HeldPart>& parts) {
  UsageSum sum(filter);
  for (const HeldPart& part : parts) sum.add(part);
  return sum.rows();
}

struct Amounts {
  std::uint64_t gpu_ms{};
  std::uint64_t cpu_ms{};
  std::uint64_t node_ms{};
  bool operator==(const Amounts&) const = default;
};

Amounts total(const std::vector<UsageRow>& rows) {
  Amounts sum;
  for (const UsageRow& row : rows) {
    sum.gpu_ms += row.gpu_ms;
    sum.cpu_ms += row.cpu_ms;
    sum.node_ms += row.node_ms;
  }
  return sum;
}

}  // namespace

TEST_CASE("usage counts only what was held inside the time asked for") {
  const HeldPart part = held(day(0, 10h), day(0, 14h));
  const auto gpu_hours = [&](Time from, Time to) {
    const auto rows = rows_of({from, to, day(9), UsageBy::kTeam}, {part});
    return rows.empty() ? 0 : rows.front().gpu_ms / 3'600'000;
  };
  CHECK(gpu_hours(day(0), day(1)) == 32);
  CHECK(gpu_hours(day(0, 12h), day(1)) == 16);
  CHECK(gpu_hours(day(0), day(0, 11h)) == 8);
  CHECK(gpu_hours(day(0, 12h), day(0, 13h)) == 8);
  CHECK(rows_of({day(0, 14h), day(1), day(9), UsageBy::kTeam}, {part}).empty());
  CHECK(rows_of({day(0), day(0, 10h), day(9), UsageBy::kTeam}, {part}).empty());
}

TEST_CASE("what is still held counts until now") {
  const HeldPart part = held(day(0, 10h), std::nullopt);
  const auto rows = rows_of({day(0), day(1), day(0, 11h), UsageBy::kUser}, {part});
  REQUIRE(rows.size() == 1);
  CHECK(rows[0] == UsageRow{"alice", 1, 1, 8 * 3'600'000, 96 * 3'600'000, 3'600'000});
  CHECK(total(rows_of({day(0), day(0, 10h + 1min), day(0, 11h), UsageBy::kUser}, {part})).node_ms ==
        60'000);
}

TEST_CASE("a day's share ends at midnight UTC") {
  const HeldPart part = held(day(0, 23h), day(2, 1h));
  const auto rows = rows_of({day(-1), day(9), day(9), UsageBy::kDay}, {part});
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].key == "2026-11-30");
  CHECK(rows[0].node_ms == 3'600'000);
  CHECK(rows[1].key == "2026-12-01");
  CHECK(rows[1].node_ms == 24 * 3'600'000);
  CHECK(rows[2].key == "2026-12-02");
  CHECK(rows[2].node_ms == 3'600'000);
  const auto whole = rows_of({day(-1), day(9), day(9), UsageBy::kDay}, {held(day(0), day(1))});
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].node_ms == 24 * 3'600'000);
}

TEST_CASE("a run of no length is counted where it happened") {
  const HeldPart part = held(day(0, 10h), day(0, 10h));
  const auto rows = rows_of({day(0), day(1), day(9), UsageBy::kDay}, {part});
  REQUIRE(rows.size() == 1);
  CHECK(rows[0] == UsageRow{"2026-11-30", 1, 1, 0, 0, 0});
  CHECK(rows_of({day(0), day(0, 10h), day(9), UsageBy::kDay}, {part}).empty());
  CHECK(rows_of({day(0, 10h), day(1), day(9), UsageBy::kDay}, {part}).size() == 1);
}

TEST_CASE("a node's report is kept inside its attempt's time") {
  HeldPart part = held(day(0, 10h), day(0, 12h));
  part.part_ended = day(0, 11h);
  CHECK(held_until(part, day(9)) == day(0, 11h));
  part.part_ended = day(0, 13h);  // its clock is fast
  CHECK(held_until(part, day(9)) == day(0, 12h));
  part.part_ended = day(0, 9h);  // its clock is slow
  CHECK(held_until(part, day(9)) == day(0, 10h));
  part.part_ended = std::nullopt;
  CHECK(held_until(part, day(9)) == day(0, 12h));
  part.part_ended = Time{};
  CHECK(held_until(part, day(9)) == day(0, 12h));
  part.attempt_ended = std::nullopt;
  CHECK(held_until(part, day(1)) == day(1));
  CHECK(held_until(part, day(0)) == day(0, 10h));
}

TEST_CASE("jobs and attempts are counted once under each key") {
  std::vector<HeldPart> parts;
  for (const std::uint32_t attempt : {1, 2})
    for (const char* node : {"n1", "n2"}) {
      HeldPart part = held(day(0, 1h * attempt), day(0, 1h * attempt + 30min));
      part.key.attempt = AttemptNo{attempt};
      part.node = node;
      parts.push_back(part);
    }
  const auto teams = rows_of({day(0), day(1), day(1), UsageBy::kTeam}, parts);
  REQUIRE(teams.size() == 1);
  CHECK(teams[0].jobs == 1);
  CHECK(teams[0].attempts == 2);
  const auto nodes = rows_of({day(0), day(1), day(1), UsageBy::kNode}, parts);
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0].jobs == 1);
  CHECK(nodes[0].attempts == 2);
}

namespace {

/// What one part of a generated history really held.
struct Truth {
  Time from;
  Time to;
  bool open;
  std::uint64_t gpus;
};

class Generator {
 public:
  Time moment(Time from, Duration most) {
    return from + Duration{static_cast<std::int64_t>(random_() %
                                                     static_cast<std::uint64_t>(most.count()))};
  }

  Job job(std::uint64_t id) {
    JobSpec spec = a_spec();
    spec.owner.user = "user" + std::to_string(random_() % 5);
    spec.team = "team" + std::to_string(random_() % 3);
    spec.queue = "queue" + std::to_string(random_() % 2);
    return a_job(id, std::move(spec));
  }

  /// One to four parts that end at different times, from `begin` on.
  Attempt attempt(const Job& job, Time begin, bool open) {
    Attempt made = an_attempt(job, {0, 1, 2, 3});
    made.parts.resize(1 + random_() % 4);
    made.allocated_at = begin;
    const Time ended = moment(begin, 60h);
    for (NodePart& part : made.parts) {
      part.share.gpus.assign(random_() % 9, 0);
      std::iota(part.share.gpus.begin(), part.share.gpus.end(), std::uint16_t{0});
      const Time end = moment(begin, ended - begin + 1ms);
      if (!open) part.end = NodeEnd{.ended = end};
      truth_.push_back({begin, end, open, part.share.gpus.size()});
    }
    if (!open) made.ended_at = ended;
    return made;
  }

  [[nodiscard]] bool coin() { return random_() % 2 == 0; }
  [[nodiscard]] const std::vector<Truth>& truth() const { return truth_; }

 private:
  std::mt19937_64 random_{7};
  std::vector<Truth> truth_;
};

Amounts naive(const std::vector<Truth>& truth, Time from, Time to, Time now) {
  Amounts sum;
  for (const Truth& part : truth) {
    const Time end = std::min(to, part.open ? std::max(now, part.from) : part.to);
    const Time begin = std::max(from, part.from);
    if (end <= begin) continue;
    const auto ms = static_cast<std::uint64_t>((end - begin).count());
    sum.node_ms += ms;
    sum.cpu_ms += ms;
    sum.gpu_ms += part.gpus * ms;
  }
  return sum;
}

Amounts total(StoreReader& reader, const UsageFilter& filter) {
  const auto rows = reader.usage(filter);
  REQUIRE(rows);
  return total(*rows);
}

}  // namespace

TEST_CASE("all cuts of a stored history agree to the millisecond") {
  const Folder folder;
  const auto store = open_new(folder.file());
  load(*store);
  Generator generator;
  for (std::uint64_t id = 1; id <= 200; ++id) {
    Job job = generator.job(id);
    commit(*store, {JobRow{job, true}});
    Attempt attempt = generator.attempt(job, generator.moment(day(0), 120h), false);
    commit(*store, placed(job, attempt));
    if (generator.coin()) {
      attempt = generator.attempt(job, *attempt.ended_at, generator.coin());
      commit(*store, placed(job, attempt));
    }
  }
  auto opened = open_reader(folder.file());
  REQUIRE(opened);
  StoreReader& reader = **opened;
  for (int round = 0; round < 40; ++round) {
    const Time from = generator.moment(day(-1), 200h);
    const Time to = generator.moment(from, 200h);
    const Time now = generator.moment(day(0), 300h);
    const Amounts expected = naive(generator.truth(), from, to, now);
    for (const UsageBy by : kAllCuts) CHECK(total(reader, {from, to, now, by}) == expected);
    // A cut in time loses and doubles nothing.
    const Time middle = from + (to - from) / 2;
    Amounts halves = total(reader, {from, middle, now, UsageBy::kNode});
    const Amounts second = total(reader, {middle, to, now, UsageBy::kNode});
    halves.gpu_ms += second.gpu_ms;
    halves.cpu_ms += second.cpu_ms;
    halves.node_ms += second.node_ms;
    CHECK(halves == expected);
  }
}

TEST_CASE("a row that cannot be counted is an error, not a smaller sum") {
  const Folder folder;
  const auto store = open_new(folder.file());
  load(*store);
  Job job = a_job(1);
  commit(*store, {JobRow{job, true}});
  commit(*store, placed(job, an_attempt(job, {0})));
  tamper(folder.file(), "UPDATE attempt_node SET gpu_count = -1");
  auto reader = open_reader(folder.file());
  REQUIRE(reader);
  const auto rows = (*reader)->usage({at(0), at(100), at(100), UsageBy::kTeam});
  REQUIRE_FALSE(rows);
  CHECK(has(rows.error().text, "attempt 1.0.1 on n1 cannot be counted: column gpu_count"));
}

TEST_CASE("the words for cuts are known") {
  CHECK(parse_usage_by("team") == UsageBy::kTeam);
  CHECK(parse_usage_by("user") == UsageBy::kUser);
  CHECK(parse_usage_by("queue") == UsageBy::kQueue);
  CHECK(parse_usage_by("node") == UsageBy::kNode);
  CHECK(parse_usage_by("day") == UsageBy::kDay);
  CHECK(parse_usage_by("week") == std::nullopt);
}
