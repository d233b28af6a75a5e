#include "noded/pmix/job_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <memory>
#include <numeric>

namespace artel::pmix {
namespace {

using step::PmixSetup;

struct Free {
  void operator()(char* text) const { std::free(text); }
};
using LibraryText = std::unique_ptr<char, Free>;

std::uint32_t job_size(const PmixSetup& setup) {
  return static_cast<std::uint32_t>(setup.nodes.size()) * setup.ranks_per_node;
}

std::uint32_t first_local(const PmixSetup& setup) {
  return setup.node_index * setup.ranks_per_node;
}

std::string ranks_of_node(std::uint32_t node, std::uint32_t per_node) {
  std::vector<std::uint32_t> ranks(per_node);
  std::iota(ranks.begin(), ranks.end(), node * per_node);
  return fmt::format("{}", fmt::join(ranks, ","));
}

Result<> add_maps(const PmixSetup& setup, InfoList& out) {
  std::vector<std::string> per_node;
  for (std::uint32_t node = 0; node < setup.nodes.size(); ++node) {
    per_node.push_back(ranks_of_node(node, setup.ranks_per_node));
  }
  const std::string nodes = fmt::format("{}", fmt::join(setup.nodes, ","));
  const std::string ranks = fmt::format("{}", fmt::join(per_node, ";"));
  char* made = nullptr;
  if (PMIx_generate_regex(nodes.c_str(), &made) != PMIX_SUCCESS) {
    return fail(ErrorCode::kLaunch, "PMIx cannot make a map of the nodes");
  }
  const LibraryText node_map(made);
  if (PMIx_generate_ppn(ranks.c_str(), &made) != PMIX_SUCCESS) {
    return fail(ErrorCode::kLaunch, "PMIx cannot make a map of the ranks");
  }
  const LibraryText rank_map(made);
  out.regex(PMIX_NODE_MAP, node_map.get());
  out.regex(PMIX_PROC_MAP, rank_map.get());
  return {};
}

void add_sizes(const PmixSetup& setup, const std::string& job_folder, InfoList& out) {
  const std::uint32_t size = job_size(setup);
  const auto nodes = static_cast<std::uint32_t>(setup.nodes.size());
  out.text(PMIX_JOBID, setup.job_id);
  for (const char* key : {PMIX_UNIV_SIZE, PMIX_JOB_SIZE, PMIX_MAX_PROCS, PMIX_APP_SIZE}) {
    out.number(key, size);
  }
  out.number(PMIX_JOB_NUM_APPS, 1);
  out.number(PMIX_NUM_NODES, nodes);
  out.number(PMIX_LOCAL_SIZE, setup.ranks_per_node);
  out.number(PMIX_NODE_SIZE, setup.ranks_per_node);
  // Without the list of local peers the ranks would not share memory where names are spelled
  // differently.
  out.text(PMIX_LOCAL_PEERS, ranks_of_node(setup.node_index, setup.ranks_per_node));
  out.rank(PMIX_LOCALLDR, first_local(setup));
  out.rank(PMIX_APPLDR, 0);
  out.number(PMIX_NODEID, setup.node_index);
  out.text(PMIX_TMPDIR, job_folder);
  out.text(PMIX_NSDIR, job_folder);
  out.flag(PMIX_TDIR_RMCLEAN, true);
  out.flag(PMIX_SPAWNED, false);
}

void add_rank(const PmixSetup& setup, std::uint32_t rank, InfoList& out) {
  const std::uint32_t node = rank / setup.ranks_per_node;
  const auto local = static_cast<std::uint16_t>(rank % setup.ranks_per_node);
  InfoList entry;
  entry.rank(PMIX_RANK, rank);  // must be the first
  entry.number(PMIX_APPNUM, 0);
  entry.rank(PMIX_GLOBAL_RANK, rank);
  entry.rank(PMIX_APP_RANK, rank);
  entry.small(PMIX_LOCAL_RANK, local);
  entry.small(PMIX_NODE_RANK, local);
  entry.number(PMIX_NODEID, node);
  entry.text(PMIX_HOSTNAME, setup.nodes[node]);
  out.array(PMIX_PROC_DATA, entry);
}

}  // namespace

Result<> describe_job(const PmixSetup& setup, const std::string& job_folder, InfoList& out) {
  add_sizes(setup, job_folder, out);
  if (Result<> added = add_maps(setup, out); !added) return added;
  for (std::uint32_t rank = 0; rank < job_size(setup); ++rank) add_rank(setup, rank, out);
  return {};
}

}  // namespace artel::pmix
