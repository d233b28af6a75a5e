// artel update: change what jobs that wait ask for.
#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "base/hostlist.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/outcomes.h"
#include "client.pb.h"
#include "rpc/client.h"

namespace artel::cli {
namespace {

constexpr std::uint64_t kMostNodes = 100'000;

std::unexpected<Error> refuse(const Given& given, const std::string& why) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", given.where, why));
}

const Given* find(const Parsed& parsed, const std::string& name) {
  const auto at = parsed.options.find(name);
  return at == parsed.options.end() ? nullptr : &at->second;
}

Result<> put_priority(const Given& given, v1::UpdateRequest& out) {
  const std::string& text = given.values.front();
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    return refuse(given, fmt::format("'{}' is not a whole number", text));
  out.set_priority(value);
  return {};
}

Result<> put_hosts(const Given& given, v1::UpdateRequest::Nodes& out) {
  // "" names none: any node will do again, or none is avoided.
  if (given.values.front().empty()) return {};
  const auto names = unfold_hosts(given.values.front());
  if (!names) return refuse(given, names.error().text);
  for (const std::string& name : *names) out.add_names(name);
  return {};
}

Result<v1::UpdateRequest> request_of(const Parsed& parsed) {
  v1::UpdateRequest out;
  const auto ids = job_ids(parsed.operands);
  if (!ids) return fail(ids);
  for (const std::uint64_t id : *ids) out.add_jobs(id);
  if (ids->empty()) return fail(ErrorCode::kInvalidArgument, "name the jobs to update");
  if (const Given* name = find(parsed, "name")) out.set_name(name->values.front());
  if (const Given* priority = find(parsed, "priority"))
    if (auto done = put_priority(*priority, out); !done) return fail(done);
  if (const Given* time = find(parsed, "time")) {
    const auto limit = parse_duration(time->values.front());
    if (!limit) return refuse(*time, limit.error().text);
    out.set_time_limit_ms(limit->count());
  }
  if (const Given* nodes = find(parsed, "nodes")) {
    const auto count = parse_number(nodes->where, nodes->values.front(), 1, kMostNodes);
    if (!count) return fail(count);
    out.set_nodes(static_cast<std::uint32_t>(*count));
  }
  if (const Given* list = find(parsed, "nodelist"))
    if (auto done = put_hosts(*list, *out.mutable_nodes_wanted()); !done) return fail(done);
  if (const Given* list = find(parsed, "exclude"))
    if (auto done = put_hosts(*list, *out.mutable_nodes_avoided()); !done) return fail(done);
  return out;
}

}  // namespace

Syntax update_syntax() {
  using Kind = Option::Kind;
  Syntax syntax;
  syntax.command = "update";
  syntax.summary = "change what jobs that wait ask for";
  syntax.usage = "[options] JOB...";
  syntax.operands = Operands::kList;
  syntax.options = with_common(
      {{"--priority", Kind::kValue, "NUMBER",
        "the job's own, added to its class's; above 0: operators"},
       {"-t,--time", Kind::kValue, "LIMIT", "run time limit: 90 (minutes), 1:30:00, 1d2h"},
       {"-N,--nodes", Kind::kValue, "COUNT", "number of nodes"},
       {"-w,--nodelist", Kind::kValue, "NODES", "use only these; '' for any"},
       {"-x,--exclude", Kind::kValue, "NODES", "use none of these; '' to avoid none"},
       {"-J,--name", Kind::kValue, "NAME", "name of the job, also of one that runs"}});
  syntax.examples =
      "  artel update 17 -t 4h\n"
      "  artel update 17 18 --priority=-5\n"
      "  artel update 17 -N 2 -x 'hgx[03,07]'\n";
  return syntax;
}

int update_command(const Context& context, const Parsed& parsed) {
  const auto request = request_of(parsed);
  if (!request) return report(request.error());
  const auto client = connect(context);
  if (!client) return report(client.error());
  const auto reply = (*client)->update(*request);
  if (!reply) return report(reply.error());
  return finish_outcomes(context, *reply, Success{"updated", "is updated"});
}

}  // namespace artel::cli
