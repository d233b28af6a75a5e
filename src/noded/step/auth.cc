#include "noded/step/auth.h"

#include <fmt/format.h>
#include <sodium.h>
#include <sys/random.h>

#include <cerrno>
#include <initializer_list>

#include "base/assert.h"

namespace artel::step {
namespace {

std::string hmac(std::string_view key, std::initializer_list<std::string_view> parts) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
  };
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, bytes(key), key.size());
  for (const std::string_view part : parts) {
    crypto_auth_hmacsha256_update(&state, bytes(part), part.size());
  }
  std::string out(crypto_auth_hmacsha256_BYTES, '\0');
  crypto_auth_hmacsha256_final(&state, reinterpret_cast<unsigned char*>(out.data()));
  return out;
}

std::string proof(std::string_view side, std::string_view step_key, std::string_view challenge,
                  std::uint32_t node_index) {
  std::string index;
  for (unsigned shift = 32; shift != 0; shift -= 8) {
    index += static_cast<char>((node_index >> (shift - 8U)) & 0xffU);
  }
  return hmac(step_key, {side, challenge, index});
}

}  // namespace

std::string make_challenge() {
  std::string out(kChallengeSize, '\0');
  ssize_t size = 0;
  do {
    size = ::getrandom(out.data(), out.size(), 0);
  } while (size < 0 && errno == EINTR);
  ARTEL_ASSERT(size == static_cast<ssize_t>(kChallengeSize));
  return out;
}

std::string root_proof(std::string_view step_key, std::string_view challenge,
                       std::uint32_t node_index) {
  return proof("root", step_key, challenge, node_index);
}

std::string peer_proof(std::string_view step_key, std::string_view challenge,
                       std::uint32_t node_index) {
  return proof("peer", step_key, challenge, node_index);
}

bool same_proof(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string secret_suffix(std::string_view step_key, const AttemptKey& key) {
  const std::string full = hmac(step_key, {"nspace", format_key(key)});
  std::string out;
  for (const char byte : full.substr(0, full.size() / 2)) {
    out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return out;
}

}  // namespace artel::step
