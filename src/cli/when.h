// Points of time in options: "2026-11-30", "2026-11-30T08:00", "today", "7d" (that long ago). All
// in UTC, as all times that Artel prints.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "cli/syntax.h"

namespace artel::cli {

/// Error: kInvalidArgument with the accepted forms.
Result<Time> parse_when(std::string_view text, Time now);

/// Of what is to come: "+2h" (from now), "2026-11-30T08:00", "2026-11-30". Error: kInvalidArgument
/// with the accepted forms, also for a time that is over.
Result<Time> parse_future(std::string_view text, Time now);

struct Period {
  Time from;
  Time to;
};

/// --from and --to; `from` where the first is missing, `now` where the second is. Error:
/// kInvalidArgument, also where nothing lies between them.
Result<Period> parse_period(const Parsed& parsed, Time now, Time from);

}  // namespace artel::cli
