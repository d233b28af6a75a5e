#include "sim/world.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/text.h"
#include "sim/controller_host.h"
#include "sim/fake_node.h"
#include "sim/site.h"

namespace artel::sim {
namespace {

/// An agent's connection. Messages of one direction keep their order; a cut loses what is under
/// way.
struct Link {
  bool up = false;
  bool cut = false;    // the network does not let a new one through
  bool lacks = false;  // a GPU is missing
  SessionId session;
  Time to_controller;  // arrival of the last message sent
  Time to_agent;
};

/// A submission that its client repeats until it is acknowledged.
struct Order {
  JobSpec spec;
  std::optional<JobId> acknowledged;
};

/// The gangs' own wire between step daemons, as far as ends are concerned.
struct Gang {
  std::set<std::string> done;
  std::set<std::string> recorded;  // nodes with a good end on their disk
  bool aborted = false;
};

class World {
 public:
  explicit World(const WorldOptions& options)
      : options_(options),
        random_(options.seed),
        controller_(config(), events_, random_,
                    {.send = [this](const ctld::AgentSend& send) { to_agent(send); },
                     .reply = [this](const ctld::Reply& reply) { answered(reply); },
                     .broken = [this](const std::string& what) { truth_.report(what); }}) {
    controller_.answer_before_commit = options.mutation == Mutation::kAnswerBeforeCommit;
    for (const NodeConfig& node : config().nodes) add_node(node);
  }

  WorldResult run() {
    controller_.start();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i]->start_agent();
      connect_later(i);
    }
    for (std::uint32_t i = 0; i < options_.jobs; ++i) plan_order(i);
    plan_troubles();
    const Time quiet_from = events_.now() + options_.trouble_for;
    run_until(quiet_from);
    trouble_over_ = true;
    end_trouble();
    const Time end = quiet_from + options_.quiet_for;
    while (!truth_.broken() && !all_final() && events_.now() < end) {
      if (!step(end)) break;
    }
    check_end();
    return result();
  }

 private:
  ctld::ControllerConfig config() const { return world_site(options_.nodes); }

  void add_node(const NodeConfig& node) {
    const std::size_t index = nodes_.size();
    NodeHooks hooks{
        .to_controller = [this, index](const FromAgent& m) { to_controller(index, m); },
        .agent_crashed = [this, index] { drop_link(index); },
        .local_done = [this, index](const LaunchSpec& spec) { local_done(index, spec); },
        .recorded_well = [this, index](const LaunchSpec& spec) { recorded_well(index, spec); },
        .abort = [this, index](const AttemptKey& key, const Cause& c) { abort(index, key, c); }};
    nodes_.push_back(std::make_unique<FakeNode>(node, events_, random_, truth_, std::move(hooks)));
    links_.emplace_back();
  }

  bool step(Time end) {
    if (!events_.step(end)) return false;
    ++steps_;
    mix(static_cast<std::uint64_t>(to_ms(events_.now())));
    for (const auto& node : nodes_) {
      if (node->agent() == nullptr) continue;
      if (const auto broken = node->agent()->check()) truth_.report(*broken);
    }
    return true;
  }

  void run_until(Time end) {
    while (!truth_.broken() && step(end)) {
    }
  }

  void mix(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x100000001b3; }

  // Network
  // --------------------------------------------------------------------------------

  void connect_later(std::size_t i) {
    events_.after(random_.delay(50, 2000), [this, i] { connect(i); });
  }

  void connect(std::size_t i) {
    Link& link = links_[i];
    noded::Agent* agent = nodes_[i]->agent();
    if (link.up || agent == nullptr) return;
    if (link.cut || !controller_.up() || !agent->settled()) return connect_later(i);
    link = Link{.up = true, .session = SessionId{++last_session_}};
    AgentHello hello = agent->connected();
    if (options_.mutation == Mutation::kForgetResend) {
      std::erase_if(hello.attempts, [](const HeldAttempt& held) { return held.end.has_value(); });
    }
    // Sometimes a GPU is missing after a restart, which drains the node until it is back.
    link.lacks = !trouble_over_ && random_.chance(50);
    if (link.lacks) hello.inventory.resources.gpus -= 1;
    deliver_to_controller(i, [this, i, hello, session = link.session] {
      controller_.step([&](ctld::Controller& core, Time now) {
        if (const auto ok = core.agent_connected(session, hello, now); !ok)
          truth_.report(ok.error().text);
      });
      if (!controller_.up()) drop_link(i);
    });
  }

  void deliver_to_controller(std::size_t i, std::function<void()> action) {
    Link& link = links_[i];
    link.to_controller = std::max(link.to_controller, events_.now() + random_.delay(0, 5));
    events_.after(link.to_controller - events_.now(),
                  [this, i, session = link.session, action = std::move(action)] {
                    if (links_[i].up && links_[i].session == session) action();
                  });
  }

  void to_controller(std::size_t i, const FromAgent& message) {
    if (!links_[i].up) return;
    if (options_.mutation == Mutation::kStartWhenFirstReady) {
      if (const auto* ready = std::get_if<AttemptReady>(&message)) {
        to_agent({NodeId{static_cast<std::uint32_t>(i)}, links_[i].session,
                  StartAttempt{ready->key, {}}});
      }
    }
    deliver_to_controller(i, [this, message, session = links_[i].session] {
      mix(message.index());
      controller_.step(
          [&](ctld::Controller& core, Time now) { core.agent_message(session, message, now); });
    });
  }

  void to_agent(const ctld::AgentSend& send) {
    const std::size_t i = send.node.value;
    Link& link = links_[i];
    if (!link.up || link.session != send.session) return;
    if (options_.mutation == Mutation::kDropStrays &&
        std::holds_alternative<EndAttempt>(send.message) &&
        std::get<EndAttempt>(send.message).cause.actor == Actor::kSystem) {
      return;
    }
    link.to_agent = std::max(link.to_agent, events_.now() + random_.delay(0, 5));
    events_.after(link.to_agent - events_.now(), [this, i, send] {
      noded::Agent* agent = nodes_[i]->agent();
      if (!links_[i].up || links_[i].session != send.session || agent == nullptr) return;
      mix(send.message.index());
      agent->controller_message(send.message, events_.now());
      nodes_[i]->run_effects();
    });
  }

  // Both sides learn of it, each in its own time.
  void drop_link(std::size_t i) {
    Link& link = links_[i];
    if (!link.up) return connect_later(i);
    link.up = false;
    if (noded::Agent* agent = nodes_[i]->agent()) {
      agent->disconnected();
      nodes_[i]->run_effects();
    }
    events_.after(random_.delay(0, 20'000), [this, session = link.session] {
      controller_.step([&](ctld::Controller& core, Time now) { core.agent_lost(session, now); });
    });
    connect_later(i);
  }

  // Gangs
  // --------------------------------------------------------------------------------

  void local_done(std::size_t i, const LaunchSpec& spec) {
    Gang& gang = gangs_[spec.key];
    gang.done.insert(nodes_[i]->name());
    if (gang.aborted || gang.done.size() < spec.nodes.size()) return;
    const Cause well{.actor = Actor::kApplication, .code = CauseCode::kExit};
    for (const auto& node : nodes_) node->gang_ends(spec.key, well, false);
  }

  void recorded_well(std::size_t i, const LaunchSpec& spec) {
    Gang& gang = gangs_[spec.key];
    gang.recorded.insert(nodes_[i]->name());
    if (gang.recorded.size() == spec.nodes.size()) truth_.finished(spec.key.job);
  }

  void abort(std::size_t origin, const AttemptKey& key, const Cause& cause) {
    if (std::exchange(gangs_[key].aborted, true)) return;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      events_.after(random_.delay(0, 100), [this, i, key, cause, is_origin = i == origin] {
        nodes_[i]->gang_ends(key, cause, is_origin);
      });
    }
  }

  // Clients
  // --------------------------------------------------------------------------------

  void plan_order(std::uint32_t index) {
    JobSpec spec{.name = fmt::format("job{}", index),
                 .owner = {.uid = 1000, .gid = 1000, .user = "u1"}};
    ComponentSpec part;
    part.nodes = static_cast<std::uint32_t>(random_.between(1, options_.nodes));
    if (random_.chance(300)) {
      part.per_node = {.whole_node = false, .gpus = GpuMilli{random_.between(1, 8) * 1000}};
    }
    spec.components.push_back(part);
    spec.priority = -static_cast<std::int32_t>(random_.between(0, 3));
    spec.argv = {"run", std::to_string(random_.between(10, 20'000)),
                 random_.chance(150) ? "3" : "0"};
    if (random_.chance(500)) spec.time_limit = random_.delay(5'000, 60'000);
    spec.grace = std::chrono::seconds{5};
    spec.working_directory = "/";
    spec.output = "out";
    spec.client_token = fmt::format("token-{}", index);
    choose_line(spec, random_);
    orders_.push_back({.spec = std::move(spec), .acknowledged = std::nullopt});
    const auto most = static_cast<std::uint64_t>(options_.trouble_for.count()) * 8 / 10;
    events_.after(random_.delay(0, most), [this, index] { submit(index); });
    if (random_.chance(200)) {
      events_.after(random_.delay(most / 10, most), [this, index] { cancel(index); });
    }
  }

  void submit(std::size_t index) {
    const Order& order = orders_[index];
    // Some clients lose the first answer and ask again although they were heard.
    if (order.acknowledged && !random_.chance(100)) return;
    const RequestId request{++last_request_};
    requests_[request] = index;
    JobSpec spec = order.spec;
    if (options_.mutation == Mutation::kIgnoreTokens)
      spec.client_token += std::to_string(request.value);
    controller_.step([&](ctld::Controller& core, Time now) {
      core.submit(request, {.owner = spec.owner}, {spec}, now);
    });
    events_.after(random_.delay(500, 5000), [this, index] { submit(index); });
    // The moment around an answer is the one that durability is about.
    if (!trouble_over_ && random_.chance(20)) {
      events_.after(random_.delay(0, 10), [this] { crash_controller(); });
    }
  }

  void cancel(std::size_t index) {
    const auto job = orders_[index].acknowledged;
    if (!job) return;
    controller_.step([&](ctld::Controller& core, Time now) {
      core.cancel(RequestId{++last_request_}, {.owner = orders_[index].spec.owner}, {*job}, "",
                  now);
    });
  }

  void answered(const ctld::Reply& reply) {
    const auto it = requests_.find(reply.request);
    if (it == requests_.end()) return;
    if (!reply.body)
      return truth_.report("a good submission was refused: " + reply.body.error().text);
    const auto* submitted = std::get_if<ctld::Submitted>(&*reply.body);
    if (submitted == nullptr) return;
    const JobId id = submitted->jobs.at(0);
    Order& order = orders_[it->second];
    if (order.acknowledged && *order.acknowledged != id) {
      truth_.report(fmt::format("S1: a repeated submission got jobs {} and {}",
                                order.acknowledged->value, id.value));
    }
    const auto [owner, is_new] = owners_.emplace(id, it->second);
    if (!is_new && owner->second != it->second) {
      truth_.report(fmt::format("S1: id {} was given to two submissions", id.value));
    }
    order.acknowledged = id;
    mix(id.value);
  }

  // Trouble
  // --------------------------------------------------------------------------------

  void repeat(Duration mean, std::function<void()> action) {
    if (mean == Duration::zero()) return;
    const auto ms = static_cast<std::uint64_t>(mean.count());
    events_.after(random_.delay(ms / 4, ms * 7 / 4), [this, mean, action = std::move(action)] {
      if (trouble_over_) return;
      action();
      repeat(mean, action);
    });
  }

  void crash_controller() {
    if (trouble_over_ || !controller_.up()) return;
    controller_.crash();
    for (std::size_t i = 0; i < nodes_.size(); ++i) drop_link(i);
    events_.after(random_.delay(100, 10'000), [this] { controller_.start(); });
  }

  std::size_t any_node() { return random_.between(0, nodes_.size() - 1); }

  void plan_troubles() {
    const Trouble& trouble = options_.trouble;
    repeat(trouble.controller_crash, [this] { crash_controller(); });
    repeat(trouble.agent_crash,
           [this] { restart_agent(any_node(), [](FakeNode& n) { n.crash_agent(); }); });
    repeat(trouble.node_reboot,
           [this] { restart_agent(any_node(), [](FakeNode& n) { n.reboot(); }); });
    repeat(trouble.link_cut, [this] {
      const std::size_t i = any_node();
      drop_link(i);
      links_[i].cut = true;
      // Most cuts are short; some last until the controller gives up on the node.
      const std::uint64_t most = random_.chance(250) ? 240'000 : 20'000;
      events_.after(random_.delay(100, most), [this, i] { links_[i].cut = false; });
    });
    repeat(trouble.operator_order, [this] { order_node(any_node()); });
    repeat(trouble.rank_kill, [this] { nodes_[any_node()]->kill_rank(); });
    repeat(trouble.step_daemon_kill, [this] { nodes_[any_node()]->kill_step_daemon(); });
  }

  void order_node(std::size_t i) {
    const ctld::Caller op{.owner = {.user = "op"}, .is_operator = true};
    const std::vector<std::string> nodes = {nodes_[i]->name()};
    const bool resumes = random_.chance(600);
    const ctld::DrainOrder order{.reason = "trial", .until_reboot = random_.chance(300)};
    controller_.step([&](ctld::Controller& core, Time now) {
      const RequestId request{++last_request_};
      if (resumes) return core.resume(request, op, nodes, now);
      core.drain(request, op, nodes, order, now);
    });
  }

  /// An operator looks after the nodes that strikes and forgotten drains took out of service.
  void resume_all() {
    std::vector<std::string> names;
    for (const auto& node : nodes_) names.push_back(node->name());
    controller_.step([&](ctld::Controller& core, Time now) {
      core.resume(RequestId{++last_request_}, {.owner = {.user = "op"}, .is_operator = true}, names,
                  now);
    });
  }

  void restart_agent(std::size_t i, const std::function<void(FakeNode&)>& how) {
    how(*nodes_[i]);
    events_.after(random_.delay(100, 10'000), [this, i] { start_agent(i); });
  }

  void start_agent(std::size_t i) {
    nodes_[i]->start_agent();
    connect_later(i);
  }

  void end_trouble() {
    controller_.start();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i]->faults = {.refuse_prepare = 0, .hang_in_prepare = 0, .crash_between_effects = 0};
      links_[i].cut = false;
      if (links_[i].lacks) drop_link(i);
      start_agent(i);
    }
    resume_all();
  }

  // The end
  // --------------------------------------------------------------------------------

  bool all_final() const {
    for (const Order& order : orders_) {
      if (!order.acknowledged) return false;
      const auto it = controller_.store().jobs().find(*order.acknowledged);
      if (it == controller_.store().jobs().end() || !is_final(it->second.state)) return false;
    }
    return true;
  }

  void check_end() {
    if (truth_.broken()) return;
    const auto& jobs = controller_.store().jobs();
    for (const Order& order : orders_) {
      if (!order.acknowledged) {
        truth_.report("a submission was never acknowledged");
        continue;
      }
      const auto it = jobs.find(*order.acknowledged);
      if (it == jobs.end()) {
        truth_.report(fmt::format("S1: acknowledged job {} is lost", order.acknowledged->value));
      } else if (!is_final(it->second.state)) {
        truth_.report(fmt::format("job {} never ended: {} ({})", it->first.value,
                                  job_state_name(it->second.state), describe(it->second.wait)));
      }
    }
    if (jobs.size() != orders_.size()) {
      truth_.report(fmt::format("S1: {} submissions made {} jobs", orders_.size(), jobs.size()));
    }
    check_rows();
  }

  // S8: every attempt is closed, and no device was held by two attempts at once.
  void check_rows() {
    struct Hold {
      Time from, to;
      AttemptKey key;
    };
    std::map<std::pair<NodeId, std::uint16_t>, std::vector<Hold>> holds;
    for (const auto& [key, attempt] : controller_.store().attempts()) {
      if (!attempt.ended_at || attempt.cause.code == CauseCode::kNone) {
        truth_.report(fmt::format("S8: attempt {} was never closed: {}, cause '{}'",
                                  format_key(key), job_state_name(attempt.outcome),
                                  describe(attempt.cause)));
        continue;
      }
      for (const NodePart& part : attempt.parts) {
        if (!part.end)
          truth_.report("S8: a part of attempt " + format_key(key) + " was never closed");
        const Time to = part.end ? part.end->ended : *attempt.ended_at;
        for (const std::uint16_t gpu : part.share.gpus) {
          auto& list = holds[{part.share.node, gpu}];
          for (const Hold& other : list) {
            if (other.from < to && attempt.allocated_at < other.to) {
              truth_.report(fmt::format("S8: {} and {} are both charged for GPU {}",
                                        format_key(key), format_key(other.key), gpu));
            }
          }
          list.push_back({attempt.allocated_at, to, key});
        }
      }
    }
  }

  WorldResult result() const {
    WorldResult out{.trace_hash = hash_,
                    .steps = steps_,
                    .starts = truth_.starts(),
                    .controller_crashes = controller_.crashes()};
    for (const Order& order : orders_) out.acknowledged += order.acknowledged ? 1 : 0;
    for (const auto& [key, attempt] : controller_.store().attempts())
      out.evictions += attempt.cause.code == CauseCode::kPreempted ? 1 : 0;
    if (truth_.broken())
      out.broken = fmt::format("{} (at {})", *truth_.broken(), format_time(events_.now()));
    return out;
  }

  WorldOptions options_;
  Random random_;
  Events events_;
  Truth truth_;
  ControllerHost controller_;
  std::vector<std::unique_ptr<FakeNode>> nodes_;
  std::vector<Link> links_;
  std::vector<Order> orders_;
  std::map<RequestId, std::size_t> requests_;
  std::map<JobId, std::size_t> owners_;
  std::map<AttemptKey, Gang> gangs_;
  std::uint64_t last_session_ = 0;
  std::uint64_t last_request_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t hash_ = 0xcbf29ce484222325;
  bool trouble_over_ = false;
};

}  // namespace

WorldResult run_world(const WorldOptions& options) { return World(options).run(); }

}  // namespace artel::sim
