// artel cancel: end jobs, whatever they are doing.
#include "cli/commands.h"
#include "cli/outcomes.h"
#include "client.pb.h"
#include "rpc/client.h"

namespace artel::cli {

Syntax cancel_syntax() {
  Syntax syntax;
  syntax.command = "cancel";
  syntax.summary = "end jobs that wait or run";
  syntax.usage = "[options] JOB...";
  syntax.operands = Operands::kList;
  syntax.options = with_common({{"--reason", Option::Kind::kValue, "TEXT", "kept with the job"}});
  syntax.examples = "  artel cancel 17\n  artel cancel 17 18 --reason 'wrong data set'\n";
  return syntax;
}

int cancel_command(const Context& context, const Parsed& parsed) {
  const auto jobs = job_words(parsed.operands);
  if (!jobs) return report(jobs.error());
  if (jobs->empty()) return report({ErrorCode::kInvalidArgument, "name the jobs to cancel"});
  const auto client = connect(context);
  if (!client) return report(client.error());
  v1::CancelRequest request;
  name_jobs(*jobs, request);
  request.set_reason(parsed.value("reason"));
  const auto reply = (*client)->cancel(request);
  if (!reply) return report(reply.error());
  return finish_outcomes(context, *reply, {"cancelled", "is being cancelled"});
}

}  // namespace artel::cli
