// artel drain, artel resume: take nodes out of service, and use them again.
#include <fmt/format.h>

#include "base/hostlist.h"
#include "cli/commands.h"
#include "cli/outcomes.h"
#include "client.pb.h"
#include "rpc/client.h"

namespace artel::cli {
namespace {

int drain_or_resume(const Context& context, const Parsed& parsed, bool resume) {
  v1::DrainRequest request;
  for (const std::string& word : parsed.operands) {
    const auto names = unfold_hosts(word);
    if (!names) return report(names.error());
    for (const std::string& name : *names) request.add_nodes(name);
  }
  if (request.nodes().empty()) {
    return report({ErrorCode::kInvalidArgument,
                   fmt::format("name the nodes to {}", resume ? "resume" : "drain")});
  }
  request.set_resume(resume);
  request.set_reason(parsed.value("reason"));
  request.set_reason_class(parsed.value("class"));
  request.set_until_reboot(parsed.has("until-reboot"));
  request.set_is_off(parsed.has("off"));
  const auto client = connect(context);
  if (!client) return report(client.error());
  const auto reply = (*client)->drain(request);
  if (!reply) return report(reply.error());
  return finish_outcomes(
      context, *reply,
      resume ? Success{"resumed", "is used again"} : Success{"drained", "is drained"});
}

}  // namespace

Syntax drain_syntax() {
  Syntax syntax;
  syntax.command = "drain";
  syntax.summary = "start nothing more on nodes; what runs there goes on";
  syntax.usage = "[options] --reason TEXT NODE...";
  syntax.operands = Operands::kList;
  syntax.options = with_common(
      {{"--reason", Option::Kind::kValue, "TEXT", "why, shown with the node"},
       {"--class", Option::Kind::kValue, "CLASS",
        "whose problem: node, hardware, software, user, maintenance"},
       {"--until-reboot", Option::Kind::kFlag, "", "wants a reboot, and is used again after it"},
       {"--off", Option::Kind::kFlag, "",
        "it has no power: its jobs are given up there and tried again"}});
  syntax.examples =
      "  artel drain hgx07 --reason 'ECC errors on GPU 3'\n"
      "  artel drain 'hgx[01-08]' --class maintenance --reason 'new switch on Friday'\n"
      "  artel drain hgx09 --until-reboot --reason 'new kernel'\n"
      "  artel drain hgx10 --off --reason 'power supply burnt'\n";
  return syntax;
}

Syntax resume_syntax() {
  Syntax syntax;
  syntax.command = "resume";
  syntax.summary = "use drained nodes again";
  syntax.usage = "[options] NODE...";
  syntax.operands = Operands::kList;
  syntax.options = with_common({});
  syntax.examples = "  artel resume hgx07\n  artel resume 'hgx[01-08]'\n";
  return syntax;
}

int drain_command(const Context& context, const Parsed& parsed) {
  return drain_or_resume(context, parsed, false);
}

int resume_command(const Context& context, const Parsed& parsed) {
  return drain_or_resume(context, parsed, true);
}

}  // namespace artel::cli
