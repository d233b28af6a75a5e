// Result of an operation that can fail for a reason worth telling: a value or one sentence for the
// user.
//
// The workloads build without the rest of the project, so they do not share its error table.

#pragma once

#include <expected>
#include <string>

namespace artel::workload {

template <class T>
using Result = std::expected<T, std::string>;

using Failure = std::unexpected<std::string>;

/// Exit codes of both programs; kLeftOnSignal is EX_TEMPFAIL of sysexits.h: "run me again".
inline constexpr int kSuccess = 0;
inline constexpr int kFault = 1;
inline constexpr int kUsage = 2;
inline constexpr int kLeftOnSignal = 75;

}  // namespace artel::workload
