// artel hold, artel release: keep jobs that wait from starting, and let them go again.
#include "cli/commands.h"
#include "cli/outcomes.h"
#include "client.pb.h"
#include "rpc/client.h"

namespace artel::cli {
namespace {

int hold_or_release(const Context& context, const Parsed& parsed, bool release) {
  const auto ids = job_ids(parsed.operands);
  if (!ids) return report(ids.error());
  if (ids->empty()) {
    return report({ErrorCode::kInvalidArgument,
                   release ? "name the jobs to release" : "name the jobs to hold"});
  }
  const auto client = connect(context);
  if (!client) return report(client.error());
  v1::HoldRequest request;
  for (const std::uint64_t id : *ids) request.add_jobs(id);
  request.set_release(release);
  const auto reply = (*client)->hold(request);
  if (!reply) return report(reply.error());
  return finish_outcomes(context, *reply,
                         release ? Success{"released", "is released"} : Success{"held", "is held"});
}

}  // namespace

Syntax hold_syntax() {
  Syntax syntax;
  syntax.command = "hold";
  syntax.summary = "keep jobs that wait from starting";
  syntax.usage = "[options] JOB...";
  syntax.operands = Operands::kList;
  syntax.options = with_common({});
  syntax.examples = "  artel hold 17\n  artel hold 17 18 --json\n";
  return syntax;
}

Syntax release_syntax() {
  Syntax syntax;
  syntax.command = "release";
  syntax.summary = "let held jobs start again";
  syntax.usage = "[options] JOB...";
  syntax.operands = Operands::kList;
  syntax.options = with_common({});
  syntax.examples = "  artel release 17\n  artel release 17 18 --json\n";
  return syntax;
}

int hold_command(const Context& context, const Parsed& parsed) {
  return hold_or_release(context, parsed, false);
}

int release_command(const Context& context, const Parsed& parsed) {
  return hold_or_release(context, parsed, true);
}

}  // namespace artel::cli
