#include "noded/main/node_daemon.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <csignal>
#include <utility>
#include <variant>

#include "noded/main/peer_file.h"
#include "rpc/node_key.h"

namespace artel::noded {
namespace {

constexpr auto kTick = std::chrono::seconds(5);
constexpr auto kLeaseTick = std::chrono::seconds(1);
constexpr unsigned kTicksToClean = 12;
// Attempts whose processes cannot be killed must not keep the node out of contact for ever.
constexpr unsigned kTicksToSettle = 12;

Time now() { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); }

std::set<AttemptKey> keys_of(const std::vector<AttemptRecord>& records) {
  std::set<AttemptKey> keys;
  for (const AttemptRecord& record : records) keys.insert(record.spec.key);
  return keys;
}

}  // namespace

NodeDaemon::NodeDaemon(boost::asio::io_context& loop, NodeSetup setup, RecordStore store,
                       std::vector<AttemptRecord> records, StepFolder folder, SpawnServer helper)
    : loop_(loop),
      setup_(std::move(setup)),
      store_(std::move(store)),
      folder_(folder),
      daemons_(
          loop, {.node = setup_.node.name, .simulated = setup_.node.simulated}, folder,
          SpawnServer{std::move(helper.channel), helper.pid},
          {.status =
               [this](const FromStep& status) { step([&] { agent_.step_status(status, now()); }); },
           .lost =
               [this](const AttemptKey& key, const std::string& why) {
                 spdlog::warn("the step daemon of {} is lost: {}", format_key(key), why);
                 step([&] { agent_.step_lost(key, why, now()); });
               },
           .stuck =
               [this](const AttemptKey& key) {
                 spdlog::warn("the step daemon of {} did not go; it is killed", format_key(key));
                 sweeper_.sweep(key);
               },
           .helper_lost =
               [this] {
                 outcome_ = fail(ErrorCode::kLaunch,
                                 "the spawn helper is gone; the agent must be started again");
                 loop_.stop();
               }}),
      sweeper_(loop, setup_.node.name, {::getpid(), helper.pid},
               [this](const AttemptKey& key) {
                 spdlog::info("no process of {} is left", format_key(key));
                 step([&] { agent_.swept(key, now()); });
               }),
      controller_(
          loop, setup_.stream, std::move(folder), setup_.state / "incarnation",
          {.connected =
               [this] {
                 AgentHello hello;
                 step([&] { hello = agent_.connected(); });
                 return hello;
               },
           .disconnected = [this] { step([&] { agent_.disconnected(); }); },
           .command =
               [this](const ToAgent& command) {
                 step([&] { agent_.controller_message(command, now(), rpc::time_since_boot()); });
               },
           .answered = [this](Duration sent) { agent_.controller_answered(sent); }}),
      probe_loop_(1),
      prober_(probe_loop_, setup_.node.name, {.seal = rpc::seal, .up = rpc::time_since_boot},
              probe_events()),
      contact_writer_(setup_.state,
                      [](const Error& error) { spdlog::error("last contacts: {}", error.text); }),
      agent_({.node = setup_.node.name,
              .inventory = announced(),
              .peers = setup_.peers,
              .kept = setup_.kept,
              .up = rpc::time_since_boot()},
             records, now()),
      signals_(loop, SIGTERM, SIGINT),
      timer_(loop),
      lease_(loop),
      held_(keys_of(records)) {}

Result<> NodeDaemon::run(const std::function<void()>& ready) {
  if (auto loaded = controller_.load(); !loaded) return loaded;
  wait_for_signal();
  clean();
  step([] {});
  schedule_tick();
  prober_.watch(agent_.peers());
  prober_.start();
  probe_thread_ = std::jthread([this] { probe_loop_.run(); });
  watch_lease();
  ready();
  loop_.run();
  probe_loop_.stop();
  probe_thread_.join();
  controller_.stop();
  contact_writer_.stop();
  say_goodbye();
  return outcome_;
}

// Who is told relies on us to call nobody silent before we are heard again, so first it is kept.
void NodeDaemon::say_goodbye() {
  const auto saved = save_contacts(setup_.state, agent_.leave(rpc::time_since_boot()), true);
  if (!saved) return spdlog::error("last contacts: {}; no goodbye is said", saved.error().text);
  prober_.leave();
}

template <typename Call>
void NodeDaemon::step(Call call) {
  call();
  carry_out(agent_.take_effects());
  begin_contact();
}

void NodeDaemon::carry_out(Effects effects) {
  std::set<AttemptKey> unsaved;
  for (const SaveRecord& record : effects.saves) save(record, unsaved);
  for (const SpawnStep& spawn : effects.spawns) {
    const AttemptKey& key = spawn.spec.key;
    if (!unsaved.contains(key)) {
      daemons_.spawn(spawn.spec);
      continue;
    }
    // Started all the same, it would be unknown to the agent's next life.
    boost::asio::post(loop_, [this, key] {
      step([&] { agent_.step_lost(key, "its record could not be stored", now()); });
    });
  }
  for (const AdoptStep& adopt : effects.adopts) daemons_.adopt(adopt.key);
  for (const SendStep& send : effects.step_sends) daemons_.send(send.key, send.message);
  for (const SweepProcesses& sweep : effects.sweeps) sweeper_.sweep(sweep.key);
  for (const DropRecord& record : effects.drops) drop(record.key);
  if (effects.contacts) contact_writer_.post(std::move(effects.contacts->contacts));
  const bool are_kept = !effects.peers || save(*effects.peers);
  if (effects.peers) watch(effects.peers->peers);
  for (const FromAgent& message : effects.controller_sends) {
    // Not kept, the peers of before would be in force again after a restart.
    if (std::holds_alternative<PeersWatched>(message) && !are_kept) continue;
    controller_.send(message);
  }
}

Prober::Events NodeDaemon::probe_events() {
  return {.probed =
              [this](const std::string& node) {
                // Noted before it is answered: who is asked of the node later knows of it.
                boost::asio::post(loop_, [this, node, up = rpc::time_since_boot()] {
                  agent_.peer_probed(node, up);
                });
                return true;
              },
          .answered =
              [this](const std::string& node, Duration sent) {
                boost::asio::post(loop_, [this, node, sent, up = rpc::time_since_boot()] {
                  agent_.peer_answered(node, sent, up);
                });
              },
          .refused =
              [this](const std::string& node, Duration sent) {
                boost::asio::post(loop_, [this, node, sent, up = rpc::time_since_boot()] {
                  agent_.peer_refused(node, sent, up);
                });
              },
          .left =
              [this](const std::string& node, Duration sent) {
                boost::asio::post(loop_, [this, node, sent, up = rpc::time_since_boot()] {
                  agent_.peer_left(node, sent, up);
                });
              }};
}

Inventory NodeDaemon::announced() {
  Inventory out = setup_.inventory;
  auto port = prober_.open(setup_.probe_port);
  if (!port && setup_.probe_port != 0) {
    spdlog::error("{}; another port is used", port.error().text);
    port = prober_.open(0);
  }
  if (port) {
    out.probe_port = *port;
  } else {
    spdlog::error("{}; this node takes part in no probes", port.error().text);
    setup_.peers.clear();
  }
  return out;
}

bool NodeDaemon::save(const SavePeers& peers) {
  const auto saved = save_peers(setup_.state, peers.peers);
  if (!saved) spdlog::error("list of probe peers: {}", saved.error().text);
  return saved.has_value();
}

void NodeDaemon::watch(const std::vector<ProbePeer>& peers) {
  boost::asio::post(probe_loop_, [this, peers] { prober_.watch(peers); });
}

void NodeDaemon::watch_lease() {
  lease_.expires_after(kLeaseTick);
  lease_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    // Behind the answers that wait where the loop was held up.
    boost::asio::post(loop_, [this] { step([this] { agent_.tick(rpc::time_since_boot()); }); });
    watch_lease();
  });
}

void NodeDaemon::save(const SaveRecord& save, std::set<AttemptKey>& failed) {
  const AttemptKey& key = save.record.spec.key;
  held_.insert(key);
  if (const auto saved = store_.save(save.record, save.sync); !saved) {
    spdlog::error("record of {}: {}; trying again", format_key(key), saved.error().text);
    unsaved_.insert_or_assign(key, save);
    failed.insert(key);
    return;
  }
  unsaved_.erase(key);
}

void NodeDaemon::drop(const AttemptKey& key) {
  unsaved_.erase(key);
  held_.erase(key);
  store_.drop(key);
  daemons_.drop(key);
}

void NodeDaemon::begin_contact() {
  if (in_contact_) return;
  if (!agent_.settled() && ticks_ < kTicksToSettle) return;
  in_contact_ = true;
  controller_.start();
}

void NodeDaemon::schedule_tick() {
  timer_.expires_after(kTick);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    tick();
    schedule_tick();
  });
}

void NodeDaemon::tick() {
  ++ticks_;
  retry_saves();
  daemons_.tick();
  if (ticks_ % kTicksToClean == 0) clean();
  begin_contact();
}

void NodeDaemon::retry_saves() {
  std::set<AttemptKey> failed;
  for (const auto& [key, record] : std::map(unsaved_)) save(record, failed);
}

void NodeDaemon::clean() {
  const auto removed =
      folder_.clean([this](const AttemptKey& key) { return held_.contains(key); }, now());
  if (removed > 0) spdlog::debug("removed {} sockets and folders of forgotten attempts", removed);
}

void NodeDaemon::wait_for_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    spdlog::info("ends on signal {}; jobs go on", signal);
    loop_.stop();
  });
}

}  // namespace artel::noded
