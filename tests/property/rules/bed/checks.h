// The properties of the rules, stated on what a watcher sees of an engine.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "property/rules/bed/ledger.h"
#include "property/rules/bed/mirror.h"
#include "property/rules/bed/stream.h"

namespace artel::rules {

/// One pass: the state as it was when each decision was made.
struct Moment {
  Kind kind = Kind::kMixed;
  const Mirror& mirror;             // before this decision
  const scenario::Beliefs& before;  // at the last rest
  const scenario::Beliefs& after;   // the pass
  Ledger& ledger;
  std::string when;                 // "minute 7"
  bool signalled = false;           // somebody was told to leave earlier in this pass
  bool borrower_began = false;      // a borrower started in this pass since the last signal
  std::set<std::string> claimants;  // who may have caused the signals
};

/// Rules G, Q, I2, A4, O, P, X, R2 at a start.
void check_start(const Moment& moment, const scenario::Start& start);
void check_order(const Moment& moment, const scenario::Start& start);
void check_place(const Moment& moment, const scenario::Start& start);
/// Rules I1, V, A3, A4, P1, F3 for victims that go together.
void check_victims(const Moment& moment, const std::vector<std::string>& victims);
/// Rules C, F, Z at rest.
void check_rest(const Moment& moment);

/// Whether no quota check of a reason of its own stops the job at its smallest size.
bool passes_limits(const Mirror& mirror, const Track& job, std::int64_t size);
bool fills_the_cluster(const Mirror& mirror, const Track& job, std::int64_t size);
bool is_backing_off(const Mirror& mirror, const Track& job);
/// The first level of the tree on the job's path.
std::size_t top_of(const Mirror& mirror, const Track& job);
/// Same request, user and queue: nothing but their place in the line tells them apart.
bool are_alike(const Track& a, const Track& b);

}  // namespace artel::rules
