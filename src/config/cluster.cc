// cluster.d: the nodes.
#include <fmt/format.h>

#include "base/hostlist.h"
#include "base/text.h"
#include "config/files.h"
#include "sched/features.h"

namespace artel::config {
namespace {

// GPUs of a node are kept as bits of one word.
constexpr std::uint64_t kMostGpus = 64;
constexpr std::uint64_t kMostCpus = 65536;

constexpr std::string_view kGpuForms =
    "write gpus = { h100 = 8 }, or gpus = 8 with gpu_type = \"h100\"";

/// Names of GPU types are words, so that they can be keys.
bool is_word(std::string_view text) {
  return !text.empty() && text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
                              std::string_view::npos;
}

/// { h100 = 8 }
void read_gpu_table(Section& node, const std::vector<Entry>& types, NodeResources& out) {
  if (types.size() != 1)
    return node.mistake("gpus", fmt::format("must name exactly one type; {}", kGpuForms));
  const auto* count = std::get_if<std::int64_t>(&types.front().value.content);
  if (count == nullptr || *count < 0 || static_cast<std::uint64_t>(*count) > kMostGpus)
    return node.mistake("gpus", fmt::format("must be 0 to {} of a type; {}", kMostGpus, kGpuForms));
  out.gpus = static_cast<std::uint32_t>(*count);
  out.gpu_type = types.front().key;
}

void read_gpus(Section& node, NodeResources& out) {
  std::string type;
  const bool has_type = node.text("gpu_type", type);
  const Value* gpus = node.any("gpus");
  if (gpus == nullptr) {
    if (has_type) node.mistake("gpu_type", fmt::format("says nothing without gpus; {}", kGpuForms));
    return;
  }
  if (const auto* types = std::get_if<std::vector<Entry>>(&gpus->content)) {
    if (has_type) node.mistake("gpu_type", "the type is given in gpus already");
    read_gpu_table(node, *types, out);
  } else if (std::holds_alternative<std::int64_t>(gpus->content)) {
    std::uint64_t count = 0;
    if (!node.number("gpus", 0, kMostGpus, count)) return;
    if (count > 0 && !has_type)
      return node.mistake("gpus", fmt::format("has no type; {}", kGpuForms));
    out.gpus = static_cast<std::uint32_t>(count);
    out.gpu_type = type;
  } else {
    return node.mistake("gpus", fmt::format("is {}; {}", kind_name(*gpus), kGpuForms));
  }
  if (out.gpus == 0) out.gpu_type.clear();
  if (out.gpu_type == kCoresKey)
    return node.mistake("gpus", fmt::format("a GPU type cannot be called '{}', which means CPU "
                                            "cores in quotas",
                                            kCoresKey));
  if (out.gpus > 0 && !is_word(out.gpu_type))
    node.mistake("gpus", fmt::format("the type '{}' must be made of letters, digits, '-' and '_'",
                                     out.gpu_type));
}

/// `name` for one node or `names` for a list.
std::vector<std::string> read_names(Section& node) {
  std::string list;
  const bool has_one = node.text("name", list);
  const std::string one = list;
  const bool has_list = node.text("names", list);
  if (has_one == has_list) {
    node.mistake(has_one ? "names" : "name",
                 has_one ? "there is a name already; give one of the two"
                         : "is missing; give name = \"n1\" or names = \"n[01-16]\"");
    return {};
  }
  const std::string_view key = has_one ? "name" : "names";
  auto names = unfold_hosts(list);
  if (!names) {
    node.mistake(key, names.error().text);
    return {};
  }
  if (names->empty()) node.mistake(key, "is empty");
  if (has_one && (names->size() != 1 || names->front() != one)) {
    node.mistake(key, fmt::format("'{}' must be one name; use names for a list", one));
    return {};
  }
  return std::move(*names);
}

void read_address(Section& node, std::size_t count, bool simulated, std::string& out) {
  if (!node.text("address", out)) return;
  if (out.empty() || out.find_first_of(" \t\n/,") != std::string::npos)
    node.mistake("address",
                 fmt::format("'{}' must be a host name or an IP address; %n is the node's "
                             "name",
                             out));
  for (std::size_t at = out.find('%'); at != std::string::npos; at = out.find('%', at + 2))
    if (out.substr(at, 2) != "%n")
      return node.mistake("address", fmt::format("'{}' is not known here; %n is the node's name",
                                                 out.substr(at, 2)));
  // Simulated nodes may share the machine that they run on.
  if (count > 1 && !simulated && out.find("%n") == std::string::npos)
    node.mistake("address",
                 fmt::format("'{}' would be the same for {} nodes; use %n for the node's "
                             "name",
                             out, count));
}

void read_place(Section& node, NodeConfig& out) {
  for (const auto& [key, value] : {std::pair("leaf", &out.leaf), std::pair("block", &out.block)}) {
    if (node.text(key, *value) && value->empty())
      node.mistake(key, "is empty; leave it out where all nodes hang on one");
  }
  if (node.text("owner", out.owner) && out.owner.empty())
    node.mistake("owner", "is empty; leave it out for a node of all teams");
  if (node.texts("features", out.features)) {
    for (const std::string& word : out.features) {
      if (!sched::is_feature(word))
        node.mistake("features", fmt::format("'{}' must be made of letters, digits, '-', '_' and "
                                             "'.'",
                                             word));
    }
  }
  node.not_yet("shared");
}

}  // namespace

bool Names::add(const Source& source, const Value& table, std::string_view key,
                const std::string& name) {
  const auto [place, is_new] = places_.emplace(name, fmt::format("{}:{}", source.file, table.line));
  if (!is_new)
    source.mistakes.add(
        source.file, table.line, key,
        fmt::format("{} '{}' is defined already at {}", what_, name, place->second));
  return is_new;
}

void read_cluster(const Source& source, const Value& document, Names& names, SiteConfig& config) {
  Section top(source, "", document);
  for (const Value* table : top.tables("node")) {
    Section node(source, "node", *table);
    const std::vector<std::string> hosts = read_names(node);
    NodeConfig common;
    common.address = "%n";
    node.flag("simulated", common.simulated);
    read_address(node, hosts.size(), common.simulated, common.address);
    if (std::uint64_t cpus = 0; node.number("cpus", 1, kMostCpus, cpus))
      common.resources.cpus = static_cast<std::uint32_t>(cpus);
    if (node.bytes("memory", common.resources.memory) && common.resources.memory.value == 0)
      node.mistake("memory", "must be more than 0");
    read_gpus(node, common.resources);
    read_place(node, common);
    node.require("cpus");
    node.require("memory");
    node.end();
    for (const std::string& host : hosts) {
      if (!names.add(source, *table, "node", host)) continue;
      NodeConfig one = common;
      one.name = host;
      one.address = for_node(common.address, host).string();
      config.nodes.push_back(std::move(one));
    }
  }
  top.end();
}

}  // namespace artel::config
