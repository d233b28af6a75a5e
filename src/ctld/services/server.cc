#include "ctld/services/server.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <optional>
#include <utility>

#include "agent.grpc.pb.h"
#include "ctld/services/agent_hub.h"
#include "ctld/services/client_service.h"
#include "ctld/services/reader_pool.h"
#include "ctld/services/worker_pool.h"

namespace artel::ctld {
namespace {

/// A bulk submission of 10,000 jobs with scripts fits.
constexpr int kMaxMessage = 64 << 20;
/// How long calls in flight may take once the server stops.
constexpr auto kFarewell = std::chrono::seconds{2};
/// Decoding credentials is waiting for munged.
constexpr std::size_t kWorkers = 4;
constexpr std::size_t kMaxLogins = 2000;

class AgentService final : public v1::AgentService::CallbackService {
 public:
  explicit AgentService(AgentHub& hub) : hub_(hub) {}

  grpc::ServerBidiReactor<v1::AgentMessage, v1::ControllerMessage>* Connect(
      grpc::CallbackServerContext* context) override {
    return hub_.connect(*context);
  }

 private:
  AgentHub& hub_;
};

AgentHubOptions hub_options(const ServerOptions& options) {
  return {options.nodes,
          options.node_keys,
          options.probe_secret,
          options.version,
          options.incarnation,
          {options.agent_handshake, options.agent_beat, options.agent_silence, options.agent_sweep},
          options.output_timeout};
}

/// A connection whose other side vanished is noticed by unanswered pings.
void keep_alive(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5'000);
}

}  // namespace

class Server::Impl {
 public:
  Impl(ServerOptions options, ServerParts parts)
      : options_(std::move(options)),
        workers_("worker", kWorkers, kMaxLogins),
        readers_(std::move(parts.readers)),
        hub_(hub_options(options_), workers_),
        loop_(std::move(parts.controller), *parts.store,
              {.send = [this](const AgentSend& message) { hub_.send(message); },
               .changed = [this](const std::vector<JobId>& jobs) { waiting_.changed(jobs); },
               .fatal = std::move(parts.fatal),
               .idle = std::move(parts.idle)},
              {.max_waiting = options_.max_waiting}),
        login_(
            {options_.cluster, options_.version, options_.operators, {}, std::move(parts.groups)},
            std::move(parts.identify), workers_, loop_),
        commands_(loop_, options_.default_output, std::move(parts.room)),
        views_(loop_, readers_, hub_, std::move(parts.set_aside)),
        waiting_(loop_, readers_),
        output_(loop_, readers_, hub_),
        questions_(loop_, options_.default_output),
        clients_({login_, commands_, views_, waiting_, output_, questions_}),
        agents_(hub_) {}

  Result<> start() {
    loop_.start();
    hub_.start(loop_);
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(kMaxMessage);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    keep_alive(builder);
    builder.RegisterService(&clients_);
    builder.RegisterService(&agents_);
    int port = 0;
    // Plain text until the cluster has certificates: TLS credentials take this place.
    builder.AddListeningPort(options_.listen, grpc::InsecureServerCredentials(), &port);
    server_ = builder.BuildAndStart();
    if (!server_ || port == 0) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("cannot listen on '{}'; is another artel-ctld running there, or is "
                              "ctld.listen in artel.toml not an address of this host?",
                              options_.listen));
    }
    port_ = static_cast<std::uint16_t>(port);
    return {};
  }

  void stop() {
    if (stopped_) return;
    stopped_ = true;
    hub_.stop();
    waiting_.stop();
    if (server_) server_->Shutdown(std::chrono::system_clock::now() + kFarewell);
    workers_.stop();
    readers_.stop();
    loop_.stop();
    questions_.stop();
  }

  void change_teams(TeamsConfig teams, std::function<void(Result<std::size_t>)> done) {
    loop_.post([teams = std::move(teams), done = std::move(done)](Controller& controller,
                                                                  Time now) mutable {
      done(controller.change_teams(std::move(teams), now));
    });
  }

  void chore(Committer::Chore chore) { loop_.chore(std::move(chore)); }

  void pause_starts(bool paused) {
    loop_.post([paused](Controller& controller, Time) { controller.pause_starts(paused); });
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  const ServerOptions options_;
  WorkerPool workers_;
  ReaderPool readers_;
  AgentHub hub_;
  ControlLoop loop_;
  Login login_;
  Commands commands_;
  Views views_;
  Waiting waiting_;
  JobOutput output_;
  Questions questions_;
  ClientService clients_;
  AgentService agents_;
  std::unique_ptr<grpc::Server> server_;
  std::uint16_t port_ = 0;
  bool stopped_ = false;
};

Server::Server(ServerOptions options, ServerParts parts)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(parts))) {}
Server::~Server() { impl_->stop(); }
Result<> Server::start() { return impl_->start(); }
void Server::stop() { impl_->stop(); }
void Server::change_teams(TeamsConfig teams, std::function<void(Result<std::size_t>)> done) {
  impl_->change_teams(std::move(teams), std::move(done));
}
void Server::chore(std::move_only_function<Result<>()> chore) { impl_->chore(std::move(chore)); }
void Server::pause_starts(bool paused) { impl_->pause_starts(paused); }
std::uint16_t Server::port() const { return impl_->port(); }

}  // namespace artel::ctld
