// artel why: all that stands in the way of a job.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/forecast_text.h"
#include "cli/job_table.h"
#include "cli/job_view.h"
#include "cli/json.h"
#include "cli/table.h"
#include "client.pb.h"
#include "rpc/client.h"

namespace artel::cli {
namespace {

std::string expectation(const v1::ExplainReply& reply) {
  const Time now = time_from_ms(reply.now_ms());
  if (reply.has_expected_start_ms()) {
    return fmt::format(
        "Expected start: {}\n  if every run takes all of its time limit and nothing new is "
        "submitted.\n",
        start_text(time_from_ms(reply.expected_start_ms()), now));
  }
  return reply.is_whole()
             ? "Expected start: none can be foreseen; what is in the way does not end by itself.\n"
             : "Expected start: later than could be looked ahead.\n";
}

std::string why_text(const v1::ExplainReply& reply) {
  const v1::JobView& job = reply.job();
  if (reply.blockers().empty()) {
    const std::string name = job_name(job, false);
    return fmt::format("job {} does not wait, it is {}; 'artel show {}' tells more\n", name,
                       job.state(), job.has_task() ? name : std::to_string(job.id()));
  }
  std::string text =
      fmt::format("job {} ({}, user {}, team {}, queue {}) waits.\n", job_name(job, false),
                  printable(job.spec().name()), printable(job.spec().owner().user()),
                  printable(job.spec().team()), printable(job.spec().queue()));
  text += reply.blockers_size() == 1 ? "In its way:\n" : "In its way, first things first:\n";
  for (int i = 0; i < reply.blockers_size(); ++i)
    text += fmt::format("  {}. {}\n", i + 1, printable(reply.blockers(i).text()));
  return text + expectation(reply);
}

nlohmann::json why_json(const v1::ExplainReply& reply) {
  nlohmann::json blockers = nlohmann::json::array();
  for (const v1::WaitReason& blocker : reply.blockers()) blockers.push_back(wait_json(blocker));
  nlohmann::json out = {{"job", reply.job().id()},         {"state", reply.job().state()},
                        {"blockers", std::move(blockers)}, {"expected_start_ms", nullptr},
                        {"is_whole", reply.is_whole()},    {"now_ms", reply.now_ms()}};
  if (reply.has_expected_start_ms()) out["expected_start_ms"] = reply.expected_start_ms();
  return out;
}

}  // namespace

Syntax why_syntax() {
  Syntax syntax;
  syntax.command = "why";
  syntax.summary = "all that stands in the way of a job, and its expected start";
  syntax.usage = "[options] JOB";
  syntax.operands = Operands::kList;
  syntax.options = with_common({});
  syntax.examples = "  artel why 17\n  artel why 17 --json\n";
  return syntax;
}

int why_command(const Context& context, const Parsed& parsed) {
  const auto client = connect(context);
  if (!client) return report(client.error());
  const auto id = one_job(**client, parsed.operands);
  if (!id) return report(id.error());
  v1::ExplainRequest request;
  request.set_job(*id);
  const auto reply = (*client)->explain(request);
  if (!reply) return report(reply.error());
  return finish(context.json ? json_line(why_json(*reply)) : why_text(*reply));
}

}  // namespace artel::cli
