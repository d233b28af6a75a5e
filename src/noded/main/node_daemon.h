// The agent: the pure core in an event loop, with all that carries out its effects.
//
// Effects of one step are carried out in this order: saves, then starts, adoptions and messages to
// step daemons, sweeps, drops, and last what goes to the controller. Threads: the loop's, and one
// for probes.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "model/node.h"
#include "noded/core/agent.h"
#include "noded/main/controller_link.h"
#include "noded/main/step_daemons.h"
#include "noded/os/contact_file.h"
#include "noded/os/prober.h"
#include "noded/os/record_store.h"
#include "noded/os/spawner.h"
#include "noded/os/step_folder.h"
#include "noded/os/sweeper.h"
#include "rpc/agent_stream.h"

namespace artel::noded {

struct NodeSetup {
  NodeConfig node;
  Inventory inventory;
  std::filesystem::path state;  // absolute; locked by the caller
  rpc::AgentStreamOptions stream;
  std::vector<ProbePeer> peers;      // as kept by an earlier agent process
  std::optional<KeptContacts> kept;  // the same
  std::uint16_t probe_port{};        // 0: any
};

class NodeDaemon {
 public:
  NodeDaemon(boost::asio::io_context& loop, NodeSetup setup, RecordStore store,
             std::vector<AttemptRecord> records, StepFolder folder, SpawnServer helper);

  /// Runs until a signal; `ready` is called once the state is taken over. Error: kLaunch where the
  /// spawn helper was lost, kIo, kStorage.
  Result<> run(const std::function<void()>& ready);

 private:
  void carry_out(Effects effects);
  Prober::Events probe_events();
  /// The inventory with the port where probes are heard.
  Inventory announced();
  /// False: they could not be kept.
  bool save(const SavePeers& peers);
  void watch(const std::vector<ProbePeer>& peers);
  void watch_lease();
  void save(const SaveRecord& save, std::set<AttemptKey>& failed);
  void drop(const AttemptKey& key);
  /// Calls the core, then carries out what it wants.
  template <typename Call>
  void step(Call call);
  void begin_contact();
  void tick();
  void schedule_tick();
  void retry_saves();
  void say_goodbye();
  void clean();
  void wait_for_signal();

  boost::asio::io_context& loop_;
  NodeSetup setup_;
  RecordStore store_;
  StepFolder folder_;
  StepDaemons daemons_;
  Sweeper sweeper_;
  ControllerLink controller_;
  boost::asio::io_context probe_loop_;  // its thread goes on while the disk blocks the main one
  Prober prober_;
  std::jthread probe_thread_;
  ContactWriter contact_writer_;
  Agent agent_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer lease_;
  std::map<AttemptKey, SaveRecord> unsaved_;  // to be tried again
  std::set<AttemptKey> held_;                 // with a record on the disk
  bool in_contact_ = false;                   // dials, or has dialled
  unsigned ticks_ = 0;
  Result<> outcome_;
};

}  // namespace artel::noded
