#include "noded/step/environment.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>

using namespace artel;
using namespace artel::step;

namespace {

struct Fixture {
  LaunchSpec spec;
  Account account{.name = "alice", .home = "/home/alice", .shell = "/bin/bash", .uid = 1000};
  std::vector<StepPeer> peers{{"hgx01", "10.0.0.1", 40000}, {"hgx02", "10.0.0.2", 0}};
  Machine machine{.has_mlx = false, .cores = 64};
  bool simulated = false;
  Environment pmix;

  Fixture() {
    spec.key = {JobId{17}, TaskIndex{2}, AttemptNo{3}};
    spec.cluster = "alpha";
    spec.nodes = {"hgx01", "hgx02"};
    spec.node_index = 1;
    spec.ranks_per_node = 4;
    spec.launch = LaunchKind::kPlain;
    spec.gpus = {0, 1, 5};
    spec.master_port = 29500;
  }
  [[nodiscard]] std::optional<std::string> get(const std::string& name,
                                               std::uint32_t local = 2) const {
    const auto all = rank_environment({.spec = spec,
                                       .account = account,
                                       .peers = peers,
                                       .machine = machine,
                                       .simulated_node = simulated},
                                      local, pmix);
    CHECK(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.substr(0, a.find('=')) < b.substr(0, b.find('='));
    }));
    for (const std::string& variable : all) {
      if (variable.starts_with(name + "=")) return variable.substr(name.size() + 1);
    }
    return std::nullopt;
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a rank knows its place in the gang", "[step]") {
  CHECK(get("RANK") == "6");
  CHECK(get("LOCAL_RANK") == "2");
  CHECK(get("WORLD_SIZE") == "8");
  CHECK(get("LOCAL_WORLD_SIZE") == "4");
  CHECK(get("GROUP_RANK") == "1");
  CHECK(get("NODE_RANK") == "1");
  CHECK(get("MASTER_ADDR") == "10.0.0.1");
  CHECK(get("MASTER_PORT") == "29500");
  CHECK(get("TORCHELASTIC_RESTART_COUNT") == "2");
  CHECK(get("ARTEL_ATTEMPT_KEY") == "17.2.3");
  CHECK(get("ARTEL_NODES") == "hgx[01-02]");
  CHECK(get("CUDA_VISIBLE_DEVICES") == "0,1,5");
}

TEST_CASE_METHOD(Fixture, "a rank without GPUs sees none", "[step]") {
  spec.gpus.clear();
  CHECK(get("CUDA_VISIBLE_DEVICES") == "");
}

TEST_CASE_METHOD(Fixture, "a login's variables are there unless the user passes others", "[step]") {
  CHECK(get("HOME") == "/home/alice");
  CHECK(get("SHELL") == "/bin/bash");
  CHECK(get("PATH") == "/usr/local/bin:/usr/bin:/bin");
  spec.environment = {{"PATH", "/opt/bin"}, {"HOME", "/scratch"}};
  CHECK(get("PATH") == "/opt/bin");
  CHECK(get("HOME") == "/scratch");
}

TEST_CASE_METHOD(Fixture, "Artel's own variables win over the user's", "[step]") {
  spec.environment = {{"RANK", "9"}, {"ARTEL_JOB_ID", "1"}, {"CUDA_VISIBLE_DEVICES", "7"}};
  CHECK(get("RANK") == "6");
  CHECK(get("ARTEL_JOB_ID") == "17");
  CHECK(get("CUDA_VISIBLE_DEVICES") == "0,1,5");
}

TEST_CASE_METHOD(Fixture, "a script gets the rendezvous but no rank", "[step]") {
  spec.launch = LaunchKind::kScript;
  CHECK(get("MASTER_ADDR") == "10.0.0.1");
  CHECK(get("NNODES") == "2");
  CHECK_FALSE(get("RANK"));
  CHECK_FALSE(get("LOCAL_RANK"));
  CHECK_FALSE(get("GROUP_RANK"));
  CHECK_FALSE(get("SLURM_JOBID"));
}

TEST_CASE_METHOD(Fixture, "left-overs of other launchers are not passed on", "[step]") {
  spec.environment = {{"PMIX_RANK", "1"},
                      {"PMI_FD", "1"},
                      {"OMPI_MCA_ess", "singleton"},
                      {"OMPI_MCA_orte_hnp_uri", "x"},
                      {"OMPI_COMM_WORLD_RANK", "1"}};
  for (const auto& [name, value] : spec.environment) CHECK_FALSE(get(name));
}

TEST_CASE_METHOD(Fixture,
                 "an MPI rank is told of a direct launch in the spellings that Open MPI reads",
                 "[step]") {
  spec.launch = LaunchKind::kPmix;
  spec.environment = {{"SLURM_JOBID", "999"}, {"FLUX_JOB_ID", "f"}};
  pmix = {{"PMIX_RANK", "6"}};
  CHECK(get("SLURM_JOBID") == "17");
  CHECK(get("SLURM_NODELIST") == "hgx[01-02]");
  CHECK(get("SLURM_STEP_ID") == "0");
  CHECK(get("SLURM_PROCID") == "6");
  CHECK(get("SLURM_TASKS_PER_NODE") == "4(x2)");
  CHECK(get("OMPI_COMM_WORLD_SIZE") == "8");
  CHECK(get("PMIX_RANK") == "6");
  CHECK_FALSE(get("FLUX_JOB_ID"));
}

TEST_CASE_METHOD(Fixture, "MPI goes over UCX, on any transport where there is no mlx device",
                 "[step]") {
  spec.launch = LaunchKind::kPmix;
  CHECK(get("OMPI_MCA_pml") == "ucx");
  CHECK(get("OMPI_MCA_osc") == "ucx");
  CHECK(get("OMPI_MCA_opal_common_ucx_tls") == "any");
  CHECK_FALSE(get("UCX_TLS"));
  machine.has_mlx = true;
  CHECK_FALSE(get("OMPI_MCA_opal_common_ucx_tls"));
}

TEST_CASE_METHOD(Fixture,
                 "simulated nodes speak TCP with each other and yield where cores are short",
                 "[step]") {
  spec.launch = LaunchKind::kPmix;
  machine.cores = 7;
  CHECK_FALSE(get("OMPI_MCA_mpi_yield_when_idle"));
  simulated = true;
  CHECK(get("UCX_TLS") == "tcp,self");
  CHECK(get("OMPI_MCA_mpi_yield_when_idle") == "1");
}

TEST_CASE_METHOD(Fixture, "the user's choice of transport wins over the defaults", "[step]") {
  spec.launch = LaunchKind::kPmix;
  simulated = true;
  spec.environment = {{"OMPI_MCA_pml", "ob1"}, {"UCX_TLS", "tcp,sm,self"}};
  CHECK(get("OMPI_MCA_pml") == "ob1");
  CHECK(get("UCX_TLS") == "tcp,sm,self");
}

TEST_CASE_METHOD(Fixture, "nodes that are not in sorted order are listed in gang order", "[step]") {
  spec.nodes = {"hgx02", "hgx01"};
  CHECK(get("ARTEL_NODES") == "hgx02,hgx01");
}

TEST_CASE("only the first node of a script has a process", "[step]") {
  LaunchSpec spec;
  spec.nodes = {"a", "b"};
  spec.ranks_per_node = 8;
  spec.launch = LaunchKind::kScript;
  CHECK(local_ranks(spec) == 1);
  spec.node_index = 1;
  CHECK(local_ranks(spec) == 0);
  spec.launch = LaunchKind::kPlain;
  CHECK(local_ranks(spec) == 8);
}
