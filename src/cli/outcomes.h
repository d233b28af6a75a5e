// What became of a command for each of the jobs or nodes that it named.
#pragma once

#include <string_view>

#include "cli/context.h"

namespace artel::v1 {
class JobOutcomes;
class NodeOutcomes;
}  // namespace artel::v1

namespace artel::cli {

/// How a success is told: `key` in JSON ("cancelled"), `words` to people ("is being cancelled").
struct Success {
  std::string_view key;
  std::string_view words;
};

// Both print a line or a JSON object for each, errors to stderr, and give the exit code: that of
// the first error, else 0.
int finish_outcomes(const Context& context, const v1::JobOutcomes& reply, const Success& success);
int finish_outcomes(const Context& context, const v1::NodeOutcomes& reply, const Success& success);

}  // namespace artel::cli
