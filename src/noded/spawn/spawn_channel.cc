#include "noded/spawn/spawn_channel.h"

#include <cstring>

namespace artel::noded {
namespace {

void put_number(std::string& out, std::uint32_t number) {
  std::array<char, sizeof number> bytes{};
  std::memcpy(bytes.data(), &number, sizeof number);
  out.append(bytes.data(), bytes.size());
}

std::optional<std::uint32_t> take_number(std::string_view& in) {
  std::uint32_t number{};
  if (in.size() < sizeof number) return std::nullopt;
  std::memcpy(&number, in.data(), sizeof number);
  in.remove_prefix(sizeof number);
  return number;
}

void put_list(std::string& out, const std::vector<std::string>& list) {
  put_number(out, static_cast<std::uint32_t>(list.size()));
  for (const std::string& text : list) out.append(text).push_back('\0');
}

std::optional<std::vector<std::string>> take_list(std::string_view& in) {
  const auto count = take_number(in);
  if (!count) return std::nullopt;
  std::vector<std::string> list;
  for (std::uint32_t i = 0; i < *count; ++i) {
    const auto end = in.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    list.emplace_back(in.substr(0, end));
    in.remove_prefix(end + 1);
  }
  return list;
}

}  // namespace

std::string encode_spawn(const SpawnPacket& packet) {
  std::string out;
  put_number(out, packet.id);
  put_list(out, {packet.argument});
  put_list(out, packet.environment);
  return out;
}

std::optional<SpawnPacket> decode_spawn(std::string_view bytes) {
  const auto id = take_number(bytes);
  if (!id) return std::nullopt;
  auto argument = take_list(bytes);
  if (!argument || argument->size() != 1) return std::nullopt;
  auto environment = take_list(bytes);
  if (!environment || !bytes.empty()) return std::nullopt;
  return SpawnPacket{*id, std::move(argument->front()), std::move(*environment)};
}

}  // namespace artel::noded
