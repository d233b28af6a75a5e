// artel nodes: what there is, what it does.
#include <fmt/ranges.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/node_table.h"
#include "client.pb.h"
#include "rpc/client.h"

namespace artel::cli {
namespace {

/// A clock that is further off is worth a word.
constexpr std::int64_t kClockOffsetMs = 1000;

std::string notes(const v1::NodeView& node) {
  std::vector<std::string> words;
  if (!node.drain_reason().empty()) words.push_back(node.drain_reason());
  if (node.strikes() > 0) words.push_back(fmt::format("{} strikes", node.strikes()));
  if (std::abs(node.clock_offset_ms()) >= kClockOffsetMs) {
    words.push_back(fmt::format("clock {}{}", node.clock_offset_ms() > 0 ? "+" : "-",
                                format_duration(Duration{std::abs(node.clock_offset_ms())})));
  }
  if (node.simulated()) words.emplace_back("simulated");
  return fmt::format("{}", fmt::join(words, "; "));
}

Style style_of(const std::string& state) {
  if (state == "down" || state == "drained") return Style::kBad;
  if (state == "draining" || state == "unknown" || state == "maintenance") return Style::kDim;
  return state == "idle" ? Style::kGood : Style::kPlain;
}

std::string jobs_text(const v1::NodeView& node) {
  return fmt::format("{}", fmt::join(node.jobs(), ","));
}

}  // namespace

std::string node_table(const v1::NodesReply& reply, const Terminal& terminal) {
  Table table({{"NODE", false, 8},
               {"STATE", false, 0},
               {"GPUS", true, 0},
               {"TYPE", false, 0},
               {"CPUS", true, 0},
               {"MEMORY", true, 0},
               {"JOBS", false, 4},
               {"NOTES", false, 9}});
  for (const v1::NodeView& node : reply.nodes()) {
    const v1::NodeResources& all = node.resources();
    const v1::NodeResources& used = node.used();
    table.add(
        {node.name(), Cell(node.state(), style_of(node.state())),
         fmt::format("{}/{}", used.gpus(), all.gpus()), all.gpu_type(),
         fmt::format("{}/{}", used.cpus(), all.cpus()),
         fmt::format("{}/{}", short_bytes(used.memory_bytes()), short_bytes(all.memory_bytes())),
         jobs_text(node), notes(node)});
  }
  return table.text(terminal);
}

std::string short_bytes(std::uint64_t bytes) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
  if (bytes == 0) return "0";
  return bytes >= kGiB ? fmt::format("{}G", bytes / kGiB) : fmt::format("{}M", bytes / kMiB);
}

Syntax nodes_syntax() {
  Syntax syntax;
  syntax.command = "nodes";
  syntax.summary = "nodes with state, use and jobs";
  syntax.usage = "[options]";
  syntax.options = with_common({});
  syntax.examples = "  artel nodes\n  artel nodes --json\n";
  return syntax;
}

int nodes_command(const Context& context, const Parsed& /*parsed*/) {
  const auto client = connect(context);
  if (!client) return report(client.error());
  const auto reply = (*client)->nodes({});
  if (!reply) return report(reply.error());
  if (!context.json) return finish(node_table(*reply, context.terminal));
  nlohmann::json nodes = nlohmann::json::array();
  for (const v1::NodeView& node : reply->nodes()) nodes.push_back(node_json(node));
  return finish(json_line({{"nodes", std::move(nodes)}}));
}

}  // namespace artel::cli
