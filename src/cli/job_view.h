// What a job's view says, read once for tables, details and JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace artel::v1 {
class AttemptView;
class Component;
class JobView;
}  // namespace artel::v1

namespace artel::cli {

/// "17", "1234_7" for a task, "1234_[5-999%50]" for an array of which that much waits. `whole`:
/// however long.
std::string job_name(const v1::JobView& job, bool whole);
/// The state; of an array in a list of what waits, that of its tasks that do.
std::string waiting_state(const v1::JobView& job);
/// The latest attempt, or null before the first.
const v1::AttemptView* latest_attempt(const v1::JobView& job);
/// Its component; a default one where a reply has none.
const v1::Component& component_of(const v1::JobView& job);
/// Names of the attempt's nodes in gang order.
std::vector<std::string> node_names(const v1::AttemptView& attempt);
/// From the first process to the end or `now`; nullopt where nothing ran.
std::optional<Duration> elapsed(const v1::AttemptView& attempt, Time now);
std::optional<Duration> time_limit(const v1::JobView& job);

/// "5:09/1h", "-/1h" before the start, "5:09" without a limit.
std::string time_column(const v1::JobView& job, Time now);
/// The short reason of a waiting job, the nodes of a placed one, the cause of an ended one.
/// `whole`: long forms.
std::string reason_column(const v1::JobView& job, Time now, bool whole);
/// What the job runs: "train --epochs 5" or "script (1.2 KiB)".
std::string program_text(const v1::JobView& job);
/// "whole nodes", "4 GPUs (h100), 8 CPUs, 64GiB".
std::string request_text(const v1::Component& component);
/// The sentence for people of the final cause, or "".
std::string cause_text(const v1::JobView& job);

}  // namespace artel::cli
