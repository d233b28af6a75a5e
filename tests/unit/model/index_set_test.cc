// Sets of task indexes and the lists that name them.
#include "model/index_set.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "model/job_spec.h"
#include "model/output_path.h"

namespace artel {
namespace {

IndexSet set(const std::string& text) { return IndexSet::parse(text, 1'000'000).value(); }

std::string refusal(const std::string& text, std::uint32_t most = 1'000'000) {
  const auto parsed = IndexSet::parse(text, most);
  return parsed ? "accepted" : parsed.error().text;
}

constexpr std::size_t kAny = 1'000'000;

std::set<std::uint32_t> numbers(const IndexSet& set) {
  std::set<std::uint32_t> out;
  set.for_each([&](std::uint32_t index) { out.insert(index); });
  return out;
}

}  // namespace

TEST_CASE("a list of indexes is read and written in its shortest form") {
  CHECK(set("7").text() == "7");
  CHECK(set("0-999999").size() == 1'000'000);
  CHECK(set("1,3,5-9:2").text() == "1-9:2");
  CHECK(set("1,2,3,7,11").text() == "1-3,7,11");
  CHECK(set("5-10:2").text() == "5-9:2");
  CHECK(set("9,1-3").text() == "1-3,9");
  CHECK(numbers(set("0-6:3,1-2")) == std::set<std::uint32_t>{0, 1, 2, 3, 6});
}

TEST_CASE("a list that is none is refused with its place and the way out") {
  CHECK(refusal("").find("is no index") != std::string::npos);
  CHECK(refusal("1,,2").find("character 3") != std::string::npos);
  CHECK(refusal("1-3,9-5").find("'9-5' at character 5: counts down; write 5-9") !=
        std::string::npos);
  CHECK(refusal("1-9:0").find("step") != std::string::npos);
  CHECK(refusal("3:2").find("is no index") != std::string::npos);
  CHECK(refusal("1-5,3").find("index 3 is named twice") != std::string::npos);
  CHECK(refusal("0-2147483648").find("the highest index is 2147483647") != std::string::npos);
  CHECK(refusal("0-10", 10).find("11 tasks, at most 10") != std::string::npos);
  CHECK(refusal("0-199999:4,1-199999:6").find("use a list of its own for each of these ranges") !=
        std::string::npos);
}

TEST_CASE("an array has a throttle from 1 on, or none") {
  CHECK(parse_array("0-9%3", 100)->throttle == 3U);
  CHECK_FALSE(parse_array("0-9", 100)->throttle);
  for (const char* bad : {"0-9%0", "0-9%", "0-9%x", "0-9%3%4"}) CHECK_FALSE(parse_array(bad, 100));
  CHECK(array_text(*parse_array("0-9%3", 100)) == "0-9%3");
}

TEST_CASE("numbers of tasks follow their array's in the order of indexes") {
  const ArraySpec spec = parse_array("3,10-12", 100).value();
  CHECK(task_number(JobId{40}, spec, TaskIndex{3}) == JobId{41});
  CHECK(task_number(JobId{40}, spec, TaskIndex{12}) == JobId{44});
  CHECK_FALSE(task_number(JobId{40}, spec, TaskIndex{4}));
  CHECK(array_number(JobId{44}, spec, TaskIndex{12}) == JobId{40});
}

TEST_CASE("a set does what a set of numbers does") {
  std::mt19937 random(7);
  const auto any = [&random] {
    IndexSet out;
    auto index = static_cast<std::uint32_t>(random() % 3);
    for (int i = 0; i < 20; ++i) {
      const auto step = static_cast<std::uint32_t>(random() % 4 + 1);
      const auto times = static_cast<std::uint32_t>(random() % 3 == 0 ? random() % 9 : 0);
      out.push_back(IndexSet::Run{index, index + times * step, times == 0 ? 1 : step});
      index += times * step + static_cast<std::uint32_t>(random() % 5 + 1);
    }
    return out;
  };
  for (int round = 0; round < 1000; ++round) {
    IndexSet a = any();
    const IndexSet b = any();
    std::set<std::uint32_t> mine = numbers(a);
    const std::set<std::uint32_t> theirs = numbers(b);
    std::set<std::uint32_t> both = mine;
    both.insert(theirs.begin(), theirs.end());
    CHECK(numbers(*a.plus(b, kAny)) == both);
    std::set<std::uint32_t> left = mine;
    for (const std::uint32_t index : theirs) left.erase(index);
    const IndexSet without = *a.minus(b, kAny);
    CHECK(numbers(without) == left);
    CHECK(a.first_beyond(b) == (left.empty() ? std::nullopt : std::optional(*left.begin())));
    std::set<std::uint32_t> shared = mine;
    for (const std::uint32_t index : left) shared.erase(index);
    CHECK(numbers(a.within(b)) == shared);
    CHECK((a == b) == (mine == theirs));
    CHECK(set(a.text()) == a);
    for (int i = 0; i < 10; ++i) {
      const auto index = static_cast<std::uint32_t>(random() % 100);
      CHECK(a.contains(index) == mine.contains(index));
      a.erase(index);
      mine.erase(index);
      CHECK(numbers(a) == mine);
      CHECK(a.size() == mine.size());
    }
    for (std::uint32_t rank = 0; rank < a.size(); ++rank) CHECK(a.rank(a.at(rank)) == rank);
    CHECK(a.lowest(3).size() == std::min<std::size_t>(3, a.size()));
  }
}

TEST_CASE("sets of ranges stay sets of ranges, and what would be none is not computed") {
  const IndexSet all = set("0-999999");
  CHECK(all.minus(set("0-999999:2"), kAny)->text() == "1-999999:2");
  CHECK(set("1-999999:2").plus(set("0-999999:2"), 1)->text() == "0-999999");
  CHECK(all.within(set("7-2000000:6")).text() == "7-999997:6");
  CHECK(set("0-999996:4").within(set("2-999999:6")).text() == "8-999992:12");
  CHECK(all.minus(set("500000"), kAny)->text() == "0-499999,500001-999999");
  CHECK_FALSE(all.minus(set("0-999999:4"), 4000));
  CHECK_FALSE(set("0-999999:4").plus(set("1-999999:6"), 4000));
  CHECK(all.minus(set("0-999999:1000"), 1000)->runs().size() == 1000);
  CHECK(all.first_beyond(set("0-999998")) == 999'999U);
}

TEST_CASE("a list as long as it may be is read") {
  IndexSet far;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    far.push_back(2'000'000'000 + i * 4);
    far.push_back(2'000'000'001 + i * 4);
  }
  CHECK(far.runs().size() == 20'000);
  CHECK(set(far.text()) == far);
  std::string longest = "0";
  for (std::size_t i = 0; i < kMaxIndexRuns; ++i) longest += ",7";
  CHECK(refusal(longest, kMostArrayTasks).find("more than 1000000 ranges") != std::string::npos);
}

TEST_CASE("the output of a task is named for its array and index") {
  JobSpec spec;
  spec.working_directory = "/w";
  spec.array = parse_array("5-9", 100).value();
  const AttemptKey key{JobId{43}, TaskIndex{7}, AttemptNo{1}};
  CHECK(expand_pattern("o-%A_%t", spec, key) == "/w/o-40_7");
  CHECK(expand_pattern("o-%j", spec, key) == "/w/o-43");
  CHECK(tells_tasks_apart("%A_%t"));
  CHECK(tells_tasks_apart("/dev/null"));
  CHECK_FALSE(tells_tasks_apart("%A"));
  CHECK_FALSE(tells_tasks_apart("%%j"));
}

}  // namespace artel
