#include "noded/step/fence_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "wire/step/frame.h"

namespace artel::step {
namespace {

/// Room for the rest of a message beside the blob.
constexpr std::size_t kMostBlob = wire::kMaxFrame - (1U << 20U);
/// As a PMIx status: out of resource. The library fails the collective at all ranks.
constexpr std::int32_t kTooLong = -29;

FencePart concatenated(std::map<std::uint32_t, FencePart>&& parts) {
  FencePart out = std::move(parts.begin()->second);
  for (auto it = std::next(parts.begin()); it != parts.end(); ++it) {
    FencePart& part = it->second;
    out.blob += part.blob;
    out.collect = out.collect || part.collect;
    if (out.status == 0) out.status = part.status;
  }
  if (out.blob.size() > kMostBlob) {
    out.blob.clear();
    out.status = kTooLong;
  }
  return out;
}

}  // namespace

Result<std::vector<std::uint32_t>> fence_nodes(std::string_view signature, std::uint32_t nodes,
                                               std::uint32_t ranks_per_node) {
  std::vector<std::uint32_t> out;
  if (signature == "*") {
    out.resize(nodes);
    std::iota(out.begin(), out.end(), 0U);
    return out;
  }
  const char* at = signature.data();
  const char* const end = at + signature.size();
  while (true) {
    std::uint32_t rank = 0;
    const auto [next, error] = std::from_chars(at, end, rank);
    const std::uint32_t node = rank / ranks_per_node;
    if (error != std::errc{} || node >= nodes || (!out.empty() && node < out.back())) {
      return fail(ErrorCode::kProtocol, fmt::format("'{}' names no ranks of the gang", signature));
    }
    if (out.empty() || node != out.back()) out.push_back(node);
    if (next == end) return out;
    if (*next != ',') {
      return fail(ErrorCode::kProtocol, fmt::format("'{}' names no ranks of the gang", signature));
    }
    at = next + 1;
  }
}

Result<std::optional<FenceTable::Complete>> FenceTable::add(std::uint32_t node, FencePart part) {
  auto key = std::make_pair(part.signature, part.sequence);
  auto it = open_.find(key);
  if (it == open_.end()) {
    Result<std::vector<std::uint32_t>> nodes = fence_nodes(part.signature, nodes_, ranks_per_node_);
    if (!nodes) return fail(nodes);
    it = open_.emplace(std::move(key), Open{std::move(*nodes), {}}).first;
  }
  Open& open = it->second;
  if (!std::binary_search(open.nodes.begin(), open.nodes.end(), node)) {
    return fail(ErrorCode::kProtocol,
                fmt::format("node {} takes no part in fence '{}'", node, part.signature));
  }
  if (!open.parts.emplace(node, std::move(part)).second) {
    return fail(ErrorCode::kProtocol,
                fmt::format("node {} sent its part of fence '{}' twice", node, it->first.first));
  }
  if (open.parts.size() < open.nodes.size()) return std::optional<Complete>();
  Complete complete{std::move(open.nodes), concatenated(std::move(open.parts))};
  open_.erase(it);
  return std::optional<Complete>(std::move(complete));
}

}  // namespace artel::step
