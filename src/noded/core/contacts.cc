#include "noded/core/contacts.h"

#include <algorithm>
#include <utility>

namespace artel::noded {
namespace {

/// Probes are a second apart; one or two may be lost.
constexpr Duration kSilentAfter{std::chrono::seconds{5}};

}  // namespace

Contacts::Contacts(std::vector<ProbePeer> peers, Duration up) : contact_(up) {
  watch(std::move(peers), up);
}

void Contacts::watch(std::vector<ProbePeer> peers, Duration up) {
  std::map<std::string, Seen> seen;
  for (const ProbePeer& peer : peers) {
    const auto known = seen_.find(peer.node);
    seen.emplace(peer.node, known == seen_.end() ? Seen{.heard = up} : known->second);
  }
  seen_ = std::move(seen);
  peers_ = std::move(peers);
}

std::vector<std::string> Contacts::names() const {
  std::vector<std::string> out;
  out.reserve(peers_.size());
  for (const ProbePeer& peer : peers_) out.push_back(peer.node);
  return out;
}

void Contacts::controller_answered(Duration sent) { contact_ = std::max(contact_, sent); }

void Contacts::peer_answered(const std::string& node, Duration sent, Duration up) {
  const auto peer = seen_.find(node);
  if (peer == seen_.end()) return;
  contact_ = std::max(contact_, sent);
  peer->second = {.heard = up};
}

// That machine's agent cannot have heard us, but when it listens again it says that it has only
// just begun to.
void Contacts::peer_refused(const std::string& node, Duration sent, Duration up) {
  const auto peer = seen_.find(node);
  if (peer == seen_.end()) return;
  contact_ = std::max(contact_, sent);
  peer->second = {.heard = up, .refused = true};
}

bool Contacts::peer_probed(const std::string& node, Duration up) {
  const auto peer = seen_.find(node);
  if (peer == seen_.end()) return false;
  peer->second = {.heard = up};
  return true;
}

PeerSeen Contacts::answer(const AskPeer& question, Duration up) const {
  PeerSeen out{.node = question.node, .asked = question.asked};
  const auto peer = seen_.find(question.node);
  if (peer == seen_.end()) return out;
  out.silent_for = up - peer->second.heard;
  if (out.silent_for >= kSilentAfter) {
    out.state = PeerState::kSilent;
  } else {
    out.state = peer->second.refused ? PeerState::kNoAgent : PeerState::kAlive;
  }
  return out;
}

}  // namespace artel::noded
