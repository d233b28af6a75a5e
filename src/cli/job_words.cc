// How jobs, arrays and tasks are named on the command line.
#include <fmt/format.h>

#include <limits>

#include "base/text.h"
#include "cli/commands.h"
#include "client.pb.h"
#include "model/job_spec.h"
#include "rpc/client.h"

namespace artel::cli {
namespace {

/// What stands behind the underscore: "7", "[3-9,12]".
Result<std::string> read_indexes(const std::string& word, std::string text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  const auto indexes = IndexSet::parse(text, kMostArrayTasks);
  if (indexes) return indexes->text();
  return fail(ErrorCode::kInvalidArgument, fmt::format("job '{}': {}", word, indexes.error().text));
}

}  // namespace

Result<std::vector<JobWord>> job_words(const std::vector<std::string>& words) {
  std::vector<JobWord> out;
  for (const std::string& word : words) {
    const auto end = word.find('_');
    const auto id =
        parse_number("job", word.substr(0, end), 1, std::numeric_limits<std::int64_t>::max());
    if (!id) return fail(id);
    JobWord one{*id, {}};
    if (end != std::string::npos) {
      auto indexes = read_indexes(word, word.substr(end + 1));
      if (!indexes) return fail(indexes);
      one.indexes = std::move(*indexes);
    }
    out.push_back(std::move(one));
  }
  return out;
}

Result<std::uint64_t> one_job(rpc::Client& client, const std::vector<std::string>& words) {
  const auto jobs = job_words(words);
  if (!jobs) return fail(jobs);
  if (jobs->size() != 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("name one job; {} are named", jobs->empty() ? "none" : "several"));
  }
  const JobWord& word = jobs->front();
  if (word.indexes.empty()) return word.job;
  const auto indexes = IndexSet::parse(word.indexes, kMostArrayTasks);
  if (!indexes) return fail(indexes);
  if (indexes->size() != 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("name one task; {} are named", indexes->size()));
  }
  v1::ShowRequest request;
  request.set_job(word.job);
  const auto shown = client.show(request);
  if (!shown) return fail(shown);
  const std::string& text = shown->job().spec().array();
  if (text.empty())
    return fail(ErrorCode::kInvalidArgument, fmt::format("job {} is no array", word.job));
  const auto array = parse_array(text, kMostArrayTasks);
  if (!array) return fail(array);
  if (const auto id = task_number(JobId{word.job}, *array, TaskIndex{indexes->front()}))
    return id->value;
  return fail(ErrorCode::kNotFound, fmt::format("array {} has no task {}", word.job, word.indexes));
}

}  // namespace artel::cli
