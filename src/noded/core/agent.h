// The agent's state machine: what a node holds of attempts, between the controller and the step
// daemons. No I/O, no clock.
//
// Commands are idempotent; an attempt older than one that is known of the same task is refused.
// Ends are kept and re-sent at each connect until the controller forgets them. Silence of the
// controller alone never ends anything; where the node has probe peers, silence of all does (see
// contacts.h). Thread: none of its own; the owner calls it from one strand.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "model/agent_protocol.h"
#include "model/step_protocol.h"
#include "noded/core/contacts.h"
#include "noded/core/effects.h"

namespace artel::noded {

struct AgentConfig {
  std::string node;
  Inventory inventory;
  std::vector<ProbePeer> peers = {};      // as kept by an earlier agent process
  std::optional<KeptContacts> kept = {};  // the same
  Duration up{};                          // time since boot, sleep included
};

class Agent {
 public:
  /// `records`: what an earlier agent process saved since the node booted. Their step daemons are
  /// adopted (see take_effects()).
  Agent(AgentConfig config, std::vector<AttemptRecord> records, Time now);

  /// All adoptions have had their first status or are lost. Connect to the controller only then:
  /// the Hello is the full state.
  [[nodiscard]] bool settled() const;

  // Controller.
  /// The full state for a new connection; from now on controller_sends are for this connection.
  AgentHello connected();
  void disconnected();
  void controller_message(const ToAgent& message, Time now, Duration up);

  // Contact, see contacts.h; `up` is the time since boot.
  [[nodiscard]] const std::vector<ProbePeer>& peers() const { return contacts_.peers(); }
  void controller_answered(Duration sent) { contacts_.controller_answered(sent); }
  void peer_answered(const std::string& node, Duration sent, Duration up) {
    contacts_.peer_answered(node, sent, up);
  }
  void peer_refused(const std::string& node, Duration sent, Duration up) {
    contacts_.peer_refused(node, sent, up);
  }
  void peer_left(const std::string& node, Duration sent, Duration up) {
    contacts_.peer_left(node, sent, up);
  }
  /// False: not a probe peer, so it gets no answer.
  bool peer_probed(const std::string& node, Duration up) { return contacts_.peer_probed(node, up); }
  /// At least once a second.
  void tick(Duration up);
  /// The agent was told to end. Once the result is on the disk, goodbye may be said to the peers.
  KeptContacts leave(Duration up);

  // Step daemons.
  void step_status(const FromStep& status, Time now);
  /// The step daemon could not be started or adopted, or its socket closed before StepForget.
  void step_lost(const AttemptKey& key, const std::string& why, Time now);
  /// No process of the attempt is left.
  void swept(const AttemptKey& key, Time now);

  Effects take_effects();

  /// Names the first broken invariant, or nullopt. For simulation and tests.
  [[nodiscard]] std::optional<std::string> check() const;

 private:
  struct Held {
    AttemptRecord record;
    std::uint16_t port{};
    std::optional<Time> started;
    bool adopting{};                    // no status since this agent process started
    std::optional<Cause> sweeping_for;  // the step daemon is gone; the end is reported once swept
  };

  void prepare(const LaunchSpec& spec, Time now);
  void start(const StartAttempt& message, Time now);
  void end(const EndAttempt& message, Time now);
  void forget(const AttemptKey& key);
  void watch(const WatchPeers& message, Duration up);
  [[nodiscard]] bool holds_any() const;
  [[nodiscard]] std::optional<std::string> refusal(const AttemptKey& key) const;
  void finish(Held& held, NodeEnd end, bool refused);
  void report(const Held& held);
  void save(const Held& held, bool sync);
  void send(FromAgent message);

  AgentConfig config_;
  std::map<AttemptKey, Held> held_;
  Contacts contacts_;
  bool connected_ = false;
  Effects effects_;
};

}  // namespace artel::noded
