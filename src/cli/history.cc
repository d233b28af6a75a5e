// artel history: jobs of the past, newest first.
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/job_table.h"
#include "cli/json.h"
#include "cli/when.h"
#include "client.pb.h"
#include "rpc/client.h"

namespace artel::cli {
namespace {

constexpr std::uint64_t kMostRows = 1'000'000;

Result<v1::HistoryRequest> history_request(const Parsed& parsed, Time now) {
  v1::HistoryRequest request;
  const auto user = user_filter(parsed);
  if (!user) return fail(user);
  request.set_user(*user);
  request.set_team(parsed.value("team"));
  const auto ids = job_ids(parsed.operands);
  if (!ids) return fail(ids);
  for (const std::uint64_t id : *ids) request.add_jobs(id);
  const auto limit = parse_number("--limit", parsed.value("limit", "100"), 1, kMostRows);
  if (!limit) return fail(limit);
  request.set_limit(static_cast<std::uint32_t>(*limit));
  const auto period = parse_period(parsed, now, Time{});
  if (!period) return fail(period);
  request.set_from_ms(to_ms(period->from));
  request.set_to_ms(parsed.has("to") ? to_ms(period->to) : 0);
  return request;
}

}  // namespace

Syntax history_syntax() {
  Syntax syntax;
  syntax.command = "history";
  syntax.summary = "jobs of the past and present, newest first";
  syntax.usage = "[options] [JOB...]";
  syntax.operands = Operands::kList;
  syntax.options = with_common({
      {"-u,--user", Option::Kind::kValue, "USER", "only jobs of this user"},
      {"-m,--mine", Option::Kind::kFlag, "", "only my jobs"},
      {"-A,--team", Option::Kind::kValue, "TEAM", "only jobs of this team"},
      {"--from", Option::Kind::kValue, "TIME",
       "since then: 2026-11-30, 2026-11-30T08:00 (UTC), today, 7d (ago)"},
      {"--to", Option::Kind::kValue, "TIME", "until then (now)"},
      {"--limit", Option::Kind::kValue, "COUNT", "at most so many (100)"},
      {"-l,--long", Option::Kind::kFlag, "", "whole names and causes, however wide"},
  });
  syntax.examples = "  artel history --mine --from 7d\n  artel history 17 18\n";
  return syntax;
}

int history_command(const Context& context, const Parsed& parsed) {
  const Time now = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  const auto request = history_request(parsed, now);
  if (!request) return report(request.error());
  const auto client = connect(context);
  if (!client) return report(client.error());
  const auto reply = (*client)->history(*request);
  if (!reply) return report(reply.error());
  if (!context.json)
    return finish(history_table(*reply, now, context.terminal, parsed.has("long")));
  nlohmann::json jobs = nlohmann::json::array();
  for (const v1::JobView& job : reply->jobs()) jobs.push_back(job_json(job, now, false));
  return finish(json_line({{"jobs", std::move(jobs)}}));
}

}  // namespace artel::cli
