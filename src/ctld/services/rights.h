// Who may do what: the one table of verbs and roles.
//
// The core checks kCancel itself, against the live job in the same step; it is told through
// Caller::is_operator whether the caller has the operators' column. Thread: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ctld/core/controller.h"
#include "model/job_spec.h"

namespace artel::ctld {

enum class Verb : std::uint8_t {
  kSubmit,
  kCancel,
  kHold,  // and release
  kList,  // queue and history
  kShow,  // one job with its attempts
  kWait,
  kReadScript,  // script and environment of a job
  kReadOutput,
  kNodes,
  kUsage,
  kDrain,    // and resume
  kExplain,  // why a job waits, what a change would do
  kStore,    // what the store lost and found
  kRequeue,
  kUpdate,
};
inline constexpr std::size_t kVerbs = 15;

/// The caller's relation to the job. For verbs without a job: kOther or kOperator.
enum class Role : std::uint8_t { kOther, kOwner, kOperator };
inline constexpr std::size_t kRoles = 3;

struct RightsRow {
  Verb verb;
  std::string_view name;
  std::array<bool, kRoles> allowed;  // other, owner, operator
};

inline constexpr std::array<RightsRow, kVerbs> kRights = {{
    {Verb::kSubmit, "submit", {true, true, true}},
    {Verb::kCancel, "cancel", {false, true, true}},
    {Verb::kHold, "hold", {false, true, true}},
    {Verb::kList, "list", {true, true, true}},
    {Verb::kShow, "show", {true, true, true}},
    {Verb::kWait, "wait for", {true, true, true}},
    {Verb::kReadScript, "read the script of", {false, true, true}},
    {Verb::kReadOutput, "read the output of", {false, true, true}},
    {Verb::kNodes, "list nodes", {true, true, true}},
    {Verb::kUsage, "report usage", {true, true, true}},
    {Verb::kDrain, "drain", {false, false, true}},
    {Verb::kExplain, "ask about", {true, true, true}},
    {Verb::kStore, "look into the store of", {false, false, true}},
    {Verb::kRequeue, "requeue", {false, true, true}},
    {Verb::kUpdate, "update", {false, true, true}},
}};

constexpr bool may(Verb verb, Role role) {
  return kRights[static_cast<std::size_t>(verb)].allowed[static_cast<std::size_t>(role)];
}

/// An owner who is an operator too has the operators' rights.
inline Role role_of(const Caller& caller, const Owner& owner) {
  if (caller.is_operator) return Role::kOperator;
  return caller.owner.uid == owner.uid ? Role::kOwner : Role::kOther;
}

}  // namespace artel::ctld
