// artel report usage: what was held, by whom, in a period.
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/usage_table.h"
#include "cli/when.h"
#include "client.pb.h"
#include "rpc/client.h"

namespace artel::cli {
namespace {

constexpr std::chrono::days kUsualPeriod{30};

Result<std::string> one_of(const Parsed& parsed, const std::string& option,
                           const std::vector<std::string_view>& words) {
  const std::string word = parsed.value(option, std::string(words.front()));
  for (const std::string_view valid : words) {
    if (word == valid) return word;
  }
  std::string list;
  for (const std::string_view valid : words)
    list += (list.empty() ? "" : ", ") + std::string(valid);
  return fail(ErrorCode::kInvalidArgument, "--" + option + ": '" + word + "' is unknown" +
                                               did_you_mean(word, words) + "; accepted are " +
                                               list);
}

}  // namespace

Syntax report_usage_syntax() {
  Syntax syntax;
  syntax.command = "report usage";
  syntax.summary = "GPU, CPU and node hours held in a period";
  syntax.usage = "[options]";
  syntax.options = with_common({
      {"--from", Option::Kind::kValue, "TIME",
       "since then: 2026-11-01, today, 7d (ago); 30 days ago"},
      {"--to", Option::Kind::kValue, "TIME", "until then (now)"},
      {"--by", Option::Kind::kValue, "WHAT", "team, user, node, day or queue (team)"},
      {"--format", Option::Kind::kValue, "FORMAT", "table, csv or json (table)"},
  });
  syntax.examples =
      "  artel report usage --from 2026-11-01 --to 2026-12-01 --by user\n"
      "  artel report usage --by day --format csv\n";
  return syntax;
}

int report_usage_command(const Context& context, const Parsed& parsed) {
  const Time now = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  const auto period = parse_period(parsed, now, now - kUsualPeriod);
  if (!period) return report(period.error());
  const auto by = one_of(parsed, "by", {"team", "user", "node", "day", "queue"});
  if (!by) return report(by.error());
  const auto format = one_of(parsed, "format", {"table", "csv", "json"});
  if (!format) return report(format.error());
  const auto client = connect(context);
  if (!client) return report(client.error());
  v1::UsageRequest request;
  request.set_from_ms(to_ms(period->from));
  request.set_to_ms(to_ms(period->to));
  request.set_by(*by);
  const auto reply = (*client)->usage(request);
  if (!reply) return report(reply.error());
  if (context.json || *format == "json") return finish(json_line(usage_json(*reply, *by)));
  if (*format == "csv") return finish(usage_csv(*reply, *by));
  return finish(usage_table(*reply, *by, context.terminal));
}

}  // namespace artel::cli
