// artel run: a job whose output comes back here and whose exit code is returned.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/interrupts.h"
#include "cli/job_exit.h"
#include "cli/job_options.h"
#include "cli/job_view.h"
#include "cli/json.h"
#include "cli/submission.h"
#include "rpc/client.h"

namespace artel::cli {
namespace {

/// One attached job. The first signal cancels it, the second one leaves it.
class AttachedRun {
 public:
  AttachedRun(rpc::Client& client, Interrupts& interrupts, std::uint64_t job, bool json)
      : client_(client), interrupts_(interrupts), job_(job), json_(json) {}

  int follow() {
    be_patient(client_);
    const auto started =
        repeat([this] { return wait_for(client_, interrupts_, job_, has_started, tell_wait()); });
    if (!started) return leave(started.error());
    if (const auto read = output(); !read) {
      if (left()) return leave(read.error());
      complain(fmt::format("no more output of job {}: {}", job_, read.error().text));
      if (cannot_write_) cancel("the output of artel run could not be written");
    }
    const auto ended =
        repeat([this] { return wait_for(client_, interrupts_, job_, is_final_state, nullptr); });
    if (!ended) return leave(ended.error());
    tell_end(*ended);
    return job_exit_code(*ended);
  }

 private:
  [[nodiscard]] bool left() const { return interrupts_.count() > 1; }

  /// Repeats a call that the first signal ended, after the cancel.
  template <typename Call>
  auto repeat(Call call) -> decltype(call()) {
    for (;;) {
      auto result = call();
      if (result || !client_.interrupted() || !cancel_once()) return result;
    }
  }

  Result<> output() {
    const auto sink = [this](int descriptor) {
      return [this, descriptor](std::string_view text) {
        auto written = write_to(descriptor, text);
        cannot_write_ = cannot_write_ || !written;
        return written;
      };
    };
    OutputReader out(client_, job_, false, sink(STDOUT_FILENO));
    OutputReader err(client_, job_, true, sink(STDERR_FILENO));
    for (;;) {
      auto read =
          follow_output({&out, &err}, interrupts_, [this] { return client_.interrupted(); });
      if (!read || !client_.interrupted()) return read;
      if (!cancel_once()) return fail(ErrorCode::kUnavailable, "interrupted");
    }
  }

  /// False: the user wants to leave.
  bool cancel_once() {
    if (left() || cancelled_) return false;
    cancelled_ = true;
    client_.resume();
    complain(fmt::format("cancelling job {}; once more leaves it alone", job_));
    cancel("interrupted at the terminal of artel run");
    return !left();
  }

  void cancel(const char* reason) {
    v1::CancelRequest request;
    request.add_jobs(job_);
    request.set_reason(reason);
    // A refusal means that the job has ended by itself, which the caller sees next.
    (void)client_.cancel(request);
  }

  void tell_end(const v1::JobView& job) const {
    if (json_) {
      const Time now = job.has_ended_ms() ? time_from_ms(job.ended_ms()) : Time{};
      (void)write_to(STDERR_FILENO, json_line(job_json(job, now, false)));
    } else if (job.state() != "COMPLETED") {
      complain(fmt::format("job {} {}: {}", job_, job.state(), cause_text(job)));
    }
  }

  int leave(const Error& error) {
    if (!left() && !client_.interrupted()) return report(error);
    complain(fmt::format("left job {0}; 'artel show {0}' tells its state", job_));
    return kExitSignalBase + interrupts_.last();
  }

  StateListener tell_wait() const {
    return [this](const v1::JobView& view) {
      const std::string why = waiting_text(view);
      if (!why.empty()) complain(fmt::format("job {} waits: {}", job_, why));
    };
  }

  rpc::Client& client_;
  Interrupts& interrupts_;
  const std::uint64_t job_;
  const bool json_;
  bool cancelled_ = false;
  bool cannot_write_ = false;
};

}  // namespace

Syntax run_syntax() {
  Syntax syntax;
  syntax.command = "run";
  syntax.summary = "run a program on the cluster with its output here, and return its exit code";
  syntax.usage = "[options] [--] PROGRAM [ARGUMENT...]";
  syntax.operands = Operands::kProgram;
  syntax.options = with_common(job_options(JobOptions::kAttached));
  syntax.examples =
      "  artel run -N 2 hostname\n"
      "  artel run --gpus-per-node 1 -t 10m -- ./evaluate --quick\n";
  return syntax;
}

int run_command(const Context& context, const Parsed& parsed) {
  if (const char* job = std::getenv("ARTEL_JOB_ID"); job != nullptr) {
    return report(
        {ErrorCode::kWrongState,
         fmt::format("this is inside of job {}; steps inside a job are not offered yet. Start "
                     "the program directly, or submit a job of its own with 'artel submit'",
                     job)});
  }
  const auto site = load_site(context);
  if (!site) return report(site.error());
  const auto submission = attached_submission(parsed, *site);
  if (!submission) return report(submission.error());
  std::signal(SIGPIPE, SIG_IGN);  // a reader of the output that goes away is told to the job
  Interrupts interrupts;
  const auto client = make_client(*site);
  interrupts.on_signal([&client] { client->interrupt(); });
  const auto job = submit(*client, *submission);
  if (!job) return report_submission(job.error(), interrupts);
  return AttachedRun(*client, interrupts, *job, context.json).follow();
}

}  // namespace artel::cli
