// artel cancel: end jobs, whatever they are doing.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands.h"
#include "cli/json.h"
#include "client.pb.h"
#include "rpc/client.h"
#include "rpc/status.h"

namespace artel::cli {
namespace {

nlohmann::json outcome_json(const v1::CancelReply::Outcome& outcome) {
  nlohmann::json out = {
      {"job", outcome.job()}, {"cancelled", !outcome.has_error()}, {"error", nullptr}};
  if (outcome.has_error()) {
    out["error"] = {{"code", outcome.error().name()}, {"text", outcome.error().text()}};
  }
  return out;
}

}  // namespace

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
  const auto ids = job_ids(parsed.operands);
  if (!ids) return report(ids.error());
  if (ids->empty()) return report({ErrorCode::kInvalidArgument, "name the jobs to cancel"});
  const auto client = connect(context);
  if (!client) return report(client.error());
  v1::CancelRequest request;
  for (const std::uint64_t id : *ids) request.add_jobs(id);
  request.set_reason(parsed.value("reason"));
  const auto reply = (*client)->cancel(request);
  if (!reply) return report(reply.error());
  int code = 0;
  std::string text;
  nlohmann::json outcomes = nlohmann::json::array();
  for (const v1::CancelReply::Outcome& outcome : reply->outcomes()) {
    outcomes.push_back(outcome_json(outcome));
    if (!outcome.has_error()) {
      text += fmt::format("job {} is being cancelled\n", outcome.job());
      continue;
    }
    const int failed = report(rpc::from_proto(outcome.error()));
    if (code == 0) code = failed;
  }
  return finish(context.json ? json_line({{"outcomes", std::move(outcomes)}}) : text, code);
}

}  // namespace artel::cli
