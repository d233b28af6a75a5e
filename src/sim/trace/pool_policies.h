// Policies over one pool: first come first served, shortest first, EASY and its kin, conservative.
//
// Sources: Lifka 1995 (EASY); Mu'alem and Feitelson 2001 (conservative, EASY); Tsafrir, Etsion and
// Feitelson 2007 (shortest job backfilled first).
#pragma once

#include <memory>

#include "sim/trace/policy.h"

namespace artel::trace {

/// The head starts while it fits; it blocks the others.
std::unique_ptr<Policy> make_fcfs(const Problem& problem);
/// As fcfs, but the queue is ordered by limit.
std::unique_ptr<Policy> make_sjf(const Problem& problem);

struct EasyOptions {
  bool shortest_first = false;  // candidates to fill in by limit, not by submit time
  bool perfect = false;         // the run time is known in place of the limit
  EventOrder order = EventOrder::kBatch;
};
/// As fcfs; then the head has its start reserved at the earliest time by limits, and jobs behind
/// it start if they do not delay that. The reservation is made anew in each pass.
std::unique_ptr<Policy> make_easy(const Problem& problem, EasyOptions options);

/// Each waiting job is planned in order of submit, at the earliest hole that jobs before it leave;
/// planned anew whenever a job ends before its limit.
std::unique_ptr<Policy> make_conservative(const Problem& problem);

}  // namespace artel::trace
