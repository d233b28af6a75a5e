#include "sim/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/text.h"
#include "sim/books.h"
#include "sim/clients.h"
#include "sim/controller_host.h"
#include "sim/fake_node.h"
#include "sim/gangs.h"
#include "sim/site.h"

namespace artel::sim {
namespace {

/// An agent's connection. Messages of one direction keep their order; a cut loses what is under
/// way.
struct Link {
  bool up = false;
  bool cut = false;       // the network does not let a new one through
  bool isolated = false;  // nor anything from or to other nodes
  bool refuses = false;   // while isolated, a firewall refuses what the node sends
  bool mute = false;      // nothing that it sends arrives
  bool deaf = false;      // nothing that is sent to it arrives
  bool apart = false;     // with others that are so it is in contact, with nobody else
  bool off = false;
  bool lacks = false;  // a GPU is missing
  Time up_since;
  SessionId session;
  Time to_controller;  // arrival of the last message sent
  Time to_agent;
};

class World {
 public:
  explicit World(const WorldOptions& options)
      : options_(options),
        random_(options.seed),
        controller_(config(), events_, random_,
                    {.send = [this](const ctld::AgentSend& send) { to_agent(send); },
                     .reply = [this](const ctld::Reply& reply) { clients_.answered(reply); },
                     .broken = [this](const std::string& what) { truth_.report(what); },
                     .died = [this] { controller_died(); }},
                    options.mutation),
        clients_(options_, events_, random_, truth_, controller_),
        gangs_(nodes_, events_, random_, truth_,
               [this](const std::string& node) { return is_reachable(index_of(node)); }) {
    clients_.on_submit = [this] { crash_around_an_answer(); };
    for (const NodeConfig& node : config().nodes) add_node(node);
  }

  WorldResult run() {
    controller_.start();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i]->start_agent();
      connect_later(i);
      every_second(i);
    }
    clients_.plan();
    release_held();
    plan_troubles();
    const Time quiet_from = events_.now() + options_.trouble_for;
    run_until(quiet_from);
    trouble_over_ = true;
    end_trouble();
    const Time end = quiet_from + options_.quiet_for;
    while (!truth_.broken() && !clients_.all_final() && events_.now() < end) {
      if (!step(end)) break;
    }
    check_end();
    return result();
  }

 private:
  ctld::ControllerConfig config() const {
    auto out = world_site(options_.nodes);
    if (options_.mutation == Mutation::kGiveUpTooSoon) out.give_up_after = std::chrono::seconds{10};
    return out;
  }

  void add_node(const NodeConfig& node) {
    const std::size_t index = nodes_.size();
    NodeHooks hooks{
        .to_controller = [this, index](const FromAgent& m) { to_controller(index, m); },
        .agent_crashed =
            [this, index] {
              drop_link(index);
              events_.after(random_.delay(1'000, back_within(index)),
                            [this, index] { start_agent(index); });
            },
        .local_done = [this, n = node.name](const auto& spec) { gangs_.local_done(n, spec); },
        .recorded_well = [this, n = node.name](const auto& spec) { gangs_.recorded_well(n, spec); },
        .abort = [this, n = node.name](const auto& key,
                                       const auto& c) { gangs_.abort(n, key, c); }};
    nodes_.push_back(std::make_unique<FakeNode>(node, events_, random_, truth_, std::move(hooks),
                                                options_.mutation));
    nodes_.back()->keeps_contacts = options_.mutation != Mutation::kLeaseBeginsAnew;
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
    if (link.cut || !is_reachable(i) || !controller_.up() || !agent->settled())
      return connect_later(i);
    link.up = true;
    link.up_since = events_.now();
    link.session = SessionId{++last_session_};
    link.to_controller = {};
    link.to_agent = {};
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

  /// Mostly some milliseconds, at times seconds.
  Duration on_the_way() {
    return !trouble_over_ && random_.chance(2) ? random_.delay(0, 5000) : random_.delay(0, 5);
  }

  void deliver_to_controller(std::size_t i, std::function<void()> action) {
    Link& link = links_[i];
    if (link.mute) return;
    link.to_controller = std::max(link.to_controller, events_.now() + on_the_way());
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
    const auto arrive = [this, message, session = links_[i].session] {
      mix(message.index());
      controller_.step(
          [&](ctld::Controller& core, Time now) { core.agent_message(session, message, now); });
    };
    deliver_to_controller(i, arrive);
    if (random_.chance(20)) deliver_to_controller(i, arrive);
    // And some is still on its way when the session is over.
    if (random_.chance(10)) events_.after(random_.delay(1'000, 30'000), arrive);
  }

  void to_agent(const ctld::AgentSend& send) {
    const std::size_t i = send.node.value;
    Link& link = links_[i];
    if (const auto* prepare = std::get_if<Prepare>(&send.message)) clients_.prepared(prepare->spec);
    if (!link.up || link.session != send.session) return;
    if (options_.mutation == Mutation::kDropStrays &&
        std::holds_alternative<EndAttempt>(send.message) &&
        std::get<EndAttempt>(send.message).cause.actor == Actor::kSystem) {
      return;
    }
    if (link.deaf) return;
    link.to_agent = std::max(link.to_agent, events_.now() + on_the_way());
    for (int times = random_.chance(20) ? 2 : 1; times > 0; --times) {
      events_.after(link.to_agent - events_.now(), [this, i, send] { arrive_at_agent(i, send); });
    }
    if (options_.mutation == Mutation::kFreeAtOrder) pretend_end(i, send);
  }

  void arrive_at_agent(std::size_t i, const ctld::AgentSend& send) {
    noded::Agent* agent = nodes_[i]->agent();
    if (!links_[i].up || links_[i].session != send.session || agent == nullptr) return;
    mix(send.message.index());
    agent->controller_message(send.message, nodes_[i]->wall(), nodes_[i]->up());
    nodes_[i]->run_effects();
  }

  void pretend_end(std::size_t i, const ctld::AgentSend& send) {
    const auto* end = std::get_if<EndAttempt>(&send.message);
    if (end == nullptr) return;
    to_controller(i, AttemptEnded{end->key, {.ended = nodes_[i]->wall(), .cause = end->cause}});
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

  void every_second(std::size_t i) {
    events_.after(std::chrono::seconds{1}, [this, i] {
      if (options_.mutation != Mutation::kNoSelfFencing) nodes_[i]->tick();
      probe(i);
      beat(i);
      check_strays(i);
      every_second(i);
    });
  }

  /// What the controller has given up is ended soon where the node can be told to.
  void check_strays(std::size_t i) {
    const Time then = events_.now() - std::chrono::seconds{20};
    if (!links_[i].up || links_[i].up_since > then) return;
    check_given_up(controller_.store(), truth_, nodes_[i]->name(),
                   then + (controller_.now() - events_.now()));
  }

  /// By the controller, and by nodes on its side of a partition, in both directions.
  bool is_reachable(std::size_t i) const {
    const Link& link = links_[i];
    return !link.isolated && !link.off && !link.apart && !link.mute && !link.deaf;
  }

  bool hears(std::size_t to, std::size_t from) const {
    const Link& a = links_[from];
    const Link& b = links_[to];
    if (a.isolated || b.isolated || a.off || b.off || a.apart != b.apart) return false;
    return !a.mute && !b.deaf;
  }

  std::size_t index_of(const std::string& name) const {
    return static_cast<std::size_t>(
        std::ranges::find(nodes_, name, [](const auto& n) { return n->name(); }) - nodes_.begin());
  }

  void probe(std::size_t i) {
    if (nodes_[i]->agent() == nullptr) return;
    for (const ProbePeer& peer : nodes_[i]->agent()->peers()) {
      const bool lost = random_.chance(20);
      const std::size_t to = index_of(peer.node);
      events_.after(random_.delay(0, 50), [this, i, to, lost, sent = nodes_[i]->up()] {
        if (!lost && hears(to, i)) return probed(i, to, sent);
        if (links_[i].isolated && links_[i].refuses) refused(i, nodes_[to]->name(), sent);
      });
    }
  }

  void probed(std::size_t from, std::size_t at, Duration sent) {
    noded::Agent* const agent = nodes_[at]->agent();
    const bool is_refused = agent == nullptr;
    if (!is_refused && !agent->peer_probed(nodes_[from]->name(), nodes_[at]->up())) return;
    events_.after(random_.delay(0, 50), [this, from, at, sent, is_refused] {
      noded::Agent* const asker = nodes_[from]->agent();
      if (asker == nullptr || !hears(from, at)) return;
      const std::string& name = nodes_[at]->name();
      if (is_refused) return refused(from, name, sent);
      asker->peer_answered(name, sent, nodes_[from]->up());
    });
  }

  void refused(std::size_t i, const std::string& by, Duration sent) {
    noded::Agent* const agent = nodes_[i]->agent();
    if (agent == nullptr) return;
    const Duration up = nodes_[i]->up();
    if (options_.mutation == Mutation::kRefusalsAreContact) agent->controller_answered(sent);
    agent->peer_refused(by, sent, up);
  }

  /// The agent ends in order and says goodbye.
  void stop_agent(std::size_t i) {
    if (nodes_[i]->agent() == nullptr) return;
    const auto peers = nodes_[i]->agent()->peers();
    if (!nodes_[i]->stop_agent()) return;
    for (const ProbePeer& peer : peers) {
      const std::size_t to = index_of(peer.node);
      if (!is_reachable(i) || !is_reachable(to) || random_.chance(20)) continue;
      events_.after(random_.delay(0, 50), [this, i, to, sent = nodes_[to]->up()] {
        noded::Agent* const agent = nodes_[to]->agent();
        if (agent == nullptr || !is_reachable(i) || !is_reachable(to)) return;
        const Duration probed = sent - std::min(sent, Duration{std::chrono::seconds{1}});
        agent->peer_left(nodes_[i]->name(), probed, nodes_[to]->up());
      });
    }
  }

  /// Milliseconds until an agent that died is started again: dead for long and unreachable at once
  /// is what fence programs are for.
  std::uint64_t back_within(std::size_t i) const { return is_reachable(i) ? 10'000 : 4'000; }

  void beat(std::size_t i) {
    if (!links_[i].up || !random_.chance(500)) return;
    deliver_to_controller(i, [this, i, sent = nodes_[i]->up(), session = links_[i].session] {
      if (!controller_.up()) return;
      events_.after(random_.delay(0, 5), [this, i, sent, session] {
        noded::Agent* const agent = nodes_[i]->agent();
        if (links_[i].up && !links_[i].deaf && links_[i].session == session && agent != nullptr)
          agent->controller_answered(sent);
      });
    });
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
    controller_died();
  }

  void controller_died() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) drop_link(i);
    events_.after(random_.delay(100, 10'000), [this] { controller_.start(); });
  }

  /// The moment around an answer is the one that durability is about.
  void crash_around_an_answer() {
    if (trouble_over_ || !random_.chance(20)) return;
    events_.after(random_.delay(0, 10), [this] { crash_controller(); });
  }

  std::size_t any_node() { return random_.between(0, nodes_.size() - 1); }

  void plan_troubles() {
    const Trouble& trouble = options_.trouble;
    repeat(trouble.controller_crash, [this] { crash_controller(); });
    repeat(trouble.agent_crash,
           [this] { restart_agent(any_node(), [](FakeNode& n) { n.crash_agent(); }); });
    repeat(trouble.agent_stop, [this] { stop_agent(any_node()); });
    repeat(trouble.isolation, [this] { isolate(any_node()); });
    repeat(trouble.one_way_cut, [this] { cut_one_way(any_node()); });
    repeat(trouble.partition, [this] { part_some(); });
    repeat(trouble.clock_jump, [this] {
      nodes_[any_node()]->set_clock(random_.delay(0, 1'200'000) - std::chrono::minutes{10});
    });
    repeat(trouble.commit_failure, [this] { controller_.faults.fail_next_commit = true; });
    repeat(trouble.low_disk, [this] { run_low_on_disk(); });
    repeat(trouble.hold_or_release, [this] { clients_.hold_or_release(); });
    repeat(trouble.cancel_storm, [this] { clients_.cancel_some(100); });
    repeat(trouble.new_terms, [this] { controller_.change_terms(other_terms(random_)); });
    repeat(trouble.power_loss, [this] { lose_power(any_node()); });
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
    repeat(trouble.cut_and_cancel, [this] { cut_and_cancel(any_node()); });
    repeat(trouble.operator_order,
           [this] { clients_.drain_or_resume(nodes_[any_node()]->name()); });
    repeat(trouble.rank_kill, [this] { nodes_[any_node()]->kill_rank(); });
    repeat(trouble.step_daemon_kill, [this] { nodes_[any_node()]->kill_step_daemon(); });
  }

  void release_held() {
    events_.after(random_.delay(10'000, 60'000), [this] {
      clients_.release_held();
      release_held();
    });
  }

  /// The controller closes its books on what runs on a node that it cannot reach.
  void cut_and_cancel(std::size_t i) {
    if (!is_reachable(i) || links_[i].cut) return;
    drop_link(i);
    links_[i].cut = true;
    events_.after(random_.delay(130'000, 150'000), [this, i] { links_[i].cut = false; });
    events_.after(std::chrono::seconds{5}, [this] { clients_.cancel_some(300); });
  }

  void isolate(std::size_t i) {
    Link& link = links_[i];
    if (!is_reachable(i) || nodes_[i]->agent() == nullptr) return;
    drop_link(i);
    link.cut = true;
    link.isolated = true;
    link.refuses = random_.chance(600);
    nodes_[i]->faults.crash_between_effects = 0;
    nodes_[i]->faults.crash_while_saving = 0;
    truth_.unreachable(nodes_[i]->name());
    // An agent that begins anew in the middle of it has not been alone for less long.
    if (random_.chance(500)) {
      events_.after(random_.delay(8'000, 18'000),
                    [this, i] { restart_agent(i, [](FakeNode& n) { n.crash_agent(); }); });
    }
    events_.after(random_.delay(1000, random_.chance(300) ? 20'000 : 150'000), [this, i] {
      links_[i].cut = false;
      links_[i].isolated = false;
      if (!trouble_over_) nodes_[i]->faults = {};
    });
  }

  /// TCP stalls in both directions before long, datagrams do not.
  void cut_one_way(std::size_t i) {
    Link& link = links_[i];
    if (!is_reachable(i) || link.cut || nodes_[i]->agent() == nullptr) return;
    (random_.chance(500) ? link.mute : link.deaf) = true;
    const Duration stall = random_.delay(1'000, 20'000);
    events_.after(stall, [this, i] { drop_link(i); });
    truth_.unreachable(nodes_[i]->name());
    events_.after(stall + random_.delay(100, 120'000), [this, i] {
      links_[i].mute = false;
      links_[i].deaf = false;
    });
  }

  /// Some nodes keep each other only.
  void part_some() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!random_.chance(500) || !is_reachable(i)) continue;
      drop_link(i);
      links_[i].apart = true;
      nodes_[i]->faults.crash_between_effects = 0;
      nodes_[i]->faults.crash_while_saving = 0;
      truth_.unreachable(nodes_[i]->name());
    }
    events_.after(random_.delay(1'000, 150'000), [this] { join_all(); });
  }

  void join_all() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (std::exchange(links_[i].apart, false) && !trouble_over_) nodes_[i]->faults = {};
    }
  }

  void run_low_on_disk() {
    const auto pause = [this](bool paused) {
      controller_.step([&](ctld::Controller& core, Time) { core.pause_starts(paused); });
    };
    pause(true);
    events_.after(random_.delay(1'000, 60'000), [pause] { pause(false); });
  }

  void lose_power(std::size_t i) {
    if (!is_reachable(i)) return;
    Link& link = links_[i];
    nodes_[i]->lose_power();
    link.off = true;
    link.cut = true;
    truth_.unreachable(nodes_[i]->name());
    events_.after(random_.delay(5'000, 150'000), [this, i] { restore_power(i); });
  }

  void restore_power(std::size_t i) {
    if (!links_[i].off) return;
    links_[i].off = false;
    links_[i].cut = false;
    start_agent(i);
  }

  void restart_agent(std::size_t i, const std::function<void(FakeNode&)>& how) {
    how(*nodes_[i]);
    events_.after(random_.delay(100, back_within(i)), [this, i] { start_agent(i); });
  }

  void start_agent(std::size_t i) {
    if (links_[i].off) return;
    nodes_[i]->start_agent();
    connect_later(i);
  }

  void end_trouble() {
    controller_.start();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i]->faults = {.refuse_prepare = 0,
                           .hang_in_prepare = 0,
                           .crash_between_effects = 0,
                           .crash_while_saving = 0,
                           .fail_to_spawn = 0,
                           .hang_at_end = 0};
      links_[i].cut = links_[i].isolated = links_[i].mute = links_[i].deaf = false;
      links_[i].apart = false;
      restore_power(i);
      if (links_[i].lacks) drop_link(i);
      start_agent(i);
    }
    // An operator looks after what strikes and forgotten drains took out of service.
    std::vector<std::string> names;
    for (const auto& node : nodes_) names.push_back(node->name());
    clients_.resume(names);
    clients_.release_all();
    controller_.faults = {.clock_jump = 0};
    // Under some of the others large jobs would wait for ever, and rightly.
    controller_.change_terms(config().teams);
    controller_.step([](ctld::Controller& core, Time) { core.pause_starts(false); });
  }

  // The end
  // --------------------------------------------------------------------------------

  void check_end() {
    if (truth_.broken()) return;
    clients_.check_end();
    check_books(controller_.store(), truth_);
  }

  WorldResult result() const {
    WorldResult out{.trace_hash = hash_ ^ clients_.hash(),
                    .steps = steps_,
                    .acknowledged = clients_.acknowledged(),
                    .starts = truth_.starts(),
                    .controller_crashes = controller_.crashes()};
    for (const auto& [key, attempt] : controller_.store().attempts()) {
      out.evictions += attempt.cause.code == CauseCode::kPreempted ? 1 : 0;
      out.given_up += attempt.cause.text.contains("probe peers") ? 1 : 0;
    }
    if (truth_.broken())
      out.broken = fmt::format("{} (at {})", *truth_.broken(), format_time(events_.now()));
    return out;
  }

  WorldOptions options_;
  Random random_;
  Events events_;
  Truth truth_;
  ControllerHost controller_;
  Clients clients_;
  std::vector<std::unique_ptr<FakeNode>> nodes_;
  Gangs gangs_;
  std::vector<Link> links_;
  std::uint64_t last_session_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t hash_ = 0xcbf29ce484222325;
  bool trouble_over_ = false;
};

}  // namespace

WorldResult run_world(const WorldOptions& options) { return World(options).run(); }

}  // namespace artel::sim
