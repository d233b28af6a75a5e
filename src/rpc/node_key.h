// Node keys: the secret that a node and the controller share, and the proofs made with it.
//
// Each side proves that it knows the key by an HMAC over the other side's fresh challenge (order
// and labels: agent.proto), so the key never travels and an old proof is worth nothing. Labels
// differ by side, so a proof cannot be sent back to its maker. Thread: all functions may be called
// from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace artel::rpc {

inline constexpr std::size_t kKeyBytes = 32;
inline constexpr std::size_t kChallengeBytes = 32;

/// The secret of one node. Wiped when it goes.
class NodeKey {
 public:
  explicit NodeKey(const std::array<unsigned char, kKeyBytes>& bytes) : bytes_(bytes) {}
  NodeKey(const NodeKey&) = default;
  NodeKey& operator=(const NodeKey&) = default;
  ~NodeKey();

  [[nodiscard]] const unsigned char* data() const { return bytes_.data(); }

 private:
  std::array<unsigned char, kKeyBytes> bytes_;
};

/// Reads a file of 64 hexadecimal digits and an optional newline. Error: kNotFound where it is
/// missing, kConfig where it is not such a file, is readable by group or others, or belongs to
/// another account than root and the caller; kIo.
Result<NodeKey> read_key_file(const std::filesystem::path& path);

/// Writes a new random key, durably, with mode 0600; the file is there whole or not at all. Error:
/// kWrongState where the file exists (it is left alone), kIo.
Result<> generate_key_file(const std::filesystem::path& path);

/// kChallengeBytes random bytes.
std::string random_challenge();
/// `count` random bytes fit for secrets.
std::string random_bytes(std::size_t count);

/// HMAC-SHA-256(key, "controller" || agent's challenge || node).
std::string controller_proof(const NodeKey& key, std::string_view agent_challenge,
                             std::string_view node);
/// HMAC-SHA-256(key, "agent" || controller's challenge || node).
std::string agent_proof(const NodeKey& key, std::string_view controller_challenge,
                        std::string_view node);

/// HMAC-SHA-256(secret, "probe" || the two names in order): the same for both. `secret` has
/// kKeyBytes bytes.
std::string pair_key(std::string_view secret, std::string_view one, std::string_view other);
/// HMAC-SHA-256(key, bytes); `key` as of pair_key().
std::string seal(std::string_view key, std::string_view bytes);

/// Compares in a time that does not depend on where two proofs differ.
bool same_proof(std::string_view expected, std::string_view given);

}  // namespace artel::rpc
