// From words on the command line to the request that creates a job: common to `submit` and `run`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/syntax.h"
#include "client.pb.h"
#include "config/config.h"

namespace artel::rpc {
class Client;
}

namespace artel::cli {

class Interrupts;

struct Submission {
  v1::SubmitRequest request;  // one job, with a token of its own: it may be sent again
  std::vector<std::string> warnings;
};

/// `submit`: a script, or a program behind "--".
Result<Submission> batch_submission(const Parsed& parsed, const config::SiteConfig& site);
/// `run`: a program whose output comes back to the caller.
Result<Submission> attached_submission(const Parsed& parsed, const config::SiteConfig& site);

/// The new job's id. Error: as Client::submit.
Result<std::uint64_t> submit(rpc::Client& client, const Submission& submission);

/// Complains about a submission that failed, by a signal where one came; gives the exit code.
int report_submission(const Error& error, const Interrupts& interrupts);

}  // namespace artel::cli
