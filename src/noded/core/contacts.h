// Who this node has heard lately: the controller and a few probe peers. From it follow what is told
// of a silent peer, and when this node must end its attempts by itself.
//
// A node that nobody heard for T2 is given up by the controller, so it must have stopped by then:
// after T1 without contact its attempts are ended (T1 + drift of clocks + time to kill < T2).
// Contact is proven by an answer to what this node sent, and counts from the sending: then whoever
// answered has heard the node at that time or later. Times are read from a clock that never jumps
// and counts sleep (CLOCK_BOOTTIME). Thread: none of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "model/agent_protocol.h"

namespace artel::noded {

/// T1: without contact for so long, a node with probe peers ends its attempts.
inline constexpr Duration kLease{std::chrono::seconds{20}};

class Contacts {
 public:
  /// `peers`: as an earlier agent process kept them. The lease begins anew.
  Contacts(std::vector<ProbePeer> peers, Duration up);

  void watch(std::vector<ProbePeer> peers, Duration up);
  [[nodiscard]] const std::vector<ProbePeer>& peers() const { return peers_; }
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool watches(const std::string& node) const { return seen_.contains(node); }

  /// The controller has heard what was sent to it at `sent`.
  void controller_answered(Duration sent);
  /// The peer has answered the probe that was sent at `sent`, or its machine said that no agent
  /// listens there.
  void peer_answered(const std::string& node, Duration sent, Duration up);
  void peer_refused(const std::string& node, Duration sent, Duration up);
  /// A probe of the peer has come. False: it is none of ours and gets no answer.
  bool peer_probed(const std::string& node, Duration up);

  [[nodiscard]] PeerSeen answer(const AskPeer& question, Duration up) const;
  /// The attempts must end.
  [[nodiscard]] bool lapsed(Duration up) const {
    return !peers_.empty() && up - contact_ >= kLease;
  }

 private:
  struct Seen {
    Duration heard;  // or since we listen
    bool refused{};  // the last word was of its machine
  };

  std::vector<ProbePeer> peers_;
  std::map<std::string, Seen> seen_;
  Duration contact_;
};

}  // namespace artel::noded
