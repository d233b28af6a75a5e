#include "ctld/store/attempts.h"

#include <fmt/format.h>

#include "ctld/store/rows.h"

namespace artel::ctld {
namespace {

constexpr std::string_view kAll =
    "SELECT " ARTEL_ATTEMPT_COLUMNS " FROM attempt WHERE job = ? ORDER BY task, attempt";
constexpr std::string_view kOne =
    "SELECT " ARTEL_ATTEMPT_COLUMNS " FROM attempt WHERE job = ? AND attempt = ?";
constexpr std::string_view kParts =
    "SELECT " ARTEL_PART_COLUMNS
    " FROM attempt_node WHERE job = ? AND task = ? AND attempt = ? ORDER BY node_index";

std::int64_t number(JobId job) { return static_cast<std::int64_t>(job.value); }

Result<> read_parts(sql::Database& database, HistoryAttempt& into, std::string& complaint) {
  const AttemptKey& key = into.attempt.key;
  auto query = database.prepare(kParts);
  if (!query) return fail(query);
  query->bind(number(key.job)).bind(key.task.value).bind(key.attempt.value);
  return for_each_row(*query, [&](Fields& fields) {
    StoredPart stored = read_part(fields);
    if (!fields.complaint().empty() && complaint.empty())
      complaint =
          fmt::format("attempt {}, node {}: {}", format_key(key), stored.node, fields.complaint());
    if (stored.index != into.nodes.size() && complaint.empty())
      complaint =
          fmt::format("attempt {} has no row for its node {}", format_key(key), into.nodes.size());
    stored.part.share.node = NodeId{static_cast<std::uint32_t>(into.nodes.size())};
    into.attempt.parts.push_back(std::move(stored.part));
    into.nodes.push_back(std::move(stored.node));
  });
}

}  // namespace

Result<StoredAttempts> read_attempts(sql::Database& database, JobId job,
                                     std::optional<AttemptNo> only) {
  StoredAttempts found;
  {
    auto query = database.prepare(only ? kOne : kAll);
    if (!query) return fail(query);
    query->bind(number(job));
    if (only) query->bind(only->value);
    auto done = for_each_row(*query, [&](Fields& fields) {
      HistoryAttempt attempt{read_attempt(fields), {}};
      if (!fields.complaint().empty() && found.complaint.empty())
        found.complaint =
            fmt::format("attempt {}: {}", format_key(attempt.attempt.key), fields.complaint());
      found.attempts.push_back(std::move(attempt));
    });
    if (!done) return fail(done);
  }
  for (HistoryAttempt& attempt : found.attempts)
    if (auto done = read_parts(database, attempt, found.complaint); !done) return fail(done);
  return found;
}

}  // namespace artel::ctld
