// artel hold, artel release, artel requeue: keep jobs that wait from starting, let them go again,
// and let those that run wait again.
#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/outcomes.h"
#include "client.pb.h"
#include "rpc/client.h"

namespace artel::cli {
namespace {

Option reason_option() {
  return {"--reason", Option::Kind::kValue, "TEXT", "why, shown with the job"};
}

Syntax syntax_of(std::string command, std::string summary, std::vector<Option> options,
                 std::string examples) {
  Syntax syntax;
  syntax.command = std::move(command);
  syntax.summary = std::move(summary);
  syntax.usage = "[options] JOB...";
  syntax.operands = Operands::kList;
  syntax.options = with_common(std::move(options));
  syntax.examples = std::move(examples);
  return syntax;
}

/// `send` fills the request for these jobs and calls the controller.
template <typename Request, typename Send>
int order(const Context& context, const Parsed& parsed, std::string_view verb,
          const Success& success, Request request, Send send) {
  const auto jobs = job_words(parsed.operands);
  if (!jobs) return report(jobs.error());
  if (jobs->empty())
    return report({ErrorCode::kInvalidArgument, "name the jobs to " + std::string(verb)});
  name_jobs(*jobs, request);
  const auto client = connect(context);
  if (!client) return report(client.error());
  const auto reply = send(**client, request);
  if (!reply) return report(reply.error());
  return finish_outcomes(context, *reply, success);
}

auto send_hold() {
  return [](rpc::Client& client, const v1::HoldRequest& request) { return client.hold(request); };
}

}  // namespace

Syntax hold_syntax() {
  return syntax_of("hold", "keep jobs that wait from starting", {reason_option()},
                   "  artel hold 17 --reason 'the data is not complete'\n"
                   "  artel hold 17 18 --json\n");
}

Syntax release_syntax() {
  return syntax_of("release", "let held jobs start again", {},
                   "  artel release 17\n  artel release 17 18 --json\n");
}

Syntax requeue_syntax() {
  return syntax_of(
      "requeue", "end the runs of jobs; the jobs wait again", {reason_option()},
      "  artel requeue 17\n  artel requeue 17 18 --reason 'new version of the data'\n");
}

int hold_command(const Context& context, const Parsed& parsed) {
  v1::HoldRequest request;
  request.set_reason(parsed.value("reason"));
  return order(context, parsed, "hold", {"held", "is held"}, std::move(request), send_hold());
}

int release_command(const Context& context, const Parsed& parsed) {
  v1::HoldRequest request;
  request.set_release(true);
  return order(context, parsed, "release", {"released", "is released"}, std::move(request),
               send_hold());
}

int requeue_command(const Context& context, const Parsed& parsed) {
  v1::RequeueRequest request;
  request.set_reason(parsed.value("reason"));
  return order(context, parsed, "requeue", {"requeued", "waits again once its run is over"},
               std::move(request), [](rpc::Client& client, const v1::RequeueRequest& all) {
                 return client.requeue(all);
               });
}

}  // namespace artel::cli
