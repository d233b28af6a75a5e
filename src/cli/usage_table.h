// Usage for people and for spreadsheets.
#pragma once

#include <cstdint>
#include <string>

#include "cli/table.h"

namespace artel::v1 {
class UsageReply;
}

namespace artel::cli {

/// Hours with two digits and a last line with the sums. The sum of jobs is left out where one job
/// counts in several rows.
std::string usage_table(const v1::UsageReply& reply, const std::string& by,
                        const Terminal& terminal);

/// RFC 4180 with a header; hours rounded to three digits, milliseconds exact.
std::string usage_csv(const v1::UsageReply& reply, const std::string& by);

/// "12.50" for 45,000,000 ms, rounded half up.
std::string hours(std::uint64_t ms, unsigned digits);

}  // namespace artel::cli
