// The quota tree: what is read, and what does not fit together.
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "config/config.h"

using namespace artel;
using namespace artel::config;
using namespace std::chrono_literals;

namespace {

/// A cluster of two nodes of 8 h100 and this text as teams.d.
Result<SiteConfig> load(const std::string& teams, const std::string& nodes = "") {
  std::string pattern = (std::filesystem::temp_directory_path() / "artel-teams-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  const std::filesystem::path folder = pattern;
  std::filesystem::create_directories(folder / "cluster.d");
  std::filesystem::create_directories(folder / "teams.d");
  std::ofstream(folder / "artel.toml") << "";
  std::ofstream(folder / "cluster.d" / "n.toml")
      << "[[node]]\nnames = \"n[1-2]\"\ncpus = 4\nmemory = \"1GiB\"\ngpus = { h100 = 8 }\n"
      << nodes;
  std::ofstream(folder / "teams.d" / "t.toml") << teams;
  auto loaded = load_config(folder);
  std::filesystem::remove_all(folder);
  return loaded;
}

std::string mistake(const std::string& teams, const std::string& nodes = "") {
  const auto loaded = load(teams, nodes);
  REQUIRE_FALSE(loaded);
  const std::string& text = loaded.error().text;
  CHECK(text.find('\n') == std::string::npos);
  return text.substr(text.find("t.toml:") + 7);
}

bool begins(const std::string& text, const std::string& part) {
  INFO(text);
  return text.starts_with(part);
}

}  // namespace

TEST_CASE("every key of teams.d is read") {
  const auto loaded = load(R"(
[[cohort]]
name = "research"
guarantee = { h100 = 12, cores = 4 }
[[cohort]]
name = "lab"
parent = "research"
[[team]]
name = "nlp"
cohort = "lab"
guarantee = 8
limit = { h100 = 16 }
borrow = 4
lend = 2
weight = 0.5
users = ["alice"]
groups = ["nlp"]
budget = 1000.5
nodes = "n1"
[[queue]]
name = "train"
team = "nlp"
class = "production"
classes = ["production", "test"]
max_time = "3d"
max_jobs_per_user = 20
max_gpus_per_user = 8
strict_fifo = true
users = ["bob"]
groups = ["ml"]
[[class]]
name = "test"
grace = "0s"
[[class]]
name = "urgent"
priority = 500
preemptible = false
grace = "2m"
)");
  INFO((loaded ? "" : loaded.error().text));
  REQUIRE(loaded);
  const TeamsConfig& teams = loaded->teams;
  CHECK(teams.cohorts ==
        std::vector<CohortConfig>{{"research", "", {QuotaAmounts{{"cores", 4}, {"h100", 12}}}},
                                  {"lab", "research", {}}});
  CHECK(teams.teams ==
        std::vector<TeamConfig>{
            {"nlp",
             "lab",
             {QuotaAmounts{{"h100", 8}}, {{"h100", 16}}, {{"h100", 4}}, {{"h100", 2}}, 0.5},
             {{"alice"}, {"nlp"}},
             1000.5}});
  CHECK(teams.queues == std::vector<QueueConfig>{{"train",
                                                  "nlp",
                                                  "production",
                                                  {"production", "test"},
                                                  72h,
                                                  20,
                                                  8,
                                                  true,
                                                  {{"bob"}, {"ml"}}}});
  CHECK(*teams.find_class("test") == ClassConfig{"test", 100, true, 0s});
  CHECK(*teams.find_class("urgent") == ClassConfig{"urgent", 500, false, 2min});
  CHECK(loaded->nodes[0].owner == "nlp");
}

TEST_CASE("a cohort may be written after those below it") {
  const auto loaded = load("[[cohort]]\nname = \"b\"\nparent = \"a\"\n[[cohort]]\nname = \"a\"\n");
  REQUIRE(loaded);
  CHECK(loaded->teams.cohorts.front().name == "a");
}

TEST_CASE("names of the tree that lead nowhere are told with the nearest") {
  CHECK(begins(mistake("[[cohort]]\nname = \"a\"\n[[team]]\nname = \"t\"\ncohort = \"aa\""),
               "3: team.cohort: there is no cohort 'aa', did you mean 'a'?"));
  CHECK(begins(mistake("[[cohort]]\nname = \"a\"\nparent = \"a\""),
               "1: cohort.parent: 'a' is below itself"));
  CHECK(begins(mistake("[[queue]]\nname = \"q\"\nclass = \"prodution\""),
               "1: queue.class: there is no class 'prodution', did you mean 'production'?"));
  CHECK(begins(mistake("[[team]]\nname = \"t\"\nguarantee = { h10 = 1 }"),
               "3: team.guarantee: no node has GPUs of type 'h10', did you mean 'h100'?"));
  CHECK(begins(mistake("[[team]]\nname = \"t\"\nnodes = \"n3\""),
               "1: team.nodes: there is no node 'n3', did you mean"));
}

TEST_CASE("siblings all state a guarantee or none does") {
  CHECK(begins(mistake("[[team]]\nname = \"a\"\nguarantee = 8\n[[team]]\nname = \"b\"\n"),
               "4: team.guarantee: is missing, but team 'a' beside it has one; siblings all state "
               "a guarantee or none does (rule Q1): write guarantee = {} for none"));
  CHECK(load("[[team]]\nname = \"a\"\nguarantee = 8\n[[team]]\nname = \"b\"\nguarantee = {}"));
  CHECK(begins(mistake("[[team]]\nname = \"a\"\nweight = 2"),
               "1: team.weight: says nothing without guarantees"));
  // A cohort without one of its own has that of its teams.
  CHECK(
      load("[[cohort]]\nname = \"c\"\n[[team]]\nname = \"a\"\ncohort = \"c\"\nguarantee = 8\n"
           "[[team]]\nname = \"b\"\nguarantee = 0"));
}

TEST_CASE("a cohort is guaranteed at least what is promised below it") {
  const std::string teams =
      "[[team]]\nname = \"a\"\ncohort = \"c\"\nguarantee = 8\n"
      "[[team]]\nname = \"b\"\ncohort = \"c\"\nguarantee = 4\n";
  CHECK(begins(mistake("[[cohort]]\nname = \"c\"\nguarantee = 10\n" + teams),
               "1: cohort.guarantee: h100 = 10 is less than the 12 that 'c' promises below (rule "
               "Q1); raise it, or leave it out"));
  CHECK(load("[[cohort]]\nname = \"c\"\nguarantee = 12\n" + teams));
}

TEST_CASE("one number is of the only GPU type") {
  CHECK(begins(mistake("[[team]]\nname = \"a\"\nlimit = 8",
                       "[[node]]\nname = \"m\"\ncpus = 4\nmemory = \"1G\"\ngpus = { a100 = 4 }"),
               "3: team.limit: the cluster has several GPU types; write limit = { a100 = 8 }"));
}

TEST_CASE("classes are so far apart that no job's own priority matters") {
  CHECK(begins(mistake("[[class]]\nname = \"x\"\npriority = 350"),
               "1: class.priority: 'production' has 300 and 'x' 350; classes must be 100 or more"));
  CHECK(begins(mistake("[[class]]\nname = \"x\"\n"), "1: class.priority: is missing"));
  CHECK(begins(mistake("[[queue]]\nname = \"q\"\nclasses = [\"test\"]"),
               "1: queue.classes: jobs that name no class have 'development'"));
}

TEST_CASE("a node has one owner") {
  CHECK(begins(mistake("[[team]]\nname = \"a\"\nnodes = \"n1\"\n[[team]]\nname = \"b\"\nnodes = "
                       "\"n[1-2]\""),
               "6: team.nodes: 'n1' is team 'a''s already"));
}
