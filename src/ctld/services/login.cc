#include "ctld/services/login.h"

#include <fmt/format.h>
#include <grpcpp/server_context.h>

#include <string_view>
#include <utility>

#include "ctld/services/call.h"
#include "ctld/services/control_loop.h"
#include "ctld/services/worker_pool.h"
#include "wire/agent_wire.h"
#include "wire/step/types_wire.h"

namespace artel::ctld {
namespace {

constexpr const char* kTokenMetadata = "artel-token";

}  // namespace

Login::Login(LoginOptions options, Identify identify, WorkerPool& workers, const ControlLoop& clock)
    : options_(std::move(options)),
      operators_(options_.operators.begin(), options_.operators.end()),
      identify_(std::move(identify)),
      workers_(workers),
      clock_(clock),
      tokens_(options_.tokens) {}

Result<> Login::login(Call& call, const grpc::CallbackServerContext& context,
                      const v1::LoginRequest& request, v1::LoginReply& reply) {
  if (request.protocol_version() != wire::kProtocolVersion) {
    return fail(ErrorCode::kProtocol,
                fmt::format("the client (version {}) speaks protocol {}, this controller (version "
                            "{}) speaks {}; install the same version of Artel on both",
                            request.version(), request.protocol_version(), options_.version,
                            wire::kProtocolVersion));
  }
  return workers_.post([this, &call, peer = context.peer(), &request, &reply](std::size_t) {
    admit(call, peer, request, reply);
  });
}

void Login::admit(Call& call, const std::string& peer, const v1::LoginRequest& request,
                  v1::LoginReply& reply) {
  auto owner = identify_(request.munge_credential());
  if (!owner) {
    call.refuse(owner.error());
    return;
  }
  wire::to_proto(*owner, *reply.mutable_caller());
  Caller caller{.owner = *owner, .is_operator = operators_.contains(owner->user)};
  if (options_.groups) caller.groups = options_.groups(*owner);
  reply.set_token(tokens_.issue(peer, std::move(caller), clock_.now()));
  reply.set_protocol_version(wire::kProtocolVersion);
  reply.set_cluster(options_.cluster);
  reply.set_version(options_.version);
  call.answer();
}

Result<std::shared_ptr<const Caller>> Login::caller(const grpc::CallbackServerContext& context) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find(kTokenMetadata);
  if (found == metadata.end()) {
    return fail(ErrorCode::kUnauthenticated, "the call carries no token; log in first");
  }
  const std::string_view token(found->second.data(), found->second.size());
  return tokens_.find(token, context.peer(), clock_.now());
}

}  // namespace artel::ctld
