// Proofs by which the step daemons of one attempt know each other, and secrets derived from the
// attempt's key.
//
// HMAC-SHA-256 of libsodium; challenges from the kernel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/attempt.h"

namespace artel::step {

inline constexpr std::size_t kChallengeSize = 32;

/// 32 fresh random bytes.
std::string make_challenge();

/// HMAC(step_key, "root" || challenge || node_index), the index as 4 bytes, big endian.
std::string root_proof(std::string_view step_key, std::string_view challenge,
                       std::uint32_t node_index);
/// The same with "peer".
std::string peer_proof(std::string_view step_key, std::string_view challenge,
                       std::uint32_t node_index);

/// Takes as long for wrong proofs as for right ones.
bool same_proof(std::string_view a, std::string_view b);

/// A suffix that is the same on all nodes of the attempt and that nobody else can guess: 32 hex
/// digits.
std::string secret_suffix(std::string_view step_key, const AttemptKey& key);

}  // namespace artel::step
