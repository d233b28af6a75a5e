// artel show: all about one job.
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/job_table.h"
#include "cli/json.h"
#include "client.pb.h"
#include "rpc/client.h"

namespace artel::cli {

Syntax show_syntax() {
  Syntax syntax;
  syntax.command = "show";
  syntax.summary = "all about a job: request, attempts, nodes with their GPUs, cause of its end";
  syntax.usage = "[options] JOB";
  syntax.operands = Operands::kList;
  syntax.options =
      with_common({{"--script", Option::Kind::kFlag, "", "print the job's script, nothing else"}});
  syntax.examples = "  artel show 17\n  artel show 17 --json\n";
  return syntax;
}

int show_command(const Context& context, const Parsed& parsed) {
  const auto client = connect(context);
  if (!client) return report(client.error());
  const auto id = one_job(**client, parsed.operands);
  if (!id) return report(id.error());
  v1::ShowRequest request;
  request.set_job(*id);
  const auto reply = (*client)->show(request);
  if (!reply) return report(reply.error());
  const Time now = time_from_ms(reply->now_ms());
  if (parsed.has("script")) {
    const std::string& script = reply->job().spec().script();
    if (!script.empty()) return finish(script);
    return report({ErrorCode::kNotFound,
                   "job " + std::to_string(*id) + " has no script, or it may not be read by you"});
  }
  if (context.json) return finish(json_line(job_json(reply->job(), now, true)));
  return finish(job_page(reply->job(), now));
}

}  // namespace artel::cli
