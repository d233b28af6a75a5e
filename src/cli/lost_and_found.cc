// artel admin lost-and-found: records of the store that the controller could not read.
#include "cli/lost_and_found.h"

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/json.h"
#include "client.pb.h"
#include "rpc/client.h"

namespace artel::cli {

std::string lost_and_found_table(const v1::LostAndFoundReply& reply, const Terminal& terminal) {
  if (reply.records().empty()) return "nothing: the latest start could read all of the store\n";
  Table table({{"KIND", false, 0}, {"NAME", false, 0}, {"WHY", false, 9}});
  for (const auto& record : reply.records())
    table.add({record.kind(), record.name(), record.why()});
  return table.text(terminal);
}

nlohmann::json lost_and_found_json(const v1::LostAndFoundReply& reply) {
  nlohmann::json records = nlohmann::json::array();
  for (const auto& record : reply.records()) {
    records.push_back({{"kind", record.kind()}, {"name", record.name()}, {"why", record.why()}});
  }
  return {{"records", std::move(records)}};
}

Syntax lost_and_found_syntax() {
  Syntax syntax;
  syntax.command = "admin lost-and-found";
  syntax.summary = "records of the store that could not be read";
  syntax.usage = "[options]";
  syntax.options = with_common({});
  syntax.examples = "  artel admin lost-and-found\n  artel admin lost-and-found --json\n";
  return syntax;
}

int lost_and_found_command(const Context& context, const Parsed& /*parsed*/) {
  const auto client = connect(context);
  if (!client) return report(client.error());
  const auto reply = (*client)->lost_and_found({});
  if (!reply) return report(reply.error());
  if (context.json) return finish(json_line(lost_and_found_json(*reply)));
  return finish(lost_and_found_table(*reply, context.terminal));
}

}  // namespace artel::cli
