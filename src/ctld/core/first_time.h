// From when on a new start of the controller counts its time.
#pragma once

#include "ctld/core/store.h"

namespace artel::ctld {

/// `wall`, or the latest time that the store has seen where the clock was put back since: else what
/// ends now would have ended before it began, and a GPU would be charged twice. More than an hour
/// ahead the clock was wrong when that was stored, and is believed now.
[[nodiscard]] Time first_time(const StoredState& stored, Time wall);

}  // namespace artel::ctld
