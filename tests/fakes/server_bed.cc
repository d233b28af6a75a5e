#include "fakes/server_bed.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "client.grpc.pb.h"
#include "ctld/store/reader.h"
#include "ctld/store/sqlite_store.h"
#include "rpc/status.h"
#include "wire/agent_wire.h"

namespace artel::fakes {
namespace {

using Stub = v1::ClientService::Stub;

const NodeResources kResources{
    .cpus = 16, .memory = Bytes{1ULL << 36U}, .gpu_type = "h100", .gpus = 8};

/// A bed that cannot be made is no test result.
template <typename T>
T need(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

Result<Owner> identify(const std::string& credential) {
  if (credential == "alice") return Owner{1001, 1001, "alice"};
  if (credential == "bob") return Owner{1002, 1002, "bob"};
  if (credential == "op") return Owner{1003, 1003, "op"};
  return fail(ErrorCode::kUnauthenticated, "not a credential of this bed");
}

ctld::ControllerConfig core_config() {
  ctld::ControllerConfig out{.cluster = "bed", .nodes = {}, .teams = {}, .policy = {}};
  for (const char* name : {"n1", "n2"}) out.nodes.push_back({name, "127.0.0.1", kResources, true});
  return out;
}

}  // namespace

// Client ------------------------------------------------------------------------------------

class Client::Connection {
 public:
  explicit Connection(const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stub_ = v1::ClientService::NewStub(
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
  }

  template <typename Request, typename Reply>
  Result<Reply> call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                     const std::string& token, const Request& request) {
    auto context = std::make_shared<grpc::ClientContext>();
    context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    if (!token.empty()) context->AddMetadata("artel-token", token);
    {
      const std::lock_guard lock(mutex_);
      context_ = context;
      if (hung_up_) context->TryCancel();
    }
    Reply reply;
    const grpc::Status status = (stub_.get()->*method)(context.get(), request, &reply);
    if (!status.ok()) return std::unexpected(rpc::from_status(status));
    return reply;
  }

  void hang_up() {
    const std::lock_guard lock(mutex_);
    hung_up_ = true;
    if (context_) context_->TryCancel();
  }

 private:
  std::unique_ptr<Stub> stub_;
  std::mutex mutex_;
  std::shared_ptr<grpc::ClientContext> context_;
  bool hung_up_ = false;
};

Client::Client(const std::string& address) : connection_(std::make_unique<Connection>(address)) {}
Client::~Client() = default;

Result<v1::LoginReply> Client::login(const std::string& credential,
                                     std::uint32_t protocol_version) {
  v1::LoginRequest request;
  request.set_protocol_version(protocol_version);
  request.set_munge_credential(credential);
  request.set_version("test");
  auto reply = connection_->call(&Stub::Login, token_, request);
  if (reply) token_ = reply->token();
  return reply;
}

Result<v1::SubmitReply> Client::submit(const v1::SubmitRequest& request) {
  return connection_->call(&Stub::Submit, token_, request);
}
Result<v1::JobOutcomes> Client::cancel(const v1::CancelRequest& request) {
  return connection_->call(&Stub::Cancel, token_, request);
}
Result<v1::QueueReply> Client::queue(const v1::QueueRequest& request) {
  return connection_->call(&Stub::Queue, token_, request);
}
Result<v1::ShowReply> Client::show(const v1::ShowRequest& request) {
  return connection_->call(&Stub::Show, token_, request);
}
Result<v1::ShowReply> Client::wait(const v1::WaitRequest& request) {
  return connection_->call(&Stub::Wait, token_, request);
}
Result<v1::NodesReply> Client::nodes(const v1::NodesRequest& request) {
  return connection_->call(&Stub::Nodes, token_, request);
}
Result<v1::HistoryReply> Client::history(const v1::HistoryRequest& request) {
  return connection_->call(&Stub::History, token_, request);
}
Result<v1::UsageReply> Client::usage(const v1::UsageRequest& request) {
  return connection_->call(&Stub::Usage, token_, request);
}
Result<v1::ReadOutputReply> Client::read_output(const v1::ReadOutputRequest& request) {
  return connection_->call(&Stub::ReadOutput, token_, request);
}
Result<v1::LostAndFoundReply> Client::lost_and_found() {
  return connection_->call(&Stub::LostAndFound, token_, v1::LostAndFoundRequest{});
}

Result<std::uint64_t> Client::submit_one(const v1::JobSpec& spec) {
  v1::SubmitRequest request;
  *request.add_jobs() = spec;
  auto reply = submit(request);
  if (!reply) return fail(reply);
  return reply->jobs(0);
}

Result<v1::JobView> Client::show(std::uint64_t job) {
  v1::ShowRequest request;
  request.set_job(job);
  auto reply = show(request);
  if (!reply) return fail(reply);
  return reply->job();
}

void Client::hang_up() { connection_->hang_up(); }

v1::JobSpec job_message() {
  v1::JobSpec spec;
  spec.set_name("train");
  spec.set_array_size(1);
  auto& part = *spec.add_components();
  part.set_nodes(1);
  part.set_ranks_per_node(1);
  part.mutable_per_node()->set_whole_node(true);
  spec.set_script("#!/bin/sh\necho secret\n");
  auto& variable = *spec.add_environment();
  variable.set_name("PASSWORD");
  variable.set_value("secret");
  spec.set_working_directory("/home/alice");
  return spec;
}

// Server ------------------------------------------------------------------------------------

class ServerBed::Parts {
 public:
  std::unique_ptr<ctld::SqliteStore> store;
  std::unique_ptr<ctld::Server> server;
};

ServerBed::ServerBed(const std::function<void(ctld::ServerOptions&)>& change) : change_(change) {
  std::string pattern = std::filesystem::temp_directory_path() / "artel-bed-XXXXXX";
  folder_ = ::mkdtemp(pattern.data());
  std::filesystem::create_directory(folder_ / "keys");
  for (const char* node : {"n1", "n2"}) {
    need(rpc::generate_key_file(folder_ / "keys" / (std::string(node) + ".key")));
  }
  restart();
}

ServerBed::~ServerBed() {
  stop();
  std::filesystem::remove_all(folder_);
}

void ServerBed::stop() { parts_.reset(); }

void ServerBed::restart() {
  parts_.reset();
  auto parts = std::make_unique<Parts>();
  const auto path = folder_ / "state.db";
  parts->store = need(ctld::open_store(path, {.first_start = true}));
  parts->store->set_node_names({"n1", "n2"});
  ctld::StoredState state = need(parts->store->load());
  ctld::ServerOptions options;
  options.listen = "127.0.0.1:0";
  options.cluster = "bed";
  options.version = "test";
  options.incarnation = state.incarnation;
  options.nodes = {"n1", "n2"};
  options.node_keys = folder_ / "keys";
  options.probe_secret = std::string(rpc::kKeyBytes, 'p');
  options.operators = {"op"};
  options.default_output = "artel-%j.out";
  if (change_) change_(options);
  ctld::ServerParts server;
  const Time now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  server.controller = std::make_unique<ctld::Controller>(
      core_config(), std::move(state), [] { return rpc::random_bytes(32); }, now);
  server.store = parts->store.get();
  server.set_aside = {{"job", "17", "column state has the value 99"}};
  for (int i = 0; i < 2; ++i) server.readers.push_back(need(ctld::open_reader(path)));
  server.identify = identify;
  server.fatal = [](const Error& error) { throw std::runtime_error(error.text); };
  server.idle = [store = parts->store.get()] { return store->idle(); };
  parts->server = std::make_unique<ctld::Server>(std::move(options), std::move(server));
  need(parts->server->start());
  parts_ = std::move(parts);
}

std::string ServerBed::address() const {
  return "127.0.0.1:" + std::to_string(parts_->server->port());
}

std::unique_ptr<Client> ServerBed::client(const std::string& user) const {
  auto client = std::make_unique<Client>(address());
  need(client->login(user, wire::kProtocolVersion));
  return client;
}

rpc::NodeKey ServerBed::key(const std::string& node) const {
  return need(rpc::read_key_file(folder_ / "keys" / (node + ".key")));
}

AgentHello ServerBed::hello(const std::string& node) const {
  AgentHello hello;
  hello.node = node;
  hello.inventory = {"boot-1", kResources, true, "fake", "subreaper", 4242};
  return hello;
}

}  // namespace artel::fakes
