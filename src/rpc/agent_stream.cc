#include "rpc/agent_stream.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <time.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "rpc/agent_session.h"
#include "rpc/status.h"
#include "wire/agent_wire.h"
#include "wire/step/frame.h"

namespace artel::rpc {
namespace {

constexpr Duration kTick{200};

/// A channel of its own for each try: gRPC's own waiting between tries would come on top of ours.
std::shared_ptr<grpc::Channel> dial(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(static_cast<int>(wire::kMaxFrame));
  arguments.SetMaxSendMessageSize(static_cast<int>(wire::kMaxFrame));
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

Duration time_since_boot() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::duration_cast<Duration>(std::chrono::seconds{time.tv_sec} +
                                              std::chrono::nanoseconds{time.tv_nsec});
}

class AgentStream::Dialler {
 public:
  Dialler(AgentStreamOptions options, AgentStreamEvents events)
      : options_(std::move(options)),
        events_(std::move(events)),
        pause_(options_.first_pause),
        random_(std::random_device{}()) {}

  void start() {
    thread_ = std::thread([this] { run(); });
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      if (session_) session_->close({ErrorCode::kUnavailable, "the agent stops"});
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  /// Nothing where that session is over.
  template <typename Action>
  void with(SessionId id, Action action) {
    std::shared_ptr<AgentClientSession> session;
    {
      const std::lock_guard lock(mutex_);
      if (session_ && session_->id() == id) session = session_;
    }
    if (session) action(*session);
  }

 private:
  void run() {
    while (!stopping()) {
      const SessionId id{++last_session_};
      const auto key = read_key_file(options_.key_file);
      if (!key) {
        events_.lost(id, key.error());
      } else {
        serve(id, *key);
      }
      sleep();
    }
  }

  /// One session from dialling to its end.
  void serve(SessionId id, const NodeKey& key) {
    const auto channel = dial(options_.address);
    const auto session = std::make_shared<AgentClientSession>(options_, events_, id, key);
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      session_ = session;
      session->start(channel);
    }
    while (!session->wait_done(kTick)) session->tick();
    {
      const std::lock_guard lock(mutex_);
      session_.reset();
    }
    if (session->was_open()) pause_ = options_.first_pause;
    events_.lost(id, session->reason());
  }

  void sleep() {
    std::uniform_int_distribution<Duration::rep> jitter(pause_.count() / 2, pause_.count());
    const Duration pause{jitter(random_)};
    pause_ = std::min(pause_ * 2, options_.longest_pause);
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, pause, [this] { return stopping_; });
  }

  bool stopping() {
    const std::lock_guard lock(mutex_);
    return stopping_;
  }

  const AgentStreamOptions options_;
  const AgentStreamEvents events_;
  std::uint64_t last_session_ = 0;  // this and the next two: the thread's
  Duration pause_;
  std::minstd_rand random_;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::shared_ptr<AgentClientSession> session_;
  std::thread thread_;
};

AgentStream::AgentStream(AgentStreamOptions options, AgentStreamEvents events)
    : dialler_(std::make_unique<Dialler>(std::move(options), std::move(events))) {}

AgentStream::~AgentStream() { stop(); }

void AgentStream::start() { dialler_->start(); }

void AgentStream::stop() { dialler_->stop(); }

void AgentStream::open(SessionId session, const AgentHello& hello) {
  dialler_->with(session, [&](AgentClientSession& open) { open.open(hello); });
}

void AgentStream::close(SessionId session, const Error& why) {
  dialler_->with(session, [&](AgentClientSession& open) { open.close(why); });
}

void AgentStream::send(SessionId session, const FromAgent& message) {
  dialler_->with(session, [&](AgentClientSession& open) {
    v1::AgentMessage out;
    wire::to_proto(message, out);
    open.send(std::move(out));
  });
}

void AgentStream::send_output(SessionId session, std::uint64_t request,
                              Result<OutputAnswer> answer) {
  dialler_->with(session, [&](AgentClientSession& open) {
    v1::AgentMessage out;
    v1::OutputChunk& chunk = *out.mutable_output();
    chunk.set_request(request);
    if (answer) {
      chunk.set_data(std::move(answer->data));
      chunk.set_file_size_bytes(answer->file_size);
    } else {
      to_proto(answer.error(), *chunk.mutable_error());
    }
    open.send(std::move(out));
  });
}

}  // namespace artel::rpc
