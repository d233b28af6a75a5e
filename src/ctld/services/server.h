// All of the controller's services put together: control loop, readers, agents' streams, clients'
// calls, one listening port.
//
// Thread: start() and stop() from one thread; everything else happens on the service's own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "ctld/core/controller.h"
#include "ctld/core/store.h"
#include "ctld/services/control_loop.h"
#include "ctld/store/reader.h"
#include "model/job_spec.h"
#include "model/teams.h"

namespace artel::ctld {

struct ServerOptions {
  std::string listen;  // "host:port"; port 0: any
  std::string cluster;
  std::string version;
  Incarnation incarnation;
  std::vector<std::string> nodes;      // configured names
  std::filesystem::path node_keys;     // <node>.key
  std::string probe_secret;            // 32 bytes, from which keys of probe peers are made
  std::vector<std::string> operators;  // user names
  std::string default_output;          // of jobs that name none
  std::size_t max_waiting = 10'000;    // requests that are not answered yet
  Duration agent_handshake{std::chrono::seconds{10}};
  Duration agent_beat{std::chrono::seconds{5}};
  Duration agent_silence{std::chrono::seconds{20}};
  Duration agent_sweep{std::chrono::seconds{1}};
  Duration output_timeout{std::chrono::seconds{10}};
};

struct ServerParts {
  std::unique_ptr<Controller> controller;
  Store* store{};                                     // outlives the server
  std::vector<std::unique_ptr<StoreReader>> readers;  // one thread each
  std::vector<SetAside> set_aside;                    // what the start could not read
  /// The account that made a credential; may block.
  std::function<Result<Owner>(const std::string& credential)> identify;
  /// The names of an account's groups; may block. May be empty: nobody is in any.
  std::function<std::vector<std::string>(const Owner& owner)> groups;
  /// Whether something new can be stored; asked on any thread, must not block. May be empty: yes.
  std::function<Result<>()> room;
  /// A commit failed: end the process.
  std::function<void(const Error&)> fatal;
  /// Called on the store thread when nothing was written for a while; its error is fatal too. May
  /// be empty.
  std::function<Result<>()> idle;
};

class Server {
 public:
  Server(ServerOptions options, ServerParts parts);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  /// Error: kUnavailable where the address cannot be listened on.
  Result<> start();
  /// Sends clients and agents away, finishes what is in flight, commits it. Jobs go on.
  void stop();

  /// Controller::change_teams() between two steps of the controller. `done` is called on another
  /// thread and must not block; not at all after stop().
  void change_teams(TeamsConfig teams, std::function<void(Result<std::size_t>)> done);

  /// Runs `chore` on the thread that writes the store, between two commits; its error is fatal. Not
  /// run after stop().
  void chore(std::move_only_function<Result<>()> chore);
  /// Controller::pause_starts() between two steps of the controller.
  void pause_starts(bool paused);

  /// The port that is listened on.
  [[nodiscard]] std::uint16_t port() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace artel::ctld
