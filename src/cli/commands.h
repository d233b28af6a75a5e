// The table of commands, one file each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/context.h"
#include "cli/syntax.h"

namespace artel::cli {

struct Command {
  Syntax (*syntax)();
  int (*run)(const Context& context, const Parsed& parsed);  // gives the exit code
};

std::span<const Command> commands();

Syntax submit_syntax();
Syntax run_syntax();
Syntax queue_syntax();
Syntax show_syntax();
Syntax why_syntax();
Syntax logs_syntax();
Syntax cancel_syntax();
Syntax hold_syntax();
Syntax release_syntax();
Syntax requeue_syntax();
Syntax update_syntax();
Syntax nodes_syntax();
Syntax drain_syntax();
Syntax resume_syntax();
Syntax history_syntax();
Syntax report_usage_syntax();
Syntax whatif_syntax();
Syntax simulate_syntax();
Syntax lost_and_found_syntax();

int submit_command(const Context& context, const Parsed& parsed);
int run_command(const Context& context, const Parsed& parsed);
int queue_command(const Context& context, const Parsed& parsed);
int show_command(const Context& context, const Parsed& parsed);
int why_command(const Context& context, const Parsed& parsed);
int logs_command(const Context& context, const Parsed& parsed);
int cancel_command(const Context& context, const Parsed& parsed);
int hold_command(const Context& context, const Parsed& parsed);
int release_command(const Context& context, const Parsed& parsed);
int requeue_command(const Context& context, const Parsed& parsed);
int update_command(const Context& context, const Parsed& parsed);
int nodes_command(const Context& context, const Parsed& parsed);
int drain_command(const Context& context, const Parsed& parsed);
int resume_command(const Context& context, const Parsed& parsed);
int history_command(const Context& context, const Parsed& parsed);
int report_usage_command(const Context& context, const Parsed& parsed);
int whatif_command(const Context& context, const Parsed& parsed);
int simulate_command(const Context& context, const Parsed& parsed);
int lost_and_found_command(const Context& context, const Parsed& parsed);

/// Job ids of operands: "17", "18". Error: kInvalidArgument.
Result<std::vector<std::uint64_t>> job_ids(const std::vector<std::string>& words);
/// Exactly one.
Result<std::uint64_t> one_job_id(const std::vector<std::string>& words);

/// A job, or some tasks of an array: "1234_7", "1234_[3-9,12]".
struct JobWord {
  std::uint64_t job{};
  std::string indexes;  // empty: all of it
};
/// Error: kInvalidArgument.
Result<std::vector<JobWord>> job_words(const std::vector<std::string>& words);
/// Exactly one job, or one task of an array, whose number the controller is asked for.
Result<std::uint64_t> one_job(rpc::Client& client, const std::vector<std::string>& words);
/// Puts the words into a request that has `jobs` and `tasks`.
template <typename Request>
void name_jobs(const std::vector<JobWord>& words, Request& request) {
  for (const JobWord& word : words) {
    if (word.indexes.empty()) {
      request.add_jobs(word.job);
      continue;
    }
    auto& tasks = *request.add_tasks();
    tasks.set_array(word.job);
    tasks.set_indexes(word.indexes);
  }
}

}  // namespace artel::cli
