// Readers: what they take, and that they name file and line for what they do not.
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "sim/trace/cluster.h"
#include "sim/trace/lines.h"
#include "sim/trace/read.h"
#include "sim/trace/teams.h"

namespace artel::trace {
namespace {

namespace fs = std::filesystem;

/// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    static int count = 0;
    path_ = fs::temp_directory_path() / fmt::format("artel-trace-{}-{}", ::getpid(), ++count);
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string packed(const std::string& text) {
  const Folder folder;
  const fs::path file = folder.path() / "packed";
  gzFile out = gzopen(file.c_str(), "wb");
  REQUIRE(gzwrite(out, text.data(), static_cast<unsigned>(text.size())) > 0);
  REQUIRE(gzclose(out) == Z_OK);
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const std::string kHead = "submit_s,job_id,user,team,cpus,runtime_s,requested_s\n";

std::string csv_error(const std::string& text) {
  const auto workload = parse_csv("w.csv", text);
  REQUIRE_FALSE(workload);
  CHECK(workload.error().code == ErrorCode::kInvalidArgument);
  return workload.error().text;
}

TEST_CASE("a row of CSV is a job") {
  const auto workload = parse_csv("w.csv", kHead + "100,a,u1,g1,8,60,90\n130,b,,,0.5,1,\n");
  REQUIRE(workload);
  REQUIRE(workload->jobs.size() == 2);
  const Job& a = workload->jobs[0];
  CHECK(a.submit == 0);  // times count from the first
  CHECK(a.runtime == 60);
  CHECK(a.limit == 90);
  CHECK(a.cpus == 8000);
  CHECK(workload->names[a.team] == "g1");
  const Job& b = workload->jobs[1];
  CHECK(b.submit == 30);
  CHECK(b.cpus == 500);
  CHECK_FALSE(b.limit);
  CHECK(workload->names[b.user].empty());
}

TEST_CASE("what is wrong in CSV is told with file and line") {
  using Catch::StartsWith;
  CHECK_THAT(csv_error(""), StartsWith("w.csv:0: the file is empty"));
  CHECK_THAT(csv_error("submit_s,job_id,runtime_s,teem\n"),
             StartsWith("w.csv:1: unknown column 'teem', did you mean 'team'?"));
  CHECK_THAT(csv_error("submit_s,runtime_s\n"), StartsWith("w.csv:1: there is no column job_id"));
  CHECK_THAT(csv_error("submit_s,submit_s\n"),
             StartsWith("w.csv:1: column submit_s is there twice"));
  CHECK_THAT(csv_error(kHead + "0,a,,,1,60\n"), StartsWith("w.csv:2: has 6 fields"));
  CHECK_THAT(csv_error(kHead + "0,a,,,1,60,\n0,a,,,1,60,\n"), StartsWith("w.csv:3: job_id 'a'"));
  CHECK_THAT(csv_error(kHead + "0,,,,1,60,\n"), StartsWith("w.csv:2: job_id is empty"));
  CHECK_THAT(csv_error(kHead + "5,a,,,1,60,\n4,b,,,1,60,\n"), StartsWith("w.csv:3: submit_s"));
  CHECK_THAT(csv_error(kHead + "0,a,,,1,0,\n"), StartsWith("w.csv:2: runtime_s: '0'"));
  CHECK_THAT(csv_error(kHead + "0,a,,,1,60s,\n"), StartsWith("w.csv:2: runtime_s: '60s'"));
  CHECK_THAT(csv_error(kHead + "0,a,,,1,60,-1\n"), StartsWith("w.csv:2: requested_s: '-1'"));
  CHECK_THAT(csv_error(kHead + "0,a,,,1.2345,60,\n"), StartsWith("w.csv:2: cpus: '1.2345'"));
  CHECK_THAT(csv_error(kHead + "0,a,,,-1,60,\n"), StartsWith("w.csv:2: cpus: '-1'"));
  CHECK_THAT(csv_error(kHead + "\n"), StartsWith("w.csv:2: has 1 fields"));
}

TEST_CASE("a line of SWF is a job, its head tells the machine") {
  const auto workload = parse_swf("w.swf",
                                  "; MaxNodes: 64\n; MaxProcs: 128 (two each)\n; Note: anything\n\n"
                                  "1 0 5 100 4 -1 -1 8 200 -1 1 3 2 -1 1 -1 -1 -1\n"
                                  "2 10 -1 50 16 12.5 -1 -1 -1 -1 1 3 2 -1 1 -1 -1 -1\n"
                                  "3 20 -1 0 1 -1 -1 1 -1 -1 5 3 2 -1 1 -1 -1 -1\n");
  REQUIRE(workload);
  CHECK(workload->capacity == 128 * kMilli);
  CHECK(workload->resource == Resource::kCpus);
  REQUIRE(workload->jobs.size() == 2);
  CHECK(workload->dropped == 1);  // it never ran
  CHECK(workload->jobs[0].cpus == 8 * kMilli);
  CHECK(workload->jobs[0].limit == 200);
  CHECK(workload->names[workload->jobs[0].user] == "u3");
  CHECK(workload->jobs[1].cpus == 16 * kMilli);
  CHECK_FALSE(workload->jobs[1].limit);
}

TEST_CASE("what is wrong in SWF is told with file and line") {
  const auto error = [](const std::string& text) {
    const auto workload = parse_swf("w.swf", text);
    REQUIRE_FALSE(workload);
    return workload.error().text;
  };
  using Catch::StartsWith;
  CHECK_THAT(error("; MaxProcs: many\n"), StartsWith("w.swf:1: MaxProcs:"));
  CHECK_THAT(error("1 2 3\n"), StartsWith("w.swf:1: has 3 fields"));
  CHECK_THAT(error("1 0 5 x 4 -1 -1 8 200 -1 1 3 2 -1 1 -1 -1 -1\n"),
             StartsWith("w.swf:1: field 4 (run time): 'x'"));
  CHECK_THAT(error("1 0 5 9 4 -1 -1 8 200 -1 1 3 2 -1 1 -1 -1 -1 7\n"),
             StartsWith("w.swf:1: has more than 18 fields"));
  CHECK_THAT(error("1 -1 5 9 4 -1 -1 8 200 -1 1 3 2 -1 1 -1 -1 -1\n"),
             StartsWith("w.swf:1: the submit time"));
}

TEST_CASE("a packed workload is read like a plain one, a cut one is refused") {
  const Folder folder;
  std::string rows = kHead;
  for (int i = 0; i < 5000; ++i) rows += fmt::format("{},j{},,,1,60,\n", i, i);
  const std::string archive = packed(rows);
  const auto whole = read_workload(folder.write("w.csv.gz", archive));
  REQUIRE(whole);
  CHECK(whole->name == "w");
  CHECK(whole->jobs.size() == 5000);
  const auto cut = read_workload(folder.write("cut.csv.gz", archive.substr(0, archive.size() / 2)));
  REQUIRE_FALSE(cut);
  CHECK(cut.error().code == ErrorCode::kIo);
  std::string bad = archive;
  bad[bad.size() / 2] = static_cast<char>(bad[bad.size() / 2] ^ 0x55);
  CHECK_FALSE(read_workload(folder.write("bad.csv.gz", bad)));
}

TEST_CASE("a workload that is not there, a folder and another ending are refused") {
  const Folder folder;
  CHECK(read_workload(folder.path() / "none.csv").error().code == ErrorCode::kIo);
  fs::create_directory(folder.path() / "dir.csv");
  CHECK(read_workload(folder.path() / "dir.csv").error().code == ErrorCode::kIo);
  CHECK_THAT(read_workload(folder.path() / "w.txt").error().text, Catch::Contains(".csv or .swf"));
}

TEST_CASE("numbers in thousandths are exact or refused") {
  CHECK(milli_number("11.908") == 11908);
  CHECK(milli_number("0.5") == 500);
  CHECK(milli_number("7") == 7000);
  for (const char* text : {"", ".", "1.", ".5", "1.2345", "-1", "-0.5", "1e3", "0x1", " 1", "1,5",
                           "99999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(milli_number(text));
  }
}

TEST_CASE("a teams file says what teams are guaranteed") {
  const Folder folder;
  const auto teams = read_teams_file(folder.write("teams.toml", R"(
[[cohort]]
name = "research"
[[team]]
name = "nlp"
cohort = "research"
guarantee = { h100 = 16, a100 = 8 }
limit = 48
weight = 2
groups = ["nlp"]
[[team]]
name = "ops"
guarantee = 4
)"));
  REQUIRE(teams);
  CHECK(guarantee_of(*teams->find("nlp")) == 24 * kMilli);
  CHECK(guarantee_of(*teams->find("ops")) == 4 * kMilli);
  CHECK(teams->find("nlp")->weight == 2);
  CHECK(teams->find("none") == nullptr);
}

TEST_CASE("mistakes in a teams file are told all at once, with line and key") {
  const Folder folder;
  const auto teams = read_teams_file(folder.write("teams.toml",
                                                  "[[team]]\nname = \"a\"\ncohort = \"x\"\n"
                                                  "guarantee = \"many\"\nlimmit = 3\n"
                                                  "[[team]]\nname = \"a\"\n"));
  REQUIRE_FALSE(teams);
  CHECK(teams.error().code == ErrorCode::kConfig);
  for (const char* part : {":4: team.guarantee: must be a number", ":5: team.limmit: unknown key",
                           "there is no cohort 'x'", "team 'a' is defined already"}) {
    CHECK_THAT(teams.error().text, Catch::Contains(part));
  }
}

TEST_CASE("a cluster file is read as the nodes of a configuration") {
  const Folder folder;
  const auto nodes = read_cluster_file(folder.write(
      "c.toml",
      "[[node]]\nnames = \"n[1-4]\"\ncpus = 96\nmemory = \"1TiB\"\ngpus = { h100 = 8 }\n"));
  REQUIRE(nodes);
  CHECK(capacity_of(*nodes, Resource::kGpus) == 32 * kMilli);
  CHECK(capacity_of(*nodes, Resource::kCpus) == 384 * kMilli);
  CHECK(capacity_of(*nodes, Resource::kNodes) == 4 * kMilli);
  CHECK_FALSE(read_cluster_file(folder.write("empty.toml", "")));
}

}  // namespace
}  // namespace artel::trace
