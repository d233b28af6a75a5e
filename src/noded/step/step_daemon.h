// One attempt on one node, from its preparation to the report of its end.
//
// Invariants: I1 no process of the user before StepStart. I2 the first cause counts; what the root
// of the gang says is the first. I3 the end is reported only when no process of the attempt is left
// (or after 60 s of KILL, saying so). I4 silence of the agent ends nothing once a prepare was
// received. Thread: the loop's; events of the PMIx library are posted to it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "model/step_protocol.h"
#include "noded/step/agent_link.h"
#include "noded/step/gang.h"
#include "noded/step/output_writer.h"
#include "noded/step/pmix_server.h"
#include "noded/step/preparation.h"
#include "noded/step/process_tree.h"
#include "noded/step/rank_pipes.h"
#include "noded/step/rank_set.h"
#include "noded/step/terminator.h"

namespace artel::step {

class StepDaemon : private GangEvents, private PmixEvents {
 public:
  StepDaemon(boost::asio::io_context& loop, AttemptKey key, Fd listener, Machine machine);

  /// Serves the agent until it is told to forget; then stops the loop.
  void start_serving();
  /// After the loop: takes down what needs an orderly end.
  void close();

 private:
  /// Why it ends, as this node saw it first.
  struct Ending {
    Cause cause;
    bool here{};  // it happened on this node
    Duration grace{};
    std::chrono::steady_clock::time_point since;
  };

  // Agent.
  [[nodiscard]] StepStatus status() const;
  void set_phase(NodePhase phase);
  void agent_message(const ToStep& message);
  void agent_contact(bool connected);
  void wait_alone();
  void prepare(const StepPrepare& message);
  void prepared(PreparationOutcome outcome);
  void start(const StepStart& message);
  void stop(const StepStop& message);
  void forget();

  // Launch.
  [[nodiscard]] std::optional<std::string> objection(const StepPrepare& message) const;
  Result<> start_pmix();
  Result<> make_gang();
  void watch_limit();
  void launch_ranks();
  void executed();
  /// Bytes of output that may be on their way to the files; above it the ranks wait.
  [[nodiscard]] std::size_t output_window() const;

  // Processes.
  void wait_for_signals();
  void reap_children();
  void ranks_ended_well(bool others_left);
  void unkillable();

  // End.
  void refuse(const Cause& cause);
  void fail(const Cause& cause, bool here, Duration grace);
  void fail_here(const Cause& cause);
  void all_gone();
  void settle();
  void report_end(const Cause& cause, bool is_origin);

  // GangEvents.
  void gang_done() override;
  void gang_aborted(const Cause& cause) override;
  void gang_lost(const Cause& cause) override;
  void fence_complete(const FencePart& result) override;
  void modex_wanted(const ModexRequest& request) override;
  void modex_answered(const ModexReply& reply) override;
  void output_came(std::uint32_t from, OutputLines lines) override;
  void gang_changed() override;
  void output_written(std::uint32_t from, std::size_t bytes);

  // PmixEvents, on the library's thread.
  void pmix_fence(FencePart part) override;
  void pmix_modex(std::uint64_t request, std::uint32_t rank) override;
  void pmix_served(std::uint64_t token, std::int32_t status, std::string blob) override;
  void pmix_abort(std::uint64_t token, std::uint32_t rank, std::int32_t status,
                  std::string message) override;
  void watch_modex(std::uint64_t request);

  boost::asio::io_context& loop_;
  const AttemptKey key_;
  const Machine machine_;
  AgentLink agent_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer idle_timer_;
  std::chrono::steady_clock::time_point alone_since_;  // without an agent
  boost::asio::steady_timer limit_timer_;
  boost::asio::steady_timer settle_timer_;

  NodePhase phase_ = NodePhase::kPreparing;
  std::uint16_t port_ = 0;
  bool refused_ = false;
  std::optional<Time> started_;
  std::optional<NodeEnd> end_;

  std::optional<StepPrepare> request_;
  Preparation preparation_;
  Prepared prepared_;
  std::vector<StepPeer> peers_;
  std::unique_ptr<PmixServer> pmix_;
  std::unique_ptr<Gang> gang_;
  std::unique_ptr<OutputWriter> writer_;  // first node of several
  RankPipes pipes_;                       // other nodes
  std::unique_ptr<RankSet> ranks_;
  Terminator terminator_;

  std::optional<Ending> ending_;
  std::optional<Cause> gang_cause_;
  bool local_done_ = false;  // told to the gang
  bool gang_done_ = false;
  bool gone_ = false;
  bool settle_late_ = false;
  std::string unkillable_;
  std::uint64_t cpu_ms_ = 0;
  Bytes max_rss_;

  std::vector<ModexRequest> served_;  // by token
  std::vector<std::uint64_t> asked_;  // open requests of local ranks
};

}  // namespace artel::step
