#include "noded/step/environment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <string_view>

#include "base/hostlist.h"
#include "model/attempt.h"
#include "noded/step/program.h"

namespace artel::step {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

// Left-overs of another launcher: with them a rank would look for that launcher's servers.
constexpr std::array<std::string_view, 6> kNeverPassed = {
    "PMIX_", "PMI_", "OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_COMM_WORLD_", "OMPI_UNIVERSE_SIZE"};
// With these Open MPI takes the rank for one of another resource manager.
constexpr std::array<std::string_view, 4> kNeverPassedToMpi = {"SLURM_", "SLURMD_", "FLUX_JOB_ID",
                                                               "JSM_"};

template <std::size_t N>
bool has_prefix(std::string_view name, const std::array<std::string_view, N>& prefixes) {
  for (const std::string_view prefix : prefixes) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

/// Folded where that keeps the order, which is the gang's order.
std::string host_list(const std::vector<std::string>& nodes) {
  std::string folded = fold_hosts(nodes);
  if (const auto back = unfold_hosts(folded); back && *back == nodes) return folded;
  return fmt::format("{}", fmt::join(nodes, ","));
}

void add_account(const Account& account, Variables& out) {
  out["PATH"] = kDefaultPath;
  out["LANG"] = "C.UTF-8";
  out["HOME"] = account.home;
  out["SHELL"] = account.shell;
  out["USER"] = account.name;
  out["LOGNAME"] = account.name;
}

/// Defaults that the user's own settings win over.
void add_mpi_defaults(const RankContext& context, Variables& out) {
  // Debian's defaults switch UCX off; without an mlx device pml/ucx refuses itself.
  out["OMPI_MCA_pml"] = "ucx";
  out["OMPI_MCA_osc"] = "ucx";
  if (!context.machine.has_mlx) {
    out["OMPI_MCA_opal_common_ucx_tls"] = "any";
    out["OMPI_MCA_opal_common_ucx_devices"] = "any";
  }
  std::uint64_t ranks_here = context.spec.ranks_per_node;
  if (context.simulated_node) {
    // UCX takes all simulated nodes for one host; the network path is wanted between and inside
    // them.
    out["UCX_TLS"] = "tcp,self";
    ranks_here *= context.spec.nodes.size();
  }
  if (ranks_here > context.machine.cores) out["OMPI_MCA_mpi_yield_when_idle"] = "1";
}

void add_user(const LaunchSpec& spec, Variables& out) {
  const bool mpi = spec.launch == LaunchKind::kPmix;
  for (const auto& [name, value] : spec.environment) {
    if (has_prefix(name, kNeverPassed) || (mpi && has_prefix(name, kNeverPassedToMpi))) continue;
    out[name] = value;
  }
}

void add_artel(const RankContext& context, Variables& out) {
  const LaunchSpec& spec = context.spec;
  const std::string gpus = fmt::format("{}", fmt::join(spec.gpus, ","));
  out["ARTEL_JOB_ID"] = std::to_string(spec.key.job.value);
  out["ARTEL_TASK"] = std::to_string(spec.key.task.value);
  out["ARTEL_ATTEMPT"] = std::to_string(spec.key.attempt.value);
  out["ARTEL_ATTEMPT_KEY"] = format_key(spec.key);
  out["ARTEL_CLUSTER"] = spec.cluster;
  out["ARTEL_JOB_NAME"] = spec.job_name;
  out["ARTEL_NODE"] = spec.nodes.at(spec.node_index);
  out["ARTEL_NODES"] = host_list(spec.nodes);
  out["ARTEL_NODE_INDEX"] = std::to_string(spec.node_index);
  out["ARTEL_NNODES"] = std::to_string(spec.nodes.size());
  out["ARTEL_RANKS_PER_NODE"] = std::to_string(spec.ranks_per_node);
  out["ARTEL_CPUS"] = std::to_string(spec.cpus);
  out["ARTEL_GPUS"] = gpus;
  out["CUDA_VISIBLE_DEVICES"] = gpus;
}

/// What torchrun and init_process_group("env://") read.
void add_rendezvous(const RankContext& context, Variables& out) {
  const LaunchSpec& spec = context.spec;
  if (!context.peers.empty()) out["MASTER_ADDR"] = context.peers.front().address;
  if (spec.master_port != 0) out["MASTER_PORT"] = std::to_string(spec.master_port);
  out["NODE_RANK"] = std::to_string(spec.node_index);
  out["NNODES"] = std::to_string(spec.nodes.size());
}

void add_rank(const LaunchSpec& spec, std::uint32_t local, Variables& out) {
  const std::string rank = std::to_string(rank_number(spec, local));
  const std::string size = std::to_string(world_size(spec));
  out["RANK"] = rank;
  out["ROLE_RANK"] = rank;
  out["WORLD_SIZE"] = size;
  out["ROLE_WORLD_SIZE"] = size;
  out["LOCAL_RANK"] = std::to_string(local);
  out["LOCAL_WORLD_SIZE"] = std::to_string(spec.ranks_per_node);
  out["GROUP_RANK"] = std::to_string(spec.node_index);
  const std::string restarts =
      std::to_string(spec.key.attempt.value == 0 ? 0 : spec.key.attempt.value - 1);
  out["TORCHELASTIC_RUN_ID"] = fmt::format("artel-{}", format_key(spec.key));
  out["TORCHELASTIC_RESTART_COUNT"] = restarts;
  out["TORCHELASTIC_MAX_RESTARTS"] = restarts;
}

/// The variables by which Open MPI 4 sees that it was launched directly: without the old spellings
/// SLURM_JOBID, SLURM_NODELIST and SLURM_STEP_ID each rank would silently be a world of its own.
void add_direct_launch(const LaunchSpec& spec, std::uint32_t local, Variables& out) {
  const std::string job = std::to_string(spec.key.job.value);
  const std::string nodes = host_list(spec.nodes);
  const std::string count = std::to_string(spec.nodes.size());
  const std::string size = std::to_string(world_size(spec));
  const std::string per_node = spec.nodes.size() == 1
                                   ? std::to_string(spec.ranks_per_node)
                                   : fmt::format("{}(x{})", spec.ranks_per_node, spec.nodes.size());
  for (const char* name : {"SLURM_JOBID", "SLURM_JOB_ID"}) out[name] = job;
  for (const char* name : {"SLURM_STEP_ID", "SLURM_STEPID"}) out[name] = "0";
  for (const char* name : {"SLURM_NODELIST", "SLURM_JOB_NODELIST", "SLURM_STEP_NODELIST"}) {
    out[name] = nodes;
  }
  for (const char* name : {"SLURM_NNODES", "SLURM_JOB_NUM_NODES", "SLURM_STEP_NUM_NODES"}) {
    out[name] = count;
  }
  for (const char* name : {"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_STEP_NUM_TASKS"})
    out[name] = size;
  for (const char* name : {"SLURM_TASKS_PER_NODE", "SLURM_STEP_TASKS_PER_NODE"}) {
    out[name] = per_node;
  }
  out["SLURM_PROCID"] = std::to_string(rank_number(spec, local));
  out["SLURM_LOCALID"] = std::to_string(local);
  out["SLURM_NODEID"] = std::to_string(spec.node_index);
  out["SLURMD_NODENAME"] = spec.nodes.at(spec.node_index);
}

void add_mpi(const LaunchSpec& spec, std::uint32_t local, const Environment& pmix, Variables& out) {
  const std::string size = std::to_string(world_size(spec));
  add_direct_launch(spec, local, out);
  out["OMPI_COMM_WORLD_RANK"] = std::to_string(rank_number(spec, local));
  out["OMPI_COMM_WORLD_SIZE"] = size;
  out["OMPI_UNIVERSE_SIZE"] = size;
  out["OMPI_COMM_WORLD_LOCAL_RANK"] = std::to_string(local);
  out["OMPI_COMM_WORLD_LOCAL_SIZE"] = std::to_string(spec.ranks_per_node);
  out["OMPI_COMM_WORLD_NODE_RANK"] = std::to_string(local);
  for (const auto& [name, value] : pmix) out[name] = value;
}

}  // namespace

std::uint32_t local_ranks(const LaunchSpec& spec) {
  if (spec.launch == LaunchKind::kScript) return spec.node_index == 0 ? 1 : 0;
  return spec.ranks_per_node;
}

std::uint32_t rank_number(const LaunchSpec& spec, std::uint32_t local) {
  return spec.node_index * spec.ranks_per_node + local;
}

std::uint32_t world_size(const LaunchSpec& spec) {
  return static_cast<std::uint32_t>(spec.nodes.size()) * spec.ranks_per_node;
}

std::vector<std::string> rank_environment(const RankContext& context, std::uint32_t local,
                                          const Environment& pmix) {
  const LaunchSpec& spec = context.spec;
  Variables variables;
  add_account(context.account, variables);
  // Device numbers are those of the PCI bus, as everywhere in Artel.
  variables["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  if (spec.launch == LaunchKind::kPmix) add_mpi_defaults(context, variables);
  add_user(spec, variables);
  add_artel(context, variables);
  add_rendezvous(context, variables);
  if (spec.launch != LaunchKind::kScript) add_rank(spec, local, variables);
  if (spec.launch == LaunchKind::kPmix) add_mpi(spec, local, pmix, variables);
  std::vector<std::string> out;
  out.reserve(variables.size());
  for (const auto& [name, value] : variables) out.push_back(fmt::format("{}={}", name, value));
  return out;
}

}  // namespace artel::step
