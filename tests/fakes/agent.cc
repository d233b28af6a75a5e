#include "fakes/agent.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <utility>

#include "agent.grpc.pb.h"
#include "rpc/status.h"
#include "wire/agent_wire.h"

namespace artel::fakes {

class Agent::Stream {
 public:
  explicit Stream(const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channel_ = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    stream_ = v1::AgentService::NewStub(channel_)->Connect(&context_);
  }
  ~Stream() {
    context_.TryCancel();
    finish();
  }

  bool write(const v1::AgentMessage& message) { return stream_->Write(message); }
  bool read(v1::ControllerMessage& message) { return stream_->Read(&message); }
  /// gRPC allows it once.
  grpc::Status finish() {
    if (!status_) status_ = stream_->Finish();
    return *status_;
  }
  void cancel() { context_.TryCancel(); }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::ControllerMessage>> stream_;
  std::optional<grpc::Status> status_;
};

Agent::Agent(const std::string& address, std::string node)
    : node_(std::move(node)),
      challenge_(rpc::random_challenge()),
      stream_(std::make_unique<Stream>(address)) {}
Agent::~Agent() = default;

Result<v1::ControllerChallenge> Agent::open(std::uint32_t protocol_version) {
  v1::AgentMessage message;
  message.mutable_opening()->set_protocol_version(protocol_version);
  message.mutable_opening()->set_node(node_);
  message.mutable_opening()->set_challenge(challenge_);
  message.mutable_opening()->set_version("fake");
  stream_->write(message);
  auto answer = next();
  if (!answer) return fail(answer);
  if (!answer->has_challenge()) return fail(ErrorCode::kProtocol, "no challenge came");
  return answer->challenge();
}

void Agent::prove(const rpc::NodeKey& key, const v1::ControllerChallenge& challenge,
                  AgentHello hello) {
  v1::AgentMessage message;
  hello.node = node_;
  wire::to_proto(hello, *message.mutable_proof());
  message.mutable_proof()->set_proof(rpc::agent_proof(key, challenge.challenge(), node_));
  stream_->write(message);
}

Result<> Agent::connect(const rpc::NodeKey& key, const AgentHello& hello) {
  const auto challenge = open(wire::kProtocolVersion);
  if (!challenge) return fail(challenge);
  if (!rpc::same_proof(rpc::controller_proof(key, challenge_, node_), challenge->proof())) {
    return fail(ErrorCode::kUnauthenticated, "the controller does not hold the key");
  }
  prove(key, *challenge, hello);
  return {};
}

Error Agent::closed_with() { return rpc::from_status(stream_->finish()); }

Result<v1::ControllerMessage> Agent::next_raw() {
  v1::ControllerMessage message;
  if (!stream_->read(message)) return std::unexpected(closed_with());
  return message;
}

Result<v1::ControllerMessage> Agent::next() {
  for (;;) {
    auto message = next_raw();
    if (!message || !message->has_heartbeat()) return message;
  }
}

Result<ToAgent> Agent::next_command() {
  auto message = next();
  if (!message) return fail(message);
  return wire::from_proto(*message);
}

void Agent::send(const v1::AgentMessage& message) { stream_->write(message); }

void Agent::send(const FromAgent& message) {
  v1::AgentMessage out;
  wire::to_proto(message, out);
  send(out);
}

void Agent::vanish() { stream_->cancel(); }

}  // namespace artel::fakes
