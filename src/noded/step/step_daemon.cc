#include "noded/step/step_daemon.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "noded/step/auth.h"
#include "noded/step/causes.h"
#include "noded/step/gang_leaf.h"
#include "noded/step/gang_root.h"
#include "noded/step/log.h"

namespace artel::step {
namespace {

/// A daemon that was never told what to do waits as long for its agent to come back.
constexpr std::chrono::seconds kIdleTime{60};
/// Without a connection it looks as often whether its socket is still there: an agent whose state
/// was removed never comes back.
constexpr std::chrono::seconds kLookAround{5};
/// Far above what a node runs; keeps sums inside 32 bits.
constexpr std::uint32_t kMostRanksPerNode = 8192;
/// Output of the other nodes that the first one may have to keep while its file system hangs.
constexpr std::size_t kMostOutputKept = 64U << 20U;
constexpr std::size_t kSmallestWindow = 64U << 10U;
constexpr std::size_t kLargestWindow = 1U << 20U;

template <typename... Handlers>
struct Overload : Handlers... {
  using Handlers::operator()...;
};

Time now() { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); }

}  // namespace

StepDaemon::StepDaemon(boost::asio::io_context& loop, AttemptKey key, Fd listener, Machine machine)
    : loop_(loop),
      key_(key),
      machine_(machine),
      agent_(loop, std::move(listener),
             {.status = [this] { return status(); },
              .message = [this](const ToStep& message) { agent_message(message); },
              .contact = [this](bool connected) { agent_contact(connected); }}),
      signals_(loop, SIGCHLD, SIGTERM),
      idle_timer_(loop),
      limit_timer_(loop),
      settle_timer_(loop),
      preparation_(loop),
      pipes_(loop,
             [this](bool is_error, std::string bytes) {
               gang_->output({is_error, std::move(bytes)});
               if (gang_->untaken() > output_window()) pipes_.pause();
             }),
      terminator_(loop, [this] { unkillable(); }) {}

void StepDaemon::start_serving() {
  wait_for_signals();
  agent_.start();
  agent_contact(false);
}

// Agent -------------------------------------------------------------------------------------

StepStatus StepDaemon::status() const {
  return {.key = key_,
          .phase = phase_,
          .port = port_,
          .started = started_,
          .end = end_,
          .refused = refused_};
}

void StepDaemon::set_phase(NodePhase phase) {
  phase_ = phase;
  agent_.send(status());
}

void StepDaemon::agent_message(const ToStep& message) {
  std::visit(Overload{[this](const StepPrepare& body) { prepare(body); },
                      [this](const StepStart& body) { start(body); },
                      [this](const StepStop& body) { stop(body); },
                      [this](const StepForget&) { forget(); }},
             message);
}

void StepDaemon::agent_contact(bool connected) {
  idle_timer_.cancel();
  if (connected) return;
  alone_since_ = std::chrono::steady_clock::now();
  wait_alone();
}

void StepDaemon::wait_alone() {
  idle_timer_.expires_after(kLookAround);
  idle_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || agent_.connected()) return;
    const bool runs = phase_ >= NodePhase::kStarting && phase_ <= NodePhase::kEnding;
    const bool idle = !request_ && std::chrono::steady_clock::now() - alone_since_ >= kIdleTime;
    if (idle || (!runs && !agent_.reachable())) {
      log_line("the agent is gone for good");
      return loop_.stop();
    }
    wait_alone();
  });
}

void StepDaemon::prepare(const StepPrepare& message) {
  if (request_ || phase_ != NodePhase::kPreparing) {
    log_line("a second prepare is ignored");
    return agent_.send(status());
  }
  if (const auto why = objection(message)) {
    log_line(*why);
    return refuse({.actor = Actor::kLaunch, .code = CauseCode::kPrepareRefused, .text = *why});
  }
  request_ = message;
  const LaunchSpec& spec = request_->spec;
  set_log_name(fmt::format("{} {}", format_key(key_), spec.nodes.at(spec.node_index)));
  // The child is forked first: PMIx starts threads, and both take their time.
  Result<> begun = preparation_.start(
      *request_, [this](PreparationOutcome outcome) { prepared(std::move(outcome)); });
  if (begun && spec.launch == LaunchKind::kPmix) begun = start_pmix();
  if (!begun) refuse(launch_cause(spec, CauseCode::kPrepareRefused, begun.error().text));
}

std::optional<std::string> StepDaemon::objection(const StepPrepare& message) const {
  const LaunchSpec& spec = message.spec;
  if (spec.key != key_) {
    return fmt::format("this is the step daemon of attempt {}, not {}", format_key(key_),
                       format_key(spec.key));
  }
  if (spec.nodes.empty() || spec.node_index >= spec.nodes.size()) {
    return fmt::format("node {} of a gang of {} nodes", spec.node_index, spec.nodes.size());
  }
  if (spec.ranks_per_node == 0 || spec.ranks_per_node > kMostRanksPerNode) {
    return fmt::format("{} ranks per node; 1 to {} are possible", spec.ranks_per_node,
                       kMostRanksPerNode);
  }
  if (spec.launch == LaunchKind::kAuto) return "the launch kind is not resolved";
  if (spec.script.empty() && spec.argv.empty()) return "neither a script nor a program is given";
  if (spec.step_key.empty()) return "there is no step key";
  if (!message.directory.starts_with('/')) {
    return fmt::format("folder '{}' is not absolute", message.directory);
  }
  return std::nullopt;
}

void StepDaemon::prepared(PreparationOutcome outcome) {
  if (phase_ != NodePhase::kPreparing) return;
  const LaunchSpec& spec = request_->spec;
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    return refuse(launch_cause(spec, refusal->code, refusal->text));
  }
  prepared_ = std::move(std::get<Prepared>(outcome));
  if (Result<> made = make_gang(); !made) {
    return refuse(launch_cause(spec, CauseCode::kPrepareRefused, made.error().text));
  }
  set_phase(NodePhase::kReady);
}

Result<> StepDaemon::start_pmix() {
  Result<std::unique_ptr<PmixServer>> loaded = load_pmix_server(*this);
  if (!loaded) return artel::fail(loaded);
  pmix_ = std::move(*loaded);
  const LaunchSpec& spec = request_->spec;
  constexpr std::size_t kClusterPart = 64;  // the library's limit for the whole is 255
  PmixSetup setup{.nspace = fmt::format("artel.{}.{}.0.{}", spec.cluster.substr(0, kClusterPart),
                                        format_key(key_), secret_suffix(spec.step_key, key_)),
                  .job_id = fmt::format("{}.{}", key_.job.value, key_.task.value),
                  .nodes = spec.nodes,
                  .node_index = spec.node_index,
                  .ranks_per_node = spec.ranks_per_node,
                  .directory = request_->directory,
                  .uid = spec.owner.uid,
                  .gid = spec.owner.gid};
  return pmix_->start(setup);
}

Result<> StepDaemon::make_gang() {
  const LaunchSpec& spec = request_->spec;
  GangIdentity identity{.key = key_,
                        .step_key = spec.step_key,
                        .nodes = spec.nodes,
                        .node_index = spec.node_index,
                        .ranks_per_node = spec.ranks_per_node};
  GangEvents& events = *this;
  if (spec.node_index != 0) {
    gang_ = std::make_unique<GangLeaf>(loop_, std::move(identity), events);
    return {};
  }
  auto root = std::make_unique<GangRoot>(loop_, std::move(identity), events);
  const Result<std::uint16_t> port = root->listen();
  if (!port) return artel::fail(port);
  port_ = *port;
  gang_ = std::move(root);
  if (spec.nodes.size() > 1) {
    const int output = prepared_.output.get();
    const int error = prepared_.error.valid() ? prepared_.error.get() : output;
    writer_ = std::make_unique<OutputWriter>(
        loop_, output, error,
        [this](std::uint32_t from, std::size_t bytes) { output_written(from, bytes); });
  }
  return {};
}

void StepDaemon::start(const StepStart& message) {
  if (phase_ != NodePhase::kReady) {
    return log_line(fmt::format("a start is ignored: the step is {}", node_phase_name(phase_)));
  }
  const LaunchSpec& spec = request_->spec;
  if (message.peers.size() != spec.nodes.size()) {
    const std::string text = fmt::format("the start names {} nodes, the gang has {}",
                                         message.peers.size(), spec.nodes.size());
    return fail_here(launch_cause(spec, CauseCode::kPrepareRefused, text));
  }
  peers_ = message.peers;
  started_ = now();
  phase_ = NodePhase::kStarting;  // told with the next phase, which comes at once
  gang_->start(peers_);
  watch_limit();
  launch_ranks();
}

/// From the start on, since a rank may hang in a file system before it becomes its program.
void StepDaemon::watch_limit() {
  const LaunchSpec& spec = request_->spec;
  if (!spec.time_limit) return;
  limit_timer_.expires_after(*spec.time_limit);
  limit_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) fail(cause_of_time_limit(request_->spec), true, request_->spec.grace);
  });
}

void StepDaemon::launch_ranks() {
  const LaunchContext context{.request = *request_,
                              .prepared = prepared_,
                              .peers = peers_,
                              .machine = machine_,
                              .pmix = pmix_.get(),
                              .pipes = request_->spec.node_index == 0 ? nullptr : &pipes_};
  ranks_ = std::make_unique<RankSet>(
      loop_, context,
      RankSet::Events{.executed = [this] { executed(); },
                      .failed = [this](const Cause& cause) { fail_here(cause); }});
  ranks_->launch();
  if (local_ranks(request_->spec) == 0) reap_children();
}

void StepDaemon::executed() {
  if (phase_ != NodePhase::kStarting) return;
  set_phase(NodePhase::kRunning);
}

std::size_t StepDaemon::output_window() const {
  const std::size_t others = std::max<std::size_t>(request_->spec.nodes.size() - 1, 1);
  return std::clamp(kMostOutputKept / others, kSmallestWindow, kLargestWindow);
}

void StepDaemon::stop(const StepStop& message) {
  const Duration grace = message.immediately || !request_ ? Duration::zero() : request_->spec.grace;
  if (ending_ && message.immediately) terminator_.begin(Duration::zero());
  fail(message.cause, false, grace);
}

void StepDaemon::forget() {
  if (phase_ != NodePhase::kEnded) {
    return log_line(fmt::format("a forget is ignored: the step is {}", node_phase_name(phase_)));
  }
  loop_.stop();
}

}  // namespace artel::step
