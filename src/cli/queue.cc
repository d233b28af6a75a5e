// artel queue: jobs that wait or run, in scheduling order.
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/job_table.h"
#include "cli/json.h"
#include "client.pb.h"
#include "rpc/client.h"

namespace artel::cli {

Syntax queue_syntax() {
  Syntax syntax;
  syntax.command = "queue";
  syntax.summary = "jobs that wait or run, with reason and planned start";
  syntax.usage = "[options] [JOB...]";
  syntax.operands = Operands::kList;
  syntax.options = with_common({
      {"-u,--user", Option::Kind::kValue, "USER", "only jobs of this user"},
      {"-m,--mine", Option::Kind::kFlag, "", "only my jobs"},
      {"-A,--team", Option::Kind::kValue, "TEAM", "only jobs of this team"},
      {"-p,--queue", Option::Kind::kValue, "QUEUE", "only jobs in this queue"},
      {"-l,--long", Option::Kind::kFlag, "", "whole names and reasons, however wide"},
  });
  syntax.examples = "  artel queue --mine\n  artel queue -A nlp --json\n";
  return syntax;
}

int queue_command(const Context& context, const Parsed& parsed) {
  const auto user = user_filter(parsed);
  if (!user) return report(user.error());
  const auto ids = job_ids(parsed.operands);
  if (!ids) return report(ids.error());
  v1::QueueRequest request;
  request.set_user(*user);
  request.set_team(parsed.value("team"));
  request.set_queue(parsed.value("queue"));
  for (const std::uint64_t id : *ids) request.add_jobs(id);
  const auto client = connect(context);
  if (!client) return report(client.error());
  const auto reply = (*client)->queue(request);
  if (!reply) return report(reply.error());
  const Time now = time_from_ms(reply->now_ms());
  if (context.json) {
    nlohmann::json jobs = nlohmann::json::array();
    for (const v1::JobView& job : reply->jobs()) jobs.push_back(job_json(job, now, false));
    return finish(json_line({{"now_ms", reply->now_ms()}, {"jobs", std::move(jobs)}}));
  }
  return finish(queue_table(*reply, context.terminal, parsed.has("long")));
}

}  // namespace artel::cli
