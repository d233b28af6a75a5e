// Mechanisms that can be switched off to show that the checkers notice.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace artel::sim {

enum class Mutation : std::uint8_t {
  kNone,
  kAnswerBeforeCommit,
  kSendBeforeCommit,
  kLoseCommits,
  kTearCommits,
  kForgetTokens,
  kReuseNumbers,
  kForgetAttempts,
  kForgetCancels,
  kForgetHolds,
  kForgetDrains,
  kForgetArrays,
  kForgetResend,
  kForgetRecords,
  kIgnoreTokens,
  kStartWhenFirstReady,
  kDropStrays,
  kNoSelfFencing,
  kGiveUpTooSoon,
  kFreeAtOrder,
  kSweepNothing,
  kLeaseBeginsAnew,
  kRefusalsAreContact,
};

struct NamedMutation {
  Mutation mutation;
  std::string_view name;  // what it does
  bool is_rare = false;   // noticed only where nodes are given up
};

inline constexpr std::array<NamedMutation, 22> kMutations = {{
    {Mutation::kAnswerBeforeCommit, "answer before the commit"},
    {Mutation::kSendBeforeCommit, "give orders to nodes before the commit"},
    {Mutation::kLoseCommits, "lose the last commit in a crash"},
    {Mutation::kTearCommits, "keep half of a commit in a crash"},
    {Mutation::kForgetTokens, "forget client tokens at a start"},
    {Mutation::kReuseNumbers, "give numbers of ended jobs again after a start"},
    {Mutation::kForgetAttempts, "start running jobs again after a start"},
    {Mutation::kForgetCancels, "forget cancels at a start"},
    {Mutation::kForgetHolds, "forget holds at a start"},
    {Mutation::kForgetDrains, "forget drains at a start"},
    {Mutation::kForgetArrays, "start the tasks of an array again after a start"},
    {Mutation::kForgetResend, "forget to re-send ends"},
    {Mutation::kForgetRecords, "an agent forgets its records at a restart"},
    {Mutation::kIgnoreTokens, "ignore client tokens"},
    {Mutation::kStartWhenFirstReady, "start when the first node is ready"},
    {Mutation::kDropStrays, "leave attempts alone that were given up", true},
    {Mutation::kNoSelfFencing, "agents that hear nobody go on", true},
    {Mutation::kGiveUpTooSoon, "silent nodes are given up too soon", true},
    {Mutation::kLeaseBeginsAnew, "the lease begins anew with each agent process", true},
    {Mutation::kRefusalsAreContact, "refused probes renew the lease", true},
    {Mutation::kFreeAtOrder, "take nodes for free once told to end"},
    {Mutation::kSweepNothing, "call nodes swept that are not"},
}};

}  // namespace artel::sim
