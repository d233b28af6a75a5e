#include "fakes/fake_controller.h"

#include <grpcpp/grpcpp.h>

#include <mutex>
#include <set>
#include <utility>

#include "base/assert.h"
#include "client.grpc.pb.h"
#include "rpc/status.h"
#include "wire/agent_wire.h"

namespace artel::fakes {

class FakeController::Service final : public v1::ClientService::Service {
 public:
  explicit Service(Answers answers) : answers_(std::move(answers)) {}

  void listen() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:" + std::to_string(port_),
                             grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    ARTEL_ASSERT(server_ != nullptr && port_ != 0);
  }

  void close() {
    if (!server_) return;
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
    server_.reset();
  }

  grpc::Status Login(grpc::ServerContext*, const v1::LoginRequest* request,
                     v1::LoginReply* reply) override {
    const std::lock_guard lock(mutex_);
    logins_.push_back(request->munge_credential());
    if (answers_.login) return give(answers_.login(*request), *reply);
    reply->set_protocol_version(wire::kProtocolVersion);
    reply->set_token("token" + std::to_string(logins_.size()));
    reply->set_version("fake");
    tokens_.insert(reply->token());
    return grpc::Status::OK;
  }
  grpc::Status Submit(grpc::ServerContext* context, const v1::SubmitRequest* request,
                      v1::SubmitReply* reply) override {
    return answer(*context, answers_.submit, *request, *reply);
  }
  grpc::Status Wait(grpc::ServerContext* context, const v1::WaitRequest* request,
                    v1::ShowReply* reply) override {
    return answer(*context, answers_.wait, *request, *reply);
  }
  grpc::Status Show(grpc::ServerContext* context, const v1::ShowRequest* request,
                    v1::ShowReply* reply) override {
    return answer(*context, answers_.show, *request, *reply);
  }
  grpc::Status Queue(grpc::ServerContext* context, const v1::QueueRequest* request,
                     v1::QueueReply* reply) override {
    return answer(*context, answers_.queue, *request, *reply);
  }
  grpc::Status ReadOutput(grpc::ServerContext* context, const v1::ReadOutputRequest* request,
                          v1::ReadOutputReply* reply) override {
    return answer(*context, answers_.read_output, *request, *reply);
  }

  template <typename Reply>
  static grpc::Status give(Result<Reply> result, Reply& reply) {
    if (!result) return rpc::to_status(result.error());
    reply = std::move(*result);
    return grpc::Status::OK;
  }

  template <typename Request, typename Reply>
  grpc::Status answer(const grpc::ServerContext& context,
                      const std::function<Result<Reply>(const Request&)>& function,
                      const Request& request, Reply& reply) {
    const std::lock_guard lock(mutex_);
    const auto token = context.client_metadata().find("artel-token");
    if (token == context.client_metadata().end() ||
        !tokens_.contains(std::string(token->second.data(), token->second.size()))) {
      return rpc::to_status({ErrorCode::kUnauthenticated, "the login is unknown here"});
    }
    ++calls_;
    if (!function) return rpc::to_status({ErrorCode::kNotFound, "no answer is scripted"});
    const grpc::Status status = give(function(request), reply);
    if (lost_answers_ == 0) return status;
    --lost_answers_;
    return {grpc::StatusCode::UNAVAILABLE, "the connection broke"};
  }

  Answers answers_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::mutex mutex_;
  std::set<std::string> tokens_;
  std::vector<std::string> logins_;
  int calls_ = 0;
  int lost_answers_ = 0;
};

FakeController::FakeController(Answers answers)
    : service_(std::make_unique<Service>(std::move(answers))) {
  service_->listen();
}
FakeController::~FakeController() { service_->close(); }

std::string FakeController::address() const {
  return "127.0.0.1:" + std::to_string(service_->port_);
}
void FakeController::stop() { service_->close(); }
void FakeController::start() {
  forget_tokens();
  service_->listen();
}
void FakeController::forget_tokens() {
  const std::lock_guard lock(service_->mutex_);
  service_->tokens_.clear();
}
std::vector<std::string> FakeController::logins() const {
  const std::lock_guard lock(service_->mutex_);
  return service_->logins_;
}
int FakeController::calls() const {
  const std::lock_guard lock(service_->mutex_);
  return service_->calls_;
}
void FakeController::lose_answers(int count) {
  const std::lock_guard lock(service_->mutex_);
  service_->lost_answers_ = count;
}

}  // namespace artel::fakes
