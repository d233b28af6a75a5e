// Jobs for people: the tables of `queue` and `history`, the page of `show`.
#pragma once

#include <string>

#include "base/result.h"
#include "base/units.h"
#include "cli/syntax.h"
#include "cli/table.h"

namespace artel::v1 {
class HistoryReply;
class JobView;
class QueueReply;
}  // namespace artel::v1

namespace artel::cli {

/// The user named by --user, the caller with --mine, or "" for all.
Result<std::string> user_filter(const Parsed& parsed);

std::string queue_table(const v1::QueueReply& reply, Terminal terminal, bool whole);
std::string history_table(const v1::HistoryReply& reply, Time now, Terminal terminal, bool whole);
/// All that is known about a job, one fact a line.
std::string job_page(const v1::JobView& job, Time now);

/// How a state looks; the word itself says the same.
Style state_style(const std::string& state);

}  // namespace artel::cli
