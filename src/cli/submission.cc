#include "cli/submission.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "cli/context.h"
#include "cli/directives.h"
#include "cli/interrupts.h"
#include "cli/job_exit.h"
#include "cli/job_options.h"
#include "cli/program.h"
#include "rpc/client.h"
#include "wire/step/types_wire.h"

namespace artel::cli {
namespace {

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// 128 random bits: the controller gives the same job to a repeated request.
Result<std::string> new_client_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return fail(ErrorCode::kIo, fmt::format("no random numbers: {}", std::strerror(errno)));
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

/// A directory in place of an output file is a mistake that is known before the job waits for
/// hours.
Result<> check_output(const JobSpec& spec) {
  for (const std::string& pattern : {spec.output, spec.error}) {
    if (pattern.empty() || pattern.find('%') != std::string::npos) continue;
    const std::string path =
        pattern.starts_with('/') ? pattern : spec.working_directory + "/" + pattern;
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("the output '{}' is a directory; name a file in it", path));
    }
  }
  return {};
}

Result<Submission> finish_submission(JobSpec spec, std::vector<std::string> warnings) {
  if (auto checked = check_output(spec); !checked) return fail(checked);
  auto token = new_client_token();
  if (!token) return fail(token);
  spec.client_token = std::move(*token);
  Submission submission;
  wire::to_proto(spec, *submission.request.add_jobs());
  submission.warnings = std::move(warnings);
  return submission;
}

Result<JobDefaults> defaults_for(const std::string& program, const config::SiteConfig& site) {
  auto directory = present_directory();
  if (!directory) return fail(directory);
  const Time now = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  return JobDefaults{base_name(program), site.output, std::move(*directory), now};
}

Result<JobSpec> program_spec(const Parsed& parsed, const config::SiteConfig& site) {
  const auto defaults = defaults_for(parsed.operands.front(), site);
  if (!defaults) return fail(defaults);
  auto program = find_program(parsed.operands.front(), defaults->working_directory,
                              variable("PATH").value_or("/usr/local/bin:/usr/bin:/bin"));
  if (!program) return fail(program);
  auto spec = job_spec(parsed.options, *defaults, variable);
  if (!spec) return fail(spec);
  spec->argv = parsed.operands;
  spec->argv.front() = std::move(*program);
  return spec;
}

Result<Submission> script_submission(const Parsed& parsed, const config::SiteConfig& site) {
  const std::string& path = parsed.operands.front();
  auto text = read_script(path);
  if (!text) return fail(text);
  if (auto checked = check_script(path, *text); !checked) return fail(checked);
  auto directives = read_directives(path, *text);
  if (!directives) return fail(directives);
  const auto defaults = defaults_for(path, site);
  if (!defaults) return fail(defaults);
  auto spec = job_spec(merge(std::move(directives->options), parsed.options), *defaults, variable);
  if (!spec) return fail(spec);
  spec->script = std::move(*text);
  spec->argv.assign(parsed.operands.begin() + 1, parsed.operands.end());
  return finish_submission(std::move(*spec), std::move(directives->warnings));
}

}  // namespace

Result<Submission> batch_submission(const Parsed& parsed, const config::SiteConfig& site) {
  if (parsed.operands.empty()) {
    return fail(
        ErrorCode::kInvalidArgument,
        "nothing to run: name a script, or a program behind '--'; see 'artel submit --help'");
  }
  if (!parsed.after_dashes) return script_submission(parsed, site);
  auto spec = program_spec(parsed, site);
  if (!spec) return fail(spec);
  return finish_submission(std::move(*spec), {});
}

Result<Submission> attached_submission(const Parsed& parsed, const config::SiteConfig& site) {
  if (parsed.operands.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "nothing to run: name a program; see 'artel run --help'");
  }
  auto spec = program_spec(parsed, site);
  if (!spec) return fail(spec);
  spec->kind = JobKind::kInteractive;
  spec->attached = true;
  spec->output.clear();
  return finish_submission(std::move(*spec), {});
}

Result<std::uint64_t> submit(rpc::Client& client, const Submission& submission) {
  const auto reply = client.submit(submission.request);
  if (!reply) return fail(reply);
  if (reply->jobs_size() != submission.request.jobs_size()) {
    return fail(ErrorCode::kProtocol,
                "the controller answered a submission with another number of jobs");
  }
  return reply->jobs(0);
}

int report_submission(const Error& error, const Interrupts& interrupts) {
  if (interrupts.count() == 0) return report(error);
  complain(
      "interrupted before the controller answered; 'artel queue --mine' tells whether the job was "
      "queued");
  return kExitSignalBase + interrupts.last();
}

}  // namespace artel::cli
