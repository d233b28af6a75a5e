// All streams of all kinds through all engines, once per process.
#pragma once

#include "property/rules/bed/engines.h"
#include "property/rules/bed/ledger.h"
#include "property/rules/bed/stream.h"

namespace artel::rules {

/// Played on first use.
const Ledger& findings();

/// Plays one stream; returns the trace of decisions. Failures of the player are rule G1's.
std::string play(Kind kind, const scenario::Case& stream, const Tested& engine, Ledger& ledger,
                 scenario::Minute poll = 0);

std::string kind_name(Kind kind);

}  // namespace artel::rules
