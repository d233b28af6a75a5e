// When what ran on a silent node counts as gone (S4): never for silence alone.
//
// Every node in service exchanges probes with a few others. A node that nobody heard for T2 has
// ended its attempts by itself (noded/core/contacts.h), if everybody whom it may hear says that it
// did not. So all of them are asked, and all must be in contact: if several vanish together, the
// network is parted, and nothing is concluded. Whom a node may hear is stored before it is told.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ctld/core/state.h"

namespace artel::ctld {
namespace {

constexpr std::size_t kPeersEachSide = 2;
constexpr Duration kAskAgain{std::chrono::seconds{5}};
/// A node that stays away for so long, with nothing of ours on it, watches others no more.
constexpr Duration kInRingFor{std::chrono::minutes{5}};

}  // namespace

void ControllerState::set_peers(NodeEntry& on, const std::vector<std::string>& names) {
  on.peers.clear();
  on.has_unknown_peers = false;
  on.ends_by_itself = !names.empty();
  for (const std::string& name : names) {
    const auto id = find_node(name);
    if (id) on.peers.insert(*id);
    on.has_unknown_peers = on.has_unknown_peers || !id;
  }
}

void ControllerState::deal_peers(Time now) {
  peers_due_.reset();
  std::set<NodeId> holding;
  for (const auto& [id, live] : jobs_) {
    if (!is_placed(live.job.state) || !live.attempt) continue;
    for (const NodePart& part : live.attempt->parts) {
      if (part.phase != NodePhase::kEnded) holding.insert(part.share.node);
    }
  }
  std::vector<const NodeEntry*> ring;
  for (const NodeEntry& on : nodes_) {
    const bool stays = on.node.contact == NodeContact::kUp || holding.contains(on.node.id) ||
                       now < on.node.contact_since + kInRingFor;
    if (stays && on.node.inventory.probe_port != 0) ring.push_back(&on);
  }
  const std::size_t size = ring.size();
  const std::size_t reach = std::min(kPeersEachSide, size / 2);
  for (std::size_t i = 0; i < size; ++i) {
    NodeEntry& on = entry(ring[i]->node.id);
    if (!on.session) continue;
    std::set<std::size_t> others;
    for (std::size_t k = 1; k <= reach; ++k) others.insert({(i + k) % size, (i + size - k) % size});
    others.erase(i);
    std::vector<ProbePeer> peers;
    for (const std::size_t other : others) {
      const Node& node = ring[other]->node;
      peers.push_back({node.config.name, node.config.address, node.inventory.probe_port, ""});
    }
    tell_peers(on, std::move(peers));
  }
}

// Stored before it is sent: until the node says that it has the new list, it may hear those of the
// old one as well.
void ControllerState::tell_peers(NodeEntry& on, std::vector<ProbePeer> peers) {
  if (on.told == peers) return;
  for (const ProbePeer& peer : peers) on.peers.insert(*find_node(peer.node));
  touch_node(on);
  on.told = peers;
  send(on.node.id, WatchPeers{std::move(peers)});
}

void ControllerState::peers_watched(NodeId node, const PeersWatched& message) {
  NodeEntry& on = entry(node);
  // Of a list before the last one: the last may be in force already.
  if (!std::ranges::equal(message.peers, on.told, {}, {}, &ProbePeer::node)) return;
  set_peers(on, message.peers);
  touch_node(on);
}

void ControllerState::run_inquiries(Time now) {
  for (auto& [node, at] : silent_) {
    if (at > now) continue;
    at = now + kAskAgain;
    inquire(entry(node), now);
  }
}

void ControllerState::inquire(NodeEntry& on, Time now) {
  on.inquiry.reset();
  const auto in_contact = [&](NodeId peer) { return entry(peer).session.has_value(); };
  // Who was sent peers and has not said that it has them may have none, and then goes on for ever.
  const bool all_answer = on.ends_by_itself && !on.peers.empty() && !on.has_unknown_peers &&
                          std::ranges::all_of(on.peers, in_contact);
  if (!all_answer || now < on.heard + config_.give_up_after) return;
  on.inquiry = Inquiry{.asked = now, .open = on.peers, .heard = on.heard};
  for (const NodeId peer : on.peers) send(peer, AskPeer{on.node.config.name, now});
}

void ControllerState::peer_seen(NodeId by, const PeerSeen& seen, Time now) {
  const auto id = find_node(seen.node);
  if (!id) return;
  NodeEntry& on = entry(*id);
  if (!on.inquiry || on.inquiry->asked != seen.asked || on.inquiry->open.erase(by) == 0) return;
  Inquiry& inquiry = *on.inquiry;
  // The answer was on its way for a while, so this is rather too late than too early.
  const Time heard = now - std::min(seen.silent_for, now - Time{});
  if (seen.state != PeerState::kSilent) {
    const bool was_heard = seen.state == PeerState::kAlive || seen.state == PeerState::kNoAgent;
    if (was_heard) on.heard = std::max(on.heard, heard);
    return on.inquiry.reset();
  }
  inquiry.heard = std::max(inquiry.heard, heard);
  if (!inquiry.open.empty()) return;
  on.heard = inquiry.heard;
  const Time asked = inquiry.asked;
  on.inquiry.reset();
  // What they say is true of the time when they were asked.
  if (asked < on.heard + config_.give_up_after) return;
  give_up_node(
      on,
      fmt::format("{} was silent for {} s, as all its {} probe peers say", on.node.config.name,
                  std::chrono::duration_cast<std::chrono::seconds>(now - on.heard).count(),
                  on.peers.size()),
      now);
}

void ControllerState::give_up_node(NodeEntry& on, const std::string& why, Time now) {
  const NodeId node = on.node.id;
  silent_.erase(node);
  on.inquiry.reset();
  event(now, "node-gone", JobId{}, on.node.config.name, why);
  tell_health(false, now);  // the core hears of the node before it hears of its jobs
  std::vector<JobId> there;
  for (const auto& [id, live] : jobs_) {
    if (!is_placed(live.job.state) || !live.attempt) continue;
    if (find_part(live.attempt->key, node).second != nullptr) there.push_back(id);
  }
  const Cause lost{.actor = Actor::kNode,
                   .code = CauseCode::kNodeLost,
                   .node = on.node.config.name,
                   .text = why};
  for (const JobId id : there) {
    LiveJob& live = jobs_.at(id);
    NodePart& part = *find_part(live.attempt->key, node).second;
    // A good end is only told when all ranks of the gang have ended well.
    const auto well = std::ranges::find_if(live.attempt->parts, [](const NodePart& other) {
      return other.end && other.end->cause.code == CauseCode::kExit &&
             other.end->cause.exit_code == 0;
    });
    NodeEnd end{.ended = now, .cause = lost, .is_origin = true};
    if (well != live.attempt->parts.end()) end = {.ended = now, .cause = well->end->cause};
    part_ended(live, part, std::move(end), now, true);
  }
}

}  // namespace artel::ctld
