// How the step daemon of one node takes part in its gang: collectives, abort, the common end,
// output.
//
// Two kinds behind one interface: GangRoot on the first node, GangLeaf on the others. Thread: the
// loop's; no event is raised from inside a call, except gang_aborted() by abort() of the root.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/step_protocol.h"

namespace artel::step {

/// What a gang tells its daemon.
class GangEvents {
 public:
  virtual ~GangEvents() = default;
  /// All nodes are done.
  virtual void gang_done() = 0;
  /// The root's word: this is the first cause of the gang's end.
  virtual void gang_aborted(const Cause& cause) = 0;
  /// The connection to the root is gone, or never came to be. Nothing more is heard from the gang.
  virtual void gang_lost(const Cause& cause) = 0;
  virtual void fence_complete(const FencePart& result) = 0;
  /// Another node wants the data of a local rank: answer with modex_reply().
  virtual void modex_wanted(const ModexRequest& request) = 0;
  virtual void modex_answered(const ModexReply& reply) = 0;
  /// Output of node `from`, on the first node: answer with output_taken() once it is written.
  virtual void output_came(std::uint32_t from, OutputLines lines) = 0;
  /// Output was taken, or a peer left: settled() and untaken() may have changed.
  virtual void gang_changed() = 0;
};

/// Who and where this daemon is.
struct GangIdentity {
  AttemptKey key;
  std::string step_key;
  std::vector<std::string> nodes;  // in gang order
  std::uint32_t node_index{};
  std::uint32_t ranks_per_node = 1;
};

class Gang {
 public:
  virtual ~Gang() = default;
  /// From now on the others are expected.
  virtual void start(const std::vector<StepPeer>& peers) = 0;
  virtual void fence(FencePart part) = 0;
  virtual void modex_request(ModexRequest request) = 0;
  virtual void modex_reply(ModexReply reply) = 0;
  virtual void output(OutputLines lines) = 0;
  /// Bytes of output() that are not in the files of the job yet; 0 on the first node.
  [[nodiscard]] virtual std::size_t untaken() const = 0;
  /// On the first node: `bytes` of the output of node `from` are in the files.
  virtual void output_taken(std::uint32_t from, std::size_t bytes) = 0;
  /// Local ranks have ended well, and all their output was handed over.
  virtual void local_done() = 0;
  /// This node must end, so all must. The first one counts.
  virtual void abort(const Cause& cause) = 0;
  /// After abort: local processes are gone, all output was handed over.
  virtual void local_gone() = 0;
  /// After local_gone(): nothing is left to be sent or received.
  [[nodiscard]] virtual bool settled() const = 0;
};

}  // namespace artel::step
