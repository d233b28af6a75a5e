// Login and the check of every later call: who asks.
//
// Thread: any. Credentials are decoded on the workers, since munged and the name service may take
// their time.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "client.pb.h"
#include "ctld/core/controller.h"
#include "ctld/services/token_table.h"
#include "model/job_spec.h"

namespace grpc {
class CallbackServerContext;
}

namespace artel::ctld {

class Call;
class ControlLoop;
class WorkerPool;

/// The account that made a credential; rpc::identify in the product. May block.
using Identify = std::function<Result<Owner>(const std::string& credential)>;

/// The names of the groups that the account is in; rpc::groups_of in the product. May block.
using FindGroups = std::function<std::vector<std::string>(const Owner& owner)>;

struct LoginOptions {
  std::string cluster;
  std::string version;
  std::vector<std::string> operators;
  TokenTable::Options tokens;
  FindGroups groups;  // null: nobody is in any
};

class Login {
 public:
  Login(LoginOptions options, Identify identify, WorkerPool& workers, const ControlLoop& clock);

  /// Answers the call, or gives the error to refuse it with.
  Result<> login(Call& call, const grpc::CallbackServerContext& context,
                 const v1::LoginRequest& request, v1::LoginReply& reply);

  /// The caller of any other call. Error: kUnauthenticated.
  Result<std::shared_ptr<const Caller>> caller(const grpc::CallbackServerContext& context);

 private:
  void admit(Call& call, const std::string& peer, const v1::LoginRequest& request,
             v1::LoginReply& reply);

  const LoginOptions options_;
  const std::set<std::string> operators_;
  const Identify identify_;
  WorkerPool& workers_;
  const ControlLoop& clock_;
  TokenTable tokens_;
};

}  // namespace artel::ctld
