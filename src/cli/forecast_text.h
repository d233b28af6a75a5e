// Expected starts and the consequences of a change, for people and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/units.h"
#include "cli/context.h"

namespace artel::v1 {
class WhatIfReply;
}

namespace artel::cli {

/// "2026-11-30T10:15:00Z (in 12m)"
std::string start_text(Time start, Time now);

/// What the change would do at once, and to which expected starts.
std::string consequences_text(const v1::WhatIfReply& reply, const Terminal& terminal);
nlohmann::json consequences_json(const v1::WhatIfReply& reply);

}  // namespace artel::cli
