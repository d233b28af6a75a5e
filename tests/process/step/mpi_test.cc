// MPI ranks, launched directly over several step daemons.
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>

#include "fake_agent.h"

#ifdef ARTEL_MPI_PROBE

using namespace artel;
using namespace artel::test;

namespace {

constexpr std::chrono::seconds kMpiPatience{60};

struct MpiGang : FakeGang {
  explicit MpiGang(const std::vector<std::string>& arguments, std::uint32_t node_count = 4,
                   std::uint32_t ranks = 2)
      : FakeGang(node_count, ranks) {
    spec.launch = LaunchKind::kPmix;
    spec.argv = {ARTEL_MPI_PROBE};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  }
  void wait_for_ranks() {
    const std::size_t size = nodes.size() * spec.ranks_per_node;
    if (!eventually([&] { return count_lines(output(), "rank ") == size; }, kMpiPatience)) {
      FAIL("ranks are missing: " << output());
    }
  }
  /// Pid of an MPI rank from the line that it printed.
  pid_t pid_of(int rank) {
    std::istringstream in(output());
    for (std::string line; std::getline(in, line);) {
      int number = -1;
      if (std::sscanf(line.c_str(), "rank %d", &number) != 1 || number != rank) continue;
      return std::stoi(line.substr(line.rfind(' ') + 1));
    }
    return -1;
  }
};

bool no_pmix_files(const FakeGang& gang) {
  for (const FakeNode& node : gang.nodes) {
    if (std::filesystem::exists(node.directory() + "/pmix")) return false;
    if (std::filesystem::exists(node.directory() + "/pmix-job")) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("MPI ranks on four nodes are one world", "[mpi]") {
  MpiGang gang({});
  gang.launch();
  for (const NodeEnd& end : gang.ends(kMpiPatience)) {
    INFO(gang.output());
    CHECK(end.cause.text == "all 8 ranks ended with exit code 0");
  }
  const std::string output = gang.output();
  INFO(output);
  std::set<std::string> nodes;
  std::set<int> ranks;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);) {
    int rank = -1;
    int size = -1;
    char node[64] = "";
    if (std::sscanf(line.c_str(), "rank %d of %d node %63s", &rank, &size, node) != 3) continue;
    CHECK(size == 8);
    ranks.insert(rank);
    nodes.insert(node);
  }
  CHECK(ranks.size() == 8);
  CHECK(nodes == std::set<std::string>{"hgx01", "hgx02", "hgx03", "hgx04"});
  for (FakeNode& node : gang.nodes) CHECK(node.forget() == 0);
  CHECK(no_pmix_files(gang));
  CHECK(gang.marked().empty());
}

TEST_CASE("MPI_Abort ends the gang with its code, rank and node", "[mpi]") {
  MpiGang gang({"--abort", "5:42"});
  gang.launch();
  const auto ends = gang.ends(kMpiPatience);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    CHECK(ends[i].cause.code == CauseCode::kAbort);
    CHECK(ends[i].cause.exit_code == 42);
    CHECK(ends[i].cause.rank == 5U);
    CHECK(ends[i].cause.node == "hgx03");
    CHECK(ends[i].cause.text == "rank 5 on hgx03 called MPI_Abort with code 42");
    CHECK(ends[i].is_origin == (i == 2));
  }
  CHECK(gang.marked().empty());
  for (FakeNode& node : gang.nodes) CHECK(node.forget() == 0);
  CHECK(no_pmix_files(gang));
}

TEST_CASE("kill -9 of an MPI rank ends all ranks on all nodes within 5 s", "[mpi]") {
  MpiGang gang({"--sleep", "100"});
  gang.launch();
  gang.wait_for_ranks();
  ::kill(gang.pid_of(3), SIGKILL);
  CHECK(eventually([&] { return gang.marked().empty(); }, std::chrono::seconds(5)));
  for (const NodeEnd& end : gang.ends()) {
    CHECK(end.cause.text == "rank 3 on hgx02 was killed by signal 9 (KILL)");
  }
}

TEST_CASE("an MPI rank that leaves with code 0 but without MPI_Finalize fails the gang", "[mpi]") {
  MpiGang gang({"--exit", "6:0"});
  gang.launch();
  for (const NodeEnd& end : gang.ends(kMpiPatience)) {
    CHECK(end.cause.code == CauseCode::kLeftEarly);
    CHECK(end.cause.rank == 6U);
    CHECK(end.cause.text == "rank 6 on hgx04 left the MPI run without MPI_Finalize");
  }
}

TEST_CASE("a cancelled MPI gang leaves nothing behind", "[mpi]") {
  MpiGang gang({"--sleep", "100"}, 2);
  gang.launch();
  gang.wait_for_ranks();
  gang.stop({.actor = Actor::kUser, .code = CauseCode::kCancel, .actor_name = "alice"});
  for (const NodeEnd& end : gang.ends()) CHECK(end.cause.code == CauseCode::kCancel);
  CHECK(gang.marked().empty());
}

TEST_CASE("programs without MPI run and end well under a PMIx launch", "[mpi]") {
  MpiGang gang({}, 2);
  gang.shell("echo rank $RANK world $OMPI_COMM_WORLD_SIZE of $PMIX_RANK");
  gang.launch();
  for (const NodeEnd& end : gang.ends(kMpiPatience)) CHECK(end.cause.exit_code == 0);
  CHECK(gang.output().find("rank 3 world 4 of 3") != std::string::npos);
}

#else

TEST_CASE("MPI is not part of this build", "[mpi]") { WARN("skipped: no PMIx or no MPI here"); }

#endif
