// A controller made of scripted answers on a port of the loopback, for tests of clients: it can be
// stopped, started again on the same port with all tokens forgotten, and told what to answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "client.pb.h"

namespace artel::fakes {

/// What the service answers; each is called in a thread of the server, one call at a time.
struct Answers {
  std::function<Result<v1::SubmitReply>(const v1::SubmitRequest&)> submit;
  std::function<Result<v1::ShowReply>(const v1::WaitRequest&)> wait;
  std::function<Result<v1::ShowReply>(const v1::ShowRequest&)> show;
  std::function<Result<v1::QueueReply>(const v1::QueueRequest&)> queue;
  std::function<Result<v1::ReadOutputReply>(const v1::ReadOutputRequest&)> read_output;
  std::function<Result<v1::LoginReply>(const v1::LoginRequest&)> login;  // empty: a fresh token
};

class FakeController {
 public:
  explicit FakeController(Answers answers);
  ~FakeController();
  FakeController(const FakeController&) = delete;
  FakeController& operator=(const FakeController&) = delete;

  [[nodiscard]] std::string address() const;
  void stop();
  /// On the same port; no token of before is known.
  void start();
  /// Tokens given out so far are refused from now on.
  void forget_tokens();
  /// The credentials of all logins, in order.
  [[nodiscard]] std::vector<std::string> logins() const;
  /// Calls other than Login that carried a valid token.
  [[nodiscard]] int calls() const;
  /// The next `count` calls other than Login end without an answer, after they were acted on.
  void lose_answers(int count);

 private:
  class Service;
  std::unique_ptr<Service> service_;
};

}  // namespace artel::fakes
