// The conversation between agent and spawn server: one packet a message on a local socket pair.
//
// Private to spawner.cc and spawn_server.cc. Both ends are of one build, so the form may change
// at will. Thread: all functions may be called from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace artel::noded {

struct SpawnPacket {
  std::uint32_t id{};
  std::string argument;                  // of the step daemon
  std::vector<std::string> environment;  // "NAME=value"
};

/// Longest encoded SpawnPacket.
inline constexpr std::size_t kMaxSpawnPacket = 32U << 10U;

std::string encode_spawn(const SpawnPacket& packet);
std::optional<SpawnPacket> decode_spawn(std::string_view bytes);

enum class SpawnEvent : std::uint32_t {
  kSpawned,  // `id` runs as `pid`
  kFailed,   // `id` could not be started: `detail` is errno
  kExited,   // `pid` ended: `detail` is its wait status
};

struct SpawnReply {
  SpawnEvent event = SpawnEvent::kFailed;
  std::uint32_t id{};
  std::int32_t pid{};
  std::int32_t detail{};
};

}  // namespace artel::noded
