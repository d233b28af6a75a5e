#include "sim/trace/cluster.h"

#include <fmt/format.h>

#include <utility>

#include "config/files.h"

namespace artel::trace {

Result<std::vector<NodeConfig>> read_cluster_file(const std::filesystem::path& file) {
  const auto document = config::read_document(file);
  if (!document) return fail(document);
  config::Mistakes mistakes;
  config::Names names("node");
  config::SiteConfig site;
  config::read_cluster(config::Source{file.string(), mistakes}, *document, names, site);
  if (mistakes.none() && site.nodes.empty())
    mistakes.add(fmt::format("{}: has no [[node]]", file.string()));
  if (!mistakes.none()) return fail(ErrorCode::kConfig, mistakes.text());
  return std::move(site.nodes);
}

Milli capacity_of(const std::vector<NodeConfig>& nodes, Resource resource) {
  Milli sum = 0;
  for (const NodeConfig& node : nodes) {
    switch (resource) {
      case Resource::kCpus:
        sum += node.resources.cpus * kMilli;
        break;
      case Resource::kGpus:
        sum += node.resources.gpus * kMilli;
        break;
      case Resource::kNodes:
        sum += kMilli;
        break;
    }
  }
  return sum;
}

}  // namespace artel::trace
