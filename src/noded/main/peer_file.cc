#include "noded/main/peer_file.h"

#include <fmt/format.h>

#include <utility>

#include "noded/os/files.h"
#include "wire/agent_wire.h"

namespace artel::noded {
namespace {

constexpr std::size_t kMaxBytes = 1U << 20U;

std::filesystem::path file_of(const std::filesystem::path& state) { return state / "peers"; }

}  // namespace

Result<std::vector<ProbePeer>> load_peers(const std::filesystem::path& state) {
  const auto bytes = read_file(file_of(state), kMaxBytes);
  if (!bytes) {
    if (bytes.error().code == ErrorCode::kNotFound) return std::vector<ProbePeer>{};
    return fail(bytes);
  }
  v1::WatchPeers in;
  if (!in.ParseFromString(*bytes)) {
    return fail(ErrorCode::kProtocol,
                fmt::format("'{}' is no list of probe peers", file_of(state).string()));
  }
  auto out = wire::from_proto(in);
  if (!out) return fail(out);
  return std::move(out->peers);
}

Result<> save_peers(const std::filesystem::path& state, const std::vector<ProbePeer>& peers) {
  v1::WatchPeers out;
  wire::to_proto(WatchPeers{peers}, out);
  return replace_file(file_of(state), out.SerializeAsString(), true);
}

}  // namespace artel::noded
