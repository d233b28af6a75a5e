#include "cli/outcomes.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/json.h"
#include "client.pb.h"
#include "rpc/status.h"

namespace artel::cli {
namespace {

/// "17", or "1234_[3-9]".
struct Named {
  std::uint64_t job{};
  std::string indexes;
};

Named named(const v1::JobOutcomes::Outcome& outcome) { return {outcome.job(), outcome.indexes()}; }

std::string text_of(const Named& job) {
  return job.indexes.empty() ? std::to_string(job.job)
                             : fmt::format("{}_[{}]", job.job, job.indexes);
}
std::string text_of(const std::string& node) { return node; }
nlohmann::json json_of(const Named& job) {
  return job.indexes.empty() ? nlohmann::json(job.job) : nlohmann::json(text_of(job));
}
nlohmann::json json_of(const std::string& node) { return node; }

/// `kind` is "job" or "node"; `name_of` gives the one that an outcome is about.
template <typename Reply, typename NameOf>
int finish_all(const Context& context, const Reply& reply, const Success& success, const char* kind,
               NameOf name_of) {
  int code = 0;
  std::string text;
  nlohmann::json outcomes = nlohmann::json::array();
  for (const auto& outcome : reply.outcomes()) {
    const bool done = !outcome.has_error();
    nlohmann::json out = {
        {kind, json_of(name_of(outcome))}, {success.key, done}, {"error", nullptr}};
    if (done) {
      text += fmt::format("{} {} {}\n", kind, text_of(name_of(outcome)), success.words);
    } else {
      out["error"] = {{"code", outcome.error().name()}, {"text", outcome.error().text()}};
      const int failed = report(rpc::from_proto(outcome.error()));
      if (code == 0) code = failed;
    }
    outcomes.push_back(std::move(out));
  }
  return finish(context.json ? json_line({{"outcomes", std::move(outcomes)}}) : text, code);
}

}  // namespace

int finish_outcomes(const Context& context, const v1::JobOutcomes& reply, const Success& success) {
  return finish_all(context, reply, success, "job",
                    [](const v1::JobOutcomes::Outcome& outcome) { return named(outcome); });
}

int finish_outcomes(const Context& context, const v1::NodeOutcomes& reply, const Success& success) {
  return finish_all(context, reply, success, "node",
                    [](const v1::NodeOutcomes::Outcome& outcome) { return outcome.node(); });
}

}  // namespace artel::cli
