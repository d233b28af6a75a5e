// Who this node has heard lately: the controller and a few probe peers. From it follow what is told
// of a silent peer, and when this node must end its attempts by itself.
//
// A node that nobody heard for T2 is given up by the controller, so it must have stopped by then:
// after T1 without contact its attempts are ended (T1 + drift of clocks + time to kill < T2).
// Contact is proven by an answer to what this node sent, and counts from the sending: then whoever
// answered has heard the node at that time or later. Times are read from a clock that never jumps
// and counts sleep (CLOCK_BOOTTIME).
//
// The lease is the machine's, not the process's: a new agent process goes on with what the earlier
// one kept. A machine that refuses probes (no agent listens) proves no contact: a firewall may
// refuse on one way and drop on the other. But an agent that is told to end says goodbye to its
// peers. From then on its refusals renew their leases, until it is heard again; in return it calls
// no peer silent before that peer has answered it once, since only then the peer knows that it is
// back. So all agents and the controller can be stopped in any order and no job ends, if the
// controller is started first: who stopped before its peers did not hear their goodbye.
// Thread: none of its own.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/units.h"
#include "model/agent_protocol.h"

namespace artel::noded {

/// T1: without contact for so long, a node with probe peers ends its attempts.
inline constexpr Duration kLease{std::chrono::seconds{20}};

/// What outlives the agent process.
struct KeptContacts {
  std::string boot_id;              // times are since this boot
  Duration contact{};               // when the lease began last
  Duration alive{};                 // when this was written
  std::set<std::string> away = {};  // peers whose agents said goodbye; void after a reboot
  std::set<std::string> told = {};  // peers that may count on us being away; valid for ever

  bool operator==(const KeptContacts&) const = default;
};

class Contacts {
 public:
  /// `peers` and `kept`: as an earlier agent process kept them. Without `kept`, or where that is of
  /// another boot, the lease begins anew.
  Contacts(std::vector<ProbePeer> peers, std::string boot_id,
           const std::optional<KeptContacts>& kept, Duration up);

  void watch(std::vector<ProbePeer> peers, Duration up);
  [[nodiscard]] const std::vector<ProbePeer>& peers() const { return peers_; }
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool watches(const std::string& node) const { return seen_.contains(node); }

  /// The controller has heard what was sent to it at `sent`.
  void controller_answered(Duration sent);
  /// The peer has answered the probe that was sent at `sent`, its machine said that no agent
  /// listens there, or its agent said goodbye.
  void peer_answered(const std::string& node, Duration sent, Duration up);
  void peer_refused(const std::string& node, Duration sent, Duration up);
  void peer_left(const std::string& node, Duration sent, Duration up);
  /// A probe of the peer has come. False: it is none of ours and gets no answer.
  bool peer_probed(const std::string& node, Duration up);
  /// Our agent ends: what is kept after this must be on the disk before goodbye is said.
  void leave();
  [[nodiscard]] KeptContacts keep(Duration up) const;
  /// Something is to be kept although nothing runs here; false again after keep() was saved.
  [[nodiscard]] bool has_news() const { return has_news_; }
  void kept() { has_news_ = false; }

  [[nodiscard]] PeerSeen answer(const AskPeer& question, Duration up) const;
  /// The attempts must end.
  [[nodiscard]] bool lapsed(Duration up) const {
    return !peers_.empty() && up - contact_ >= kLease && up >= grace_until_;
  }

 private:
  struct Seen {
    Duration heard;  // or since we listen
    bool refused{};  // the last word was of its machine
    bool is_away{};  // it said goodbye
  };
  void go_on(const KeptContacts& kept, Duration up);

  std::vector<ProbePeer> peers_;
  std::map<std::string, Seen> seen_;
  std::string boot_id_;
  std::set<std::string> told_;
  bool has_news_ = false;
  Duration contact_;
  Duration grace_until_{};
};

}  // namespace artel::noded
