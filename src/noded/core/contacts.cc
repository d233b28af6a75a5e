#include "noded/core/contacts.h"

#include <algorithm>
#include <utility>

namespace artel::noded {
namespace {

/// Probes are a second apart; one or two may be lost.
constexpr Duration kSilentAfter{std::chrono::seconds{5}};
/// For a new agent process to hear somebody: it may have been away for longer than the lease.
constexpr Duration kGrace{std::chrono::seconds{5}};

}  // namespace

Contacts::Contacts(std::vector<ProbePeer> peers, std::string boot_id,
                   const std::optional<KeptContacts>& kept, Duration up)
    : boot_id_(std::move(boot_id)), contact_(up) {
  watch(std::move(peers), up);
  if (kept) go_on(*kept, up);
}

void Contacts::go_on(const KeptContacts& kept, Duration up) {
  told_ = kept.told;
  if (kept.boot_id != boot_id_ || kept.contact > up) return;
  contact_ = kept.contact;
  for (auto& [node, seen] : seen_) seen.is_away = kept.away.contains(node);
  // Cut off before the agent went and back soon: T2 comes near, and there is nobody to hear.
  const bool was_cut_off = kept.alive - kept.contact >= kSilentAfter;
  if (!was_cut_off || up - kept.alive >= kLease) grace_until_ = up + kGrace;
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
  if (told_.erase(node) > 0) has_news_ = true;
}

void Contacts::peer_refused(const std::string& node, Duration sent, Duration up) {
  const auto peer = seen_.find(node);
  if (peer == seen_.end()) return;
  Seen& seen = peer->second;
  if (seen.is_away) contact_ = std::max(contact_, sent);
  seen = {.heard = up, .refused = true, .is_away = seen.is_away};
}

void Contacts::peer_left(const std::string& node, Duration sent, Duration up) {
  const auto peer = seen_.find(node);
  if (peer == seen_.end()) return;
  contact_ = std::max(contact_, sent);
  peer->second = {.heard = up, .is_away = true};
}

void Contacts::leave() {
  for (const ProbePeer& peer : peers_) told_.insert(peer.node);
}

KeptContacts Contacts::keep(Duration up) const {
  KeptContacts out{.boot_id = boot_id_, .contact = contact_, .alive = up, .told = told_};
  for (const auto& [node, seen] : seen_) {
    if (seen.is_away) out.away.insert(node);
  }
  return out;
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
  if (told_.contains(question.node)) {
    out.state = PeerState::kNotHeard;
  } else if (out.silent_for >= kSilentAfter) {
    out.state = PeerState::kSilent;
  } else {
    out.state = peer->second.refused ? PeerState::kNoAgent : PeerState::kAlive;
  }
  return out;
}

}  // namespace artel::noded
