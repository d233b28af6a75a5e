// A whole cluster in one thread and virtual time: the real controller core and agent cores, a model
// of store, network, processes and clients, faults from a seed, and checkers after every step.
//
// One seed is one run: run_world(options) twice gives the same trace hash. The run has two phases:
// trouble, in which clients submit and cancel while things break, and quiet, in which nothing
// breaks any more and every job must come to its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/units.h"
#include "sim/mutation.h"

namespace artel::sim {

/// How often each kind of trouble happens, on the average once per this time. Zero: never.
struct Trouble {
  Duration controller_crash{std::chrono::seconds{40}};
  Duration agent_crash{std::chrono::seconds{20}};
  Duration link_cut{std::chrono::seconds{10}};
  Duration rank_kill{std::chrono::seconds{15}};
  Duration step_daemon_kill{std::chrono::seconds{30}};
  Duration node_reboot{std::chrono::seconds{60}};
  Duration isolation{std::chrono::seconds{60}};   // a node hears nobody, and nobody hears it
  Duration agent_stop{std::chrono::seconds{60}};  // in order, with goodbye to its peers
  Duration power_loss{std::chrono::seconds{90}};
  Duration cut_and_cancel{std::chrono::minutes{3}};
  Duration operator_order{std::chrono::seconds{30}};  // drains and resumes of nodes
  Duration hold_or_release{std::chrono::seconds{10}};
  Duration cancel_storm{std::chrono::minutes{4}};
  Duration new_terms{std::chrono::seconds{45}};    // of teams
  Duration one_way_cut{std::chrono::seconds{90}};  // a node is only heard, or only hears
  Duration partition{std::chrono::minutes{2}};     // some nodes hear each other, but nobody else
  Duration clock_jump{std::chrono::minutes{1}};    // of a node's wall clock
  Duration commit_failure{std::chrono::minutes{3}};
  Duration low_disk{std::chrono::minutes{2}};  // of the controller: nothing starts for a while
};

struct WorldOptions {
  std::uint64_t seed = 1;
  std::uint32_t nodes = 4;
  std::uint32_t jobs = 60;
  std::uint32_t long_jobs = 150;  // per mille: they outlive the silence of a node
  Duration trouble_for{std::chrono::minutes{5}};
  Duration quiet_for{std::chrono::hours{2}};  // limit for the quiet phase
  Trouble trouble;
  Mutation mutation = Mutation::kNone;
};

struct WorldResult {
  std::optional<std::string> broken;  // the first broken invariant, with time
  std::uint64_t trace_hash{};
  std::uint64_t steps{};
  std::uint64_t acknowledged{};
  std::uint64_t starts{};  // of ranks on a node
  std::uint64_t controller_crashes{};
  std::uint64_t evictions{};
  std::uint64_t given_up{};  // parts of attempts on nodes that were lost
};

WorldResult run_world(const WorldOptions& options);

}  // namespace artel::sim
