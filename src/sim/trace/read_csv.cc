// Artel's CSV: one header line, one row a job, empty fields where the source knows nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>

#include "base/text.h"
#include "sim/trace/lines.h"
#include "sim/trace/read.h"

namespace artel::trace {
namespace {

enum Column : std::size_t {
  kSubmit,
  kId,
  kUser,
  kTeam,
  kNodes,
  kGpus,
  kGpusPerNode,
  kCpus,
  kRuntime,
  kRequested,
  kStatus,
  kQueue,
  kPriority,
  kWait,
  kExtra,
  kColumns
};

constexpr std::array<std::string_view, kColumns> kNames = {
    "submit_s",  "job_id",      "user",   "team",  "nodes",    "gpus",   "gpus_per_node", "cpus",
    "runtime_s", "requested_s", "status", "queue", "priority", "wait_s", "extra"};

constexpr Seconds kMostSeconds = Seconds{1} << 40U;

/// One field in each place of kNames; empty where the file lacks the column.
using Row = std::array<std::string_view, kColumns>;

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const auto comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

/// Reads rows of one file. Every member function tells the line it stands at.
class CsvReader {
 public:
  CsvReader(const std::string& file, std::string_view text)
      : file_(file), lines_(text), names_(workload_.names) {}

  Result<Workload> read() {
    if (auto head = read_head(); !head) return fail(head);
    while (const auto line = lines_.next()) {
      if (auto row = read_row(*line); !row) return fail(row);
    }
    return std::move(workload_);
  }

 private:
  std::unexpected<Error> bad(const std::string& what) const {
    return bad_line(file_, lines_.number(), what);
  }
  std::unexpected<Error> bad(Column column, std::string_view text, std::string_view wanted) const {
    return bad(fmt::format("{}: '{}' must be {}", kNames[column], text, wanted));
  }

  Result<> read_head() {
    const auto line = lines_.next();
    if (!line) return bad("the file is empty; the first line names the columns");
    for (const std::string_view name : fields_of(*line)) {
      const auto at = std::find(kNames.begin(), kNames.end(), name);
      if (at == kNames.end()) {
        return bad(fmt::format("unknown column '{}'{}; known are {}", name,
                               did_you_mean(name, {kNames.begin(), kNames.end()}),
                               fmt::join(kNames, ", ")));
      }
      const auto column = static_cast<Column>(at - kNames.begin());
      if (std::find(columns_.begin(), columns_.end(), column) != columns_.end())
        return bad(fmt::format("column {} is there twice", name));
      columns_.push_back(column);
    }
    for (const Column needed : {kSubmit, kId, kRuntime}) {
      if (std::find(columns_.begin(), columns_.end(), needed) == columns_.end())
        return bad(fmt::format("there is no column {}", kNames[needed]));
    }
    return {};
  }

  Result<> read_row(std::string_view line) {
    const auto fields = fields_of(line);
    if (fields.size() != columns_.size()) {
      return bad(fmt::format("has {} fields, but the first line names {} columns", fields.size(),
                             columns_.size()));
    }
    Row row;
    for (std::size_t i = 0; i < fields.size(); ++i) row[columns_[i]] = fields[i];
    Job job;
    if (auto times = read_times(row, job); !times) return times;
    if (auto sizes = read_sizes(row, job); !sizes) return sizes;
    if (row[kId].empty()) return bad("job_id is empty");
    if (!ids_.insert(std::string(row[kId])).second)
      return bad(fmt::format("job_id '{}' is there twice", row[kId]));
    job.id = row[kId];
    job.user = names_.index_of(row[kUser]);
    job.team = names_.index_of(row[kTeam]);
    job.queue = names_.index_of(row[kQueue]);
    job.priority = names_.index_of(row[kPriority]);
    workload_.jobs.push_back(std::move(job));
    return {};
  }

  Result<> read_times(const Row& row, Job& job) {
    const auto submit = seconds(row[kSubmit], 0);
    if (!submit) return bad(kSubmit, row[kSubmit], "whole seconds from 0");
    if (workload_.jobs.empty()) first_ = *submit;
    job.submit = *submit - first_;
    if (!workload_.jobs.empty() && job.submit < workload_.jobs.back().submit)
      return bad("submit_s is before that of the row above; rows must be sorted by it");
    const auto runtime = seconds(row[kRuntime], 1);
    if (!runtime) return bad(kRuntime, row[kRuntime], "whole seconds from 1");
    job.runtime = *runtime;
    if (row[kRequested].empty()) return {};
    job.limit = seconds(row[kRequested], 1);
    if (!job.limit) return bad(kRequested, row[kRequested], "whole seconds from 1, or empty");
    return {};
  }

  Result<> read_sizes(const Row& row, Job& job) {
    struct Size {
      Column column;
      Milli* out;
    };
    for (const Size size : {Size{kNodes, &job.nodes}, Size{kGpus, &job.gpus},
                            Size{kGpusPerNode, &job.gpus_per_node}, Size{kCpus, &job.cpus}}) {
      if (row[size.column].empty()) continue;
      const auto amount = milli_number(row[size.column]);
      if (!amount) {
        return bad(size.column, row[size.column],
                   "a number from 0 with at most three decimals, or empty");
      }
      *size.out = *amount;
    }
    if (job.nodes < kMilli || job.nodes % kMilli != 0)
      return bad(kNodes, row[kNodes], "a whole number from 1");
    return {};
  }

  static std::optional<Seconds> seconds(std::string_view text, Seconds least) {
    const auto number = whole_number(text);
    return number && *number >= least && *number <= kMostSeconds ? number : std::nullopt;
  }

  const std::string& file_;
  Lines lines_;
  Workload workload_;
  Names names_;
  std::vector<Column> columns_;
  std::set<std::string> ids_;
  Seconds first_{};
};

}  // namespace

Result<Workload> parse_csv(const std::string& file, std::string_view text) {
  return CsvReader(file, text).read();
}

}  // namespace artel::trace
