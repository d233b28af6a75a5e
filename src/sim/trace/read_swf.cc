// The Standard Workload Format, version 2: comments behind ';', then 18 numbers a job, -1 for what
// is not known.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "base/text.h"
#include "sim/trace/lines.h"
#include "sim/trace/read.h"

namespace artel::trace {
namespace {

enum Field : std::size_t {
  kNumber,
  kSubmit,
  kWait,
  kRuntime,
  kProcessors,
  kCpuTime,
  kMemory,
  kProcessorsAsked,
  kTimeAsked,
  kMemoryAsked,
  kStatus,
  kUser,
  kGroup,
  kProgram,
  kQueue,
  kPartition,
  kPreceding,
  kThinkTime,
  kFields
};

constexpr std::array<std::string_view, kFields> kNames = {
    "job number",    "submit time",    "wait time", "run time",
    "processors",    "processor time", "memory",    "processors asked",
    "time asked",    "memory asked",   "status",    "user",
    "group",         "program",        "queue",     "partition",
    "preceding job", "think time"};

constexpr std::int64_t kMost = std::int64_t{1} << 40U;

using Row = std::array<std::int64_t, kFields>;

class SwfReader {
 public:
  SwfReader(const std::string& file, std::string_view text)
      : file_(file), lines_(text), names_(workload_.names) {}

  Result<Workload> read() {
    while (const auto line = lines_.next()) {
      const std::string_view text = trim(*line);
      if (text.empty()) continue;
      if (text.starts_with(';')) {
        if (auto head = read_comment(trim(text.substr(1))); !head) return fail(head);
        continue;
      }
      const auto row = read_row(text);
      if (!row) return fail(row);
      if (auto job = add(*row); !job) return fail(job);
    }
    finish();
    return std::move(workload_);
  }

 private:
  std::unexpected<Error> bad(const std::string& what) const {
    return bad_line(file_, lines_.number(), what);
  }

  /// "MaxProcs: 128" is the machine's size; MaxNodes where there is no other. Other comments are
  /// for people.
  Result<> read_comment(std::string_view text) {
    for (const std::string_view key : {"MaxProcs:", "MaxNodes:"}) {
      if (!text.starts_with(key)) continue;
      if (key == "MaxNodes:" && workload_.capacity) continue;
      const std::string_view rest = trim(text.substr(key.size()));
      const auto size = whole_number(rest.substr(0, rest.find_first_of(" \t(")));
      if (!size || *size < 1 || *size > kMost)
        return bad(fmt::format("{} '{}' must be a whole number from 1", key, rest));
      workload_.capacity = *size * kMilli;
      workload_.resource = Resource::kCpus;
    }
    return {};
  }

  Result<Row> read_row(std::string_view text) {
    Row row{};
    std::size_t count = 0;
    while (!text.empty()) {
      const std::string_view word = text.substr(0, text.find_first_of(" \t"));
      text = trim(text.substr(word.size()));
      if (count == kFields) return bad(fmt::format("has more than {} fields", +kFields));
      // Some logs give processor time and memory with decimals; nothing here needs them.
      const std::string_view whole = word.substr(0, word.find('.'));
      const bool may_have_decimals = count == kCpuTime || count == kMemory || count == kMemoryAsked;
      const auto value = whole_number(may_have_decimals ? whole : word);
      if (!value || *value < -1 || *value > kMost) {
        return bad(fmt::format("field {} ({}): '{}' must be a whole number, or -1 for unknown",
                               count + 1, kNames[count], word));
      }
      row[count++] = *value;
    }
    if (count != kFields) return bad(fmt::format("has {} fields; a job has {}", count, +kFields));
    return row;
  }

  Result<> add(const Row& row) {
    if (row[kSubmit] < 0) return bad("the submit time is unknown");
    if (!numbers_.insert(row[kNumber]).second)
      return bad(fmt::format("job number {} is there twice", row[kNumber]));
    const std::int64_t size = row[kProcessorsAsked] > 0 ? row[kProcessorsAsked] : row[kProcessors];
    if (row[kRuntime] <= 0 || size <= 0) {
      ++workload_.dropped;
      return {};
    }
    Job job;
    job.id = std::to_string(row[kNumber]);
    job.submit = row[kSubmit];
    job.runtime = row[kRuntime];
    if (row[kTimeAsked] > 0) job.limit = row[kTimeAsked];
    job.nodes = job.cpus = size * kMilli;
    job.user = name('u', row[kUser]);
    job.team = name('g', row[kGroup]);
    job.queue = name('q', row[kQueue]);
    workload_.jobs.push_back(std::move(job));
    return {};
  }

  std::uint32_t name(char kind, std::int64_t number) {
    return number < 0 ? 0 : names_.index_of(fmt::format("{}{}", kind, number));
  }

  /// Logs are sorted by submit time only nearly always.
  void finish() {
    std::stable_sort(workload_.jobs.begin(), workload_.jobs.end(),
                     [](const Job& a, const Job& b) { return a.submit < b.submit; });
    const Seconds first = workload_.jobs.empty() ? 0 : workload_.jobs.front().submit;
    for (Job& job : workload_.jobs) job.submit -= first;
  }

  const std::string& file_;
  Lines lines_;
  Workload workload_;
  Names names_;
  std::set<std::int64_t> numbers_;
};

}  // namespace

Result<Workload> parse_swf(const std::string& file, std::string_view text) {
  return SwfReader(file, text).read();
}

}  // namespace artel::trace
