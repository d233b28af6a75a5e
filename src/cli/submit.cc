// artel submit: queue a job.
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/forecast_text.h"
#include "cli/interrupts.h"
#include "cli/job_exit.h"
#include "cli/job_options.h"
#include "cli/job_view.h"
#include "cli/json.h"
#include "cli/submission.h"
#include "rpc/client.h"

namespace artel::cli {
namespace {

std::string submitted_text(const Context& context, std::uint64_t job) {
  if (context.json) return json_line({{"job", job}});
  std::string text = fmt::format("job {}\n", job);
  if (context.terminal.is_terminal) {
    text += fmt::format(
        "'artel show {0}' tells its state, 'artel logs -f {0}' follows its output.\n", job);
  }
  return text;
}

/// Waits for the end; the job goes on when the user has had enough.
int wait_for_end(const Context& context, rpc::Client& client, Interrupts& interrupts,
                 std::uint64_t job) {
  be_patient(client);
  const auto ended =
      wait_for(client, interrupts, job, is_final_state, [&](const v1::JobView& view) {
        const std::string why =
            is_final_state(view.state()) ? cause_text(view) : waiting_text(view);
        complain(fmt::format("job {} {}{}{}", job, view.state(), why.empty() ? "" : ": ", why));
      });
  if (!ended && interrupts.count() > 0) {
    complain(
        fmt::format("no longer waiting; job {0} goes on. 'artel show {0}', 'artel logs -f {0}' "
                    "and 'artel cancel {0}' work from anywhere",
                    job));
    return kExitSignalBase + interrupts.last();
  }
  if (!ended) return report(ended.error());
  const int code = job_exit_code(*ended);
  if (!context.json) return code;
  return finish(json_line(job_json(*ended, time_from_ms(ended->ended_ms()), false)), code);
}

int dry_run(const Context& context, const config::SiteConfig& site, const Submission& submission) {
  v1::WhatIfRequest request;
  *request.mutable_submit() = submission.request.jobs(0);
  const auto reply = make_client(site)->what_if(request);
  if (!reply) return report(reply.error());
  return finish(context.json ? json_line(consequences_json(*reply))
                             : consequences_text(*reply, context.terminal));
}

}  // namespace

Syntax submit_syntax() {
  Syntax syntax;
  syntax.command = "submit";
  syntax.summary = "queue a job: a script, or a program with its arguments";
  syntax.usage = "[options] SCRIPT [ARGUMENT...]\n[options] -- PROGRAM [ARGUMENT...]";
  syntax.operands = Operands::kProgram;
  syntax.options = job_options(JobOptions::kSubmit);
  syntax.options.push_back(
      {"--wait", Option::Kind::kFlag, "", "wait for the end and return the job's own exit code"});
  syntax.options.push_back({"--dry-run", Option::Kind::kFlag, "",
                            "submit nothing; tell when it would start and whom it would evict"});
  syntax.options = with_common(std::move(syntax.options));
  syntax.examples =
      "  artel submit -N 2 -t 1h train.sh\n"
      "  artel submit -N 4 --tasks-per-node 8 -J gpt --env OMP_NUM_THREADS=4 -- ./train\n";
  return syntax;
}

int submit_command(const Context& context, const Parsed& parsed) {
  const auto site = load_site(context);
  if (!site) return report(site.error());
  const auto submission = batch_submission(parsed, *site);
  if (!submission) return report(submission.error());
  for (const std::string& warning : submission->warnings) complain("warning: " + warning);
  if (parsed.has("dry-run")) return dry_run(context, *site, *submission);
  std::optional<Interrupts> interrupts;
  if (parsed.has("wait")) interrupts.emplace();
  const auto client = make_client(*site);
  if (interrupts) interrupts->on_signal([&client] { client->interrupt(); });
  const auto job = submit(*client, *submission);
  if (!job) return interrupts ? report_submission(job.error(), *interrupts) : report(job.error());
  const int code = finish(submitted_text(context, *job));
  if (code != 0 || !interrupts) return code;
  return wait_for_end(context, *client, *interrupts, *job);
}

}  // namespace artel::cli
