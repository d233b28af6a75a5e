// One unary call between its arrival and its answer.
//
// gRPC keeps request and reply until the call is finished, so work in flight refers to them by
// address. Each call is finished exactly once, by whoever holds it then; it deletes itself
// afterwards. Thread: any.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <functional>
#include <utility>

#include "base/result.h"
#include "rpc/status.h"

namespace artel::ctld {

class Call final : public grpc::ServerUnaryReactor {
 public:
  /// The reply is complete. The call must not be used afterwards; nor after refuse().
  void answer() { Finish(grpc::Status::OK); }
  void refuse(const Error& error) { Finish(rpc::to_status(error)); }

  /// Before the handler returns: called at most once, from a gRPC thread, if the client goes away
  /// before the answer. The call must be finished all the same.
  void on_cancel(std::move_only_function<void()> on_cancel) { on_cancel_ = std::move(on_cancel); }
  [[nodiscard]] bool cancelled() const { return cancelled_; }

  void OnCancel() override {
    cancelled_ = true;
    if (on_cancel_) on_cancel_();
  }
  void OnDone() override { delete this; }

 private:
  ~Call() override = default;

  std::atomic<bool> cancelled_ = false;
  std::move_only_function<void()> on_cancel_;
};

}  // namespace artel::ctld
