#include "rpc/client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <random>
#include <utility>

#include "client.grpc.pb.h"
#include "rpc/credential.h"
#include "rpc/retry.h"
#include "rpc/status.h"
#include "wire/agent_wire.h"

namespace artel::rpc {
namespace {

using Clock = std::chrono::steady_clock;
using Service = v1::ClientService;

/// An outage shorter than this is nobody's business.
constexpr Duration kQuietOutage{1000};
/// How long an interruption may have to wait.
constexpr std::chrono::milliseconds kLookAtChannel{50};
/// A token may be refused when a connection breaks between login and call, but not again and again.
constexpr int kMaxRefusedTokens = 5;

grpc::ChannelArguments channel_arguments() {
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);  // also the limit of one attempt to connect
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);               // ours know what may be repeated
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY,
              0);  // the controller is inside; proxies are for the world
  args.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  args.SetInt(GRPC_ARG_MAX_METADATA_SIZE, 64 * 1024);
  args.SetMaxReceiveMessageSize(512 * 1024 * 1024);  // a listing of a million jobs
  return args;
}

/// gRPC aborts the process on metadata that HTTP does not allow.
bool is_metadata_value(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

/// gRPC wraps the system's word ("Connection refused") in layers of its own.
std::string connection_reason(const std::string& message) {
  const bool is_wrapped = message.starts_with("failed to connect to all addresses");
  const auto last = message.rfind(": ");
  return is_wrapped && last != std::string::npos ? message.substr(last + 2) : message;
}

Duration since(Clock::time_point start) {
  return std::chrono::duration_cast<Duration>(Clock::now() - start);
}

}  // namespace

class Client::Connection {
 public:
  explicit Connection(ClientOptions options)
      : options_(std::move(options)),
        patience_(options_.connect_timeout),
        channel_(grpc::CreateCustomChannel(options_.address, grpc::InsecureChannelCredentials(),
                                           channel_arguments())),
        stub_(Service::NewStub(channel_)) {}

  template <typename Request, typename Reply>
  using Method = grpc::Status (Service::Stub::*)(grpc::ClientContext*, const Request&, Reply*);

  /// One call with login, retries and translation of errors. `extra` is what it waits by design.
  /// An answer "unavailable" comes from a controller that is stopping, except where the answer is
  /// about a node.
  template <typename Request, typename Reply>
  Result<Reply> call(Method<Request, Reply> method, const Request& request, Duration extra = {},
                     bool unavailable_is_answer = false) {
    Outage outage(*this);
    int refused_tokens = 0;
    for (;;) {
      if (token_.empty()) {
        auto reply = login(outage);
        if (!reply) return fail(reply);
      }
      Reply reply;
      const grpc::Status status = once(method, request, reply, options_.call_timeout + extra);
      if (status.ok()) {
        outage.over();
        return reply;
      }
      if (status.error_code() == grpc::StatusCode::UNAUTHENTICATED &&
          ++refused_tokens <= kMaxRefusedTokens) {
        token_.clear();
      } else if (unavailable_is_answer && is_answer(status)) {
        return std::unexpected(from_status(status));
      } else if (auto again = outage.pause(status); !again) {
        return fail(again);
      }
    }
  }

  Result<v1::LoginReply> login() {
    Outage outage(*this);
    auto reply = login(outage);
    if (reply) outage.over();
    return reply;
  }

  void set_patience(Duration patience) { patience_ = patience; }
  void on_trouble(TroubleListener listener) { listener_ = std::move(listener); }

  void interrupt() {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    if (context_ != nullptr) context_->TryCancel();
    wake_.notify_all();
  }
  void resume() { interrupted_ = false; }
  [[nodiscard]] bool interrupted() const { return interrupted_; }

 private:
  /// What happens between the first failure of a call and its end.
  class Outage {
   public:
    explicit Outage(Connection& connection) : connection_(connection) {}

    /// Pauses before the next try. Error: the call is over, with the error that its caller gets.
    Result<> pause(const grpc::Status& status) {
      if (connection_.interrupted_) return fail(ErrorCode::kUnavailable, "interrupted");
      if (!is_transport(status)) return std::unexpected(from_status(status));
      if (!retry_) {
        start_ = Clock::now();
        retry_.emplace(connection_.patience(), std::random_device{}());
      }
      const auto pause = retry_->next_pause(since(start_));
      const Error error = connection_.unreachable(status);
      if (!pause) return std::unexpected(error);
      if (!told_ && since(start_) >= kQuietOutage && connection_.listener_) {
        told_ = true;
        connection_.listener_(true, error.text);
      }
      connection_.sleep(*pause);
      return {};
    }

    void over() {
      if (told_) connection_.listener_(false, "");
    }

    [[nodiscard]] Duration left() const {
      return retry_ ? connection_.patience() - since(start_) : connection_.patience();
    }

   private:
    static bool is_transport(const grpc::Status& status) {
      return status.error_code() == grpc::StatusCode::UNAVAILABLE ||
             status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
    }

    Connection& connection_;
    std::optional<Retry> retry_;
    Clock::time_point start_;
    bool told_ = false;
  };

  Result<v1::LoginReply> login(Outage& outage) {
    for (;;) {
      auto credential = options_.make_credential ? options_.make_credential()
                                                 : make_login_credential(options_.munge_socket);
      if (!credential) return fail(credential);
      v1::LoginRequest request;
      request.set_protocol_version(wire::kProtocolVersion);
      request.set_munge_credential(*credential);
      request.set_version(options_.version);
      v1::LoginReply reply;
      const Duration limit = std::clamp(outage.left(), Duration{100}, options_.connect_timeout);
      const grpc::Status status = once(&Service::Stub::Login, request, reply, limit);
      if (status.ok()) return accept(std::move(reply));
      if (auto again = outage.pause(status); !again) return fail(again);
    }
  }

  Result<v1::LoginReply> accept(v1::LoginReply reply) {
    if (reply.protocol_version() != wire::kProtocolVersion) {
      return fail(ErrorCode::kProtocol,
                  "the controller at " + options_.address + " (version " + reply.version() +
                      ") speaks protocol " + std::to_string(reply.protocol_version()) +
                      ", this command speaks " + std::to_string(wire::kProtocolVersion));
    }
    if (!is_metadata_value(reply.token())) {
      return fail(ErrorCode::kProtocol, "the controller at " + options_.address +
                                            " answered a login without a usable token");
    }
    token_ = reply.token();
    was_connected_ = true;
    return reply;
  }

  template <typename Request, typename Reply>
  grpc::Status once(Method<Request, Reply> method, const Request& request, Reply& reply,
                    Duration limit) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + limit);
    if (!token_.empty()) context.AddMetadata("artel-token", token_);
    {
      const std::lock_guard lock(mutex_);
      if (interrupted_) return {grpc::StatusCode::CANCELLED, "interrupted"};
      context_ = &context;
    }
    const grpc::Status status = (stub_.get()->*method)(&context, request, &reply);
    const std::lock_guard lock(mutex_);
    context_ = nullptr;
    return status;
  }

  [[nodiscard]] Duration patience() const {
    return was_connected_ ? patience_ : options_.connect_timeout;
  }

  /// Until the pause is over, the channel is connected anew, or somebody interrupts. No thread of
  /// gRPC connects for us: without a look at the channel now and then it would notice neither
  /// failure nor success before its own time limit.
  void sleep(Duration pause) {
    const auto end = std::chrono::system_clock::now() + pause;
    const bool was_connected = channel_->GetState(true) == GRPC_CHANNEL_READY;
    while (!interrupted_ && std::chrono::system_clock::now() < end) {
      const auto slice = std::min(end, std::chrono::system_clock::now() + kLookAtChannel);
      if (!channel_->WaitForConnected(slice)) continue;
      if (!was_connected) return;
      std::unique_lock lock(mutex_);
      wake_.wait_until(lock, end, [this] { return interrupted_.load(); });
    }
  }

  [[nodiscard]] Error unreachable(const grpc::Status& status) const {
    if (is_answer(status)) return from_status(status);
    const std::string reason = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED
                                   ? "no answer in time"
                                   : connection_reason(status.error_message());
    return {ErrorCode::kUnavailable, "the controller at " + options_.address +
                                         " cannot be reached: " + reason +
                                         "; check that artel-ctld runs there"};
  }

  const ClientOptions options_;
  Duration patience_;
  bool was_connected_ = false;
  TroubleListener listener_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Service::Stub> stub_;
  std::string token_;

  std::mutex mutex_;
  std::condition_variable wake_;
  grpc::ClientContext* context_ = nullptr;  // of the call that runs; guarded by mutex_
  std::atomic<bool> interrupted_ = false;
};

Client::Client(ClientOptions options)
    : connection_(std::make_unique<Connection>(std::move(options))) {}
Client::~Client() = default;

Result<v1::LoginReply> Client::login() { return connection_->login(); }

Result<v1::SubmitReply> Client::submit(const v1::SubmitRequest& request) {
  return connection_->call(&Service::Stub::Submit, request);
}
Result<v1::JobOutcomes> Client::cancel(const v1::CancelRequest& request) {
  return connection_->call(&Service::Stub::Cancel, request);
}
Result<v1::JobOutcomes> Client::hold(const v1::HoldRequest& request) {
  return connection_->call(&Service::Stub::Hold, request);
}
Result<v1::JobOutcomes> Client::requeue(const v1::RequeueRequest& request) {
  return connection_->call(&Service::Stub::Requeue, request);
}
Result<v1::JobOutcomes> Client::update(const v1::UpdateRequest& request) {
  return connection_->call(&Service::Stub::Update, request);
}
Result<v1::NodeOutcomes> Client::drain(const v1::DrainRequest& request) {
  return connection_->call(&Service::Stub::Drain, request);
}
Result<v1::ExplainReply> Client::explain(const v1::ExplainRequest& request) {
  return connection_->call(&Service::Stub::Explain, request);
}
Result<v1::WhatIfReply> Client::what_if(const v1::WhatIfRequest& request) {
  return connection_->call(&Service::Stub::WhatIf, request);
}
Result<v1::QueueReply> Client::queue(const v1::QueueRequest& request) {
  return connection_->call(&Service::Stub::Queue, request);
}
Result<v1::ShowReply> Client::show(const v1::ShowRequest& request) {
  return connection_->call(&Service::Stub::Show, request);
}
Result<v1::ShowReply> Client::wait(const v1::WaitRequest& request) {
  return connection_->call(&Service::Stub::Wait, request, Duration{request.timeout_ms()});
}
Result<v1::NodesReply> Client::nodes(const v1::NodesRequest& request) {
  return connection_->call(&Service::Stub::Nodes, request);
}
Result<v1::HistoryReply> Client::history(const v1::HistoryRequest& request) {
  return connection_->call(&Service::Stub::History, request);
}
Result<v1::UsageReply> Client::usage(const v1::UsageRequest& request) {
  return connection_->call(&Service::Stub::Usage, request);
}
Result<v1::ReadOutputReply> Client::read_output(const v1::ReadOutputRequest& request) {
  return connection_->call(&Service::Stub::ReadOutput, request, Duration{}, true);
}
Result<v1::LostAndFoundReply> Client::lost_and_found(const v1::LostAndFoundRequest& request) {
  return connection_->call(&Service::Stub::LostAndFound, request);
}

void Client::set_patience(Duration patience) { connection_->set_patience(patience); }
void Client::on_trouble(TroubleListener listener) { connection_->on_trouble(std::move(listener)); }
void Client::interrupt() { connection_->interrupt(); }
void Client::resume() { connection_->resume(); }
bool Client::interrupted() const { return connection_->interrupted(); }

}  // namespace artel::rpc
