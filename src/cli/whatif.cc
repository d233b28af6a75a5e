// artel whatif: what a change of a quota, a priority, a node or a job would do.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/forecast_text.h"
#include "cli/json.h"
#include "client.pb.h"
#include "rpc/client.h"

namespace artel::cli {
namespace {

using Words = std::span<const std::string>;
using Read = Result<> (*)(Words words, v1::WhatIfRequest& out);

std::unexpected<Error> invalid(std::string text) {
  return fail(ErrorCode::kInvalidArgument, std::move(text));
}

Result<> read_node(Words words, v1::NodeWish::Fate fate, v1::WhatIfRequest& out) {
  if (words.size() != 1) return invalid("name one node, for example 'artel whatif drain hgx01'");
  out.mutable_node()->set_node(words.front());
  out.mutable_node()->set_fate(fate);
  return {};
}

Result<std::uint64_t> read_job(Words words) { return one_job_id({words.begin(), words.end()}); }

Result<> read_hold(Words words, bool held, v1::WhatIfRequest& out) {
  const auto job = read_job(words);
  if (!job) return fail(job);
  out.mutable_hold()->set_job(*job);
  out.mutable_hold()->set_held(held);
  return {};
}

Result<> read_priority(Words words, v1::WhatIfRequest& out) {
  if (words.size() != 2) {
    return invalid("give the job and its priority, for example 'artel whatif priority 17 20'");
  }
  const auto job = read_job(words.first(1));
  if (!job) return fail(job);
  const std::string& text = words[1];
  std::int32_t priority = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), priority);
  if (error != std::errc{} || end != text.data() + text.size())
    return invalid(fmt::format("priority: '{}' is no whole number", text));
  out.mutable_priority()->set_job(*job);
  out.mutable_priority()->set_priority(priority);
  return {};
}

/// The list that "guarantee" and so on name; null for other words.
google::protobuf::RepeatedPtrField<v1::AmountWish>* list_of(const std::string& term,
                                                            v1::QuotaWish& out) {
  if (term == "guarantee") return out.mutable_guarantee();
  if (term == "limit") return out.mutable_limit();
  if (term == "borrow") return out.mutable_borrow();
  return term == "lend" ? out.mutable_lend() : nullptr;
}

/// "limit.h100=64", "limit.h100=none", "weight=2".
Result<> read_term(const std::string& word, v1::QuotaWish& out) {
  const std::string form = fmt::format(
      "'{}' is none of guarantee.TYPE=N, limit.TYPE=N, borrow.TYPE=N, lend.TYPE=N and weight=X; "
      "TYPE is a GPU type or 'cores', N a whole number or 'none'",
      word);
  const auto equals = word.find('=');
  if (equals == std::string::npos) return invalid(form);
  const std::string value = word.substr(equals + 1);
  const std::string name = word.substr(0, equals);
  if (name == "weight") {
    double weight = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), weight);
    if (error != std::errc{} || end != value.data() + value.size() || !(weight >= 0))
      return invalid(fmt::format("weight: '{}' is no number from 0", value));
    out.set_weight(weight);
    return {};
  }
  const auto dot = name.find('.');
  auto* const list = dot == std::string::npos ? nullptr : list_of(name.substr(0, dot), out);
  if (list == nullptr || dot + 1 == name.size()) return invalid(form);
  v1::AmountWish& amount = *list->Add();
  amount.set_resource(name.substr(dot + 1));
  if (value == "none") return {};
  constexpr std::uint64_t kMost = 1'000'000'000;
  const auto number = parse_number(name, value, 0, kMost);
  if (!number) return fail(number);
  amount.set_amount(static_cast<std::int64_t>(*number));
  return {};
}

Result<> read_quota(Words words, v1::WhatIfRequest& out) {
  if (words.size() < 2) {
    return invalid(
        "give the team and what changes, for example 'artel whatif quota nlp guarantee.h100=64'");
  }
  v1::QuotaWish& wish = *out.mutable_quota();
  wish.set_quota(words.front());
  for (const std::string& word : words.subspan(1)) {
    if (auto read = read_term(word, wish); !read) return read;
  }
  return {};
}

constexpr std::array<std::pair<std::string_view, Read>, 8> kChanges = {{
    {"drain",
     [](Words words, v1::WhatIfRequest& out) {
       return read_node(words, v1::NodeWish::FATE_DRAINED, out);
     }},
    {"lose", [](Words words,
                v1::WhatIfRequest& out) { return read_node(words, v1::NodeWish::FATE_LOST, out); }},
    {"resume",
     [](Words words, v1::WhatIfRequest& out) {
       return read_node(words, v1::NodeWish::FATE_RETURNED, out);
     }},
    {"quota", read_quota},
    {"priority", read_priority},
    {"cancel",
     [](Words words, v1::WhatIfRequest& out) -> Result<> {
       const auto job = read_job(words);
       if (!job) return fail(job);
       out.set_cancel(*job);
       return {};
     }},
    {"hold", [](Words words, v1::WhatIfRequest& out) { return read_hold(words, true, out); }},
    {"release", [](Words words, v1::WhatIfRequest& out) { return read_hold(words, false, out); }},
}};

Result<v1::WhatIfRequest> read_request(const std::vector<std::string>& words) {
  if (words.empty())
    return invalid("say what changes, for example 'artel whatif drain hgx01'; see --help");
  std::vector<std::string_view> known;
  for (const auto& [name, read] : kChanges) {
    known.push_back(name);
    if (name != words.front()) continue;
    v1::WhatIfRequest request;
    if (auto done = read(Words(words).subspan(1), request); !done) return fail(done);
    return request;
  }
  return invalid(fmt::format("'{}' is no change that can be asked about{}", words.front(),
                             did_you_mean(words.front(), known)));
}

}  // namespace

Syntax whatif_syntax() {
  Syntax syntax;
  syntax.command = "whatif";
  syntax.summary = "what a change would start, evict and delay; nothing is changed";
  syntax.usage =
      "[options] drain|lose|resume NODE\n"
      "[options] quota TEAM TERM...\n"
      "[options] priority JOB N\n"
      "[options] cancel|hold|release JOB";
  syntax.operands = Operands::kList;
  syntax.options = with_common({});
  syntax.examples =
      "  artel whatif drain hgx01\n"
      "  artel whatif quota nlp guarantee.h100=64 limit.h100=none\n"
      "  artel whatif priority 17 20\n";
  return syntax;
}

int whatif_command(const Context& context, const Parsed& parsed) {
  const auto request = read_request(parsed.operands);
  if (!request) return report(request.error());
  const auto client = connect(context);
  if (!client) return report(client.error());
  const auto reply = (*client)->what_if(*request);
  if (!reply) return report(reply.error());
  return finish(context.json ? json_line(consequences_json(*reply))
                             : consequences_text(*reply, context.terminal));
}

}  // namespace artel::cli
