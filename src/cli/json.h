// --json: stable field names in snake_case, units last. Documented in artel(1); fields may be
// added, none is renamed.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/units.h"

namespace artel::v1 {
class AttemptView;
class JobView;
class NodeView;
class UsageReply;
class WaitReason;
}  // namespace artel::v1

namespace artel::cli {

/// Why a job waits.
nlohmann::json wait_json(const v1::WaitReason& wait);
/// A job with its latest attempt; with `whole` also program, environment and all attempts.
nlohmann::json job_json(const v1::JobView& job, Time now, bool whole);
nlohmann::json node_json(const v1::NodeView& node);
nlohmann::json usage_json(const v1::UsageReply& reply, const std::string& by);

/// One line with a newline. Bytes that are no UTF-8 become U+FFFD.
std::string json_line(const nlohmann::json& value);

}  // namespace artel::cli
