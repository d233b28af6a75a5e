#include "rpc/agent_stream.h"

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>

#include "agent.grpc.pb.h"
#include "rpc/node_key.h"

namespace artel::rpc {
namespace {

using Stream = grpc::ServerReaderWriter<v1::ControllerMessage, v1::AgentMessage>;

/// Things that other threads hand to the test.
template <typename Thing>
class Box {
 public:
  void put(Thing thing) {
    const std::lock_guard lock(mutex_);
    things_.push_back(std::move(thing));
    changed_.notify_all();
  }
  /// The next thing; the test fails if none comes within 20 s.
  Thing take() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(20), [this] { return !things_.empty(); })) {
      throw std::runtime_error("nothing came");
    }
    Thing thing = std::move(things_.front());
    things_.pop_front();
    return thing;
  }
  bool empty() {
    const std::lock_guard lock(mutex_);
    return things_.empty();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Thing> things_;
};

/// The next message that is no heartbeat.
bool read_event(Stream& stream, v1::AgentMessage& in) {
  while (stream.Read(&in))
    if (!in.has_heartbeat()) return true;
  return false;
}

/// A controller that plays the given script on each stream.
class Controller final : public v1::AgentService::Service {
 public:
  using Script = std::function<void(Stream&)>;

  explicit Controller(Script script) : script_(std::move(script)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~Controller() override {
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
  }
  grpc::Status Connect(grpc::ServerContext* context, Stream* stream) override {
    static_cast<void>(context);
    script_(*stream);
    return grpc::Status::OK;
  }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  Script script_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

/// A folder with the node's key.
struct KeyFolder {
  std::filesystem::path path;
  KeyFolder() {
    std::string pattern = "/tmp/artel-agent-stream.XXXXXX";
    path = ::mkdtemp(pattern.data());
    REQUIRE(generate_key_file(file()));
  }
  KeyFolder(const KeyFolder&) = delete;
  KeyFolder& operator=(const KeyFolder&) = delete;
  ~KeyFolder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::filesystem::path file() const { return path / "hgx01.key"; }
  [[nodiscard]] NodeKey key() const { return read_key_file(file()).value(); }
};

/// The controller's part of the handshake: answers the opening; then the agent's next message.
std::optional<v1::AgentMessage> shake_hands(Stream& stream, const NodeKey& key,
                                            const std::string& challenge = random_challenge()) {
  v1::AgentMessage in;
  if (!stream.Read(&in)) return std::nullopt;
  v1::ControllerMessage out;
  out.mutable_challenge()->set_protocol_version(1);
  out.mutable_challenge()->set_incarnation(7);
  out.mutable_challenge()->set_challenge(challenge);
  out.mutable_challenge()->set_proof(
      controller_proof(key, in.opening().challenge(), in.opening().node()));
  stream.Write(out);
  if (!stream.Read(&in)) return std::nullopt;
  return in;
}

void read_to_end(Stream& stream) {
  v1::AgentMessage in;
  while (stream.Read(&in)) {
  }
}

struct Agent {
  Box<std::pair<SessionId, Incarnation>> proved;
  Box<std::pair<SessionId, ToAgent>> commands;
  Box<std::pair<SessionId, OutputQuestion>> questions;
  Box<Duration> answered;
  Box<std::pair<SessionId, Error>> lost;
  AgentStream stream;

  Agent(const std::string& address, const KeyFolder& keys, Duration silence, Duration beat)
      : stream(
            {.address = address,
             .node = "hgx01",
             .key_file = keys.file(),
             .version = "1",
             .beat = beat,
             .silence = silence,
             .first_pause = Duration{10},
             .longest_pause = Duration{50}},
            {.proved = [this](SessionId id, Incarnation at) { proved.put({id, at}); },
             .command = [this](SessionId id, ToAgent what) { commands.put({id, std::move(what)}); },
             .output = [this](SessionId id,
                              OutputQuestion what) { questions.put({id, std::move(what)}); },
             .answered = [this](SessionId, Duration sent) { answered.put(sent); },
             .lost = [this](SessionId id, Error why) { lost.put({id, std::move(why)}); }}) {
    stream.start();
  }
  Agent(const std::string& address, const KeyFolder& keys)
      : Agent(address, keys, std::chrono::seconds(20), std::chrono::seconds(5)) {}
};

const AttemptKey kKey{JobId{5}, TaskIndex{0}, AttemptNo{1}};

AgentHello hello() { return {.node = "hgx01", .inventory = {.boot_id = "boot"}, .attempts = {}}; }

TEST_CASE("both sides prove the key, then the full state leaves, then commands and events pass") {
  const KeyFolder keys;
  Box<v1::AgentMessage> seen;
  const std::string challenge = random_challenge();
  Controller controller([&](Stream& stream) {
    const auto proof = shake_hands(stream, keys.key(), challenge);
    if (!proof) return;
    seen.put(*proof);
    v1::ControllerMessage out;
    auto& forget = *out.mutable_forget()->mutable_key();
    forget.set_job(5);
    forget.set_attempt(1);
    stream.Write(out);
    v1::AgentMessage in;
    if (read_event(stream, in)) seen.put(in);
    read_to_end(stream);
  });
  Agent agent(controller.address(), keys);
  const auto [session, incarnation] = agent.proved.take();
  CHECK(incarnation == Incarnation{7});
  CHECK(seen.empty());
  agent.stream.open(session, hello());
  const auto proof = seen.take();
  REQUIRE(proof.has_proof());
  CHECK(proof.proof().proof() == agent_proof(keys.key(), challenge, "hgx01"));
  CHECK(proof.proof().inventory().boot_id() == "boot");
  const auto [of, command] = agent.commands.take();
  CHECK(of == session);
  CHECK(std::get<ForgetAttempt>(command).key == kKey);
  agent.stream.send(session, AttemptReady{kKey, 4711});
  const auto ready = seen.take();
  REQUIRE(ready.has_ready());
  CHECK(ready.ready().port() == 4711);
}

TEST_CASE("a controller that does not hold the node's key is told name and challenge only") {
  const KeyFolder keys;
  const KeyFolder others;
  Box<bool> more;
  Controller controller(
      [&](Stream& stream) { more.put(shake_hands(stream, others.key()).has_value()); });
  Agent agent(controller.address(), keys);
  const auto [session, why] = agent.lost.take();
  CHECK(why.code == ErrorCode::kUnauthenticated);
  CHECK(why.text.find("hgx01.key") != std::string::npos);
  CHECK_FALSE(more.take());
  CHECK(agent.proved.empty());
}

TEST_CASE("a controller that the owner refuses gets no state") {
  const KeyFolder keys;
  Box<bool> more;
  Controller controller(
      [&](Stream& stream) { more.put(shake_hands(stream, keys.key()).has_value()); });
  Agent agent(controller.address(), keys);
  const auto [session, incarnation] = agent.proved.take();
  agent.stream.close(session, {ErrorCode::kWrongState, "too old"});
  const auto [of, why] = agent.lost.take();
  CHECK(of == session);
  CHECK(why.text == "too old");
  CHECK_FALSE(more.take());
}

TEST_CASE("silence is a lost contact, and the agent dials again") {
  const KeyFolder keys;
  Controller controller([&](Stream& stream) {
    if (shake_hands(stream, keys.key())) read_to_end(stream);
  });
  Agent agent(controller.address(), keys, Duration{300}, Duration{20});
  const auto first = agent.proved.take().first;
  agent.stream.open(first, hello());
  const auto [session, why] = agent.lost.take();
  CHECK(session == first);
  CHECK(why.code == ErrorCode::kUnavailable);
  CHECK(why.text.find("nothing heard") != std::string::npos);
  CHECK(agent.proved.take().first != first);
}

TEST_CASE("a controller that answers nothing at all is given up, too") {
  const KeyFolder keys;
  Controller controller([](Stream& stream) { read_to_end(stream); });
  Agent agent(controller.address(), keys, Duration{200}, Duration{20});
  CHECK(agent.lost.take().second.code == ErrorCode::kUnavailable);
  CHECK(agent.lost.take().second.code == ErrorCode::kUnavailable);
}

TEST_CASE("heartbeats keep a quiet stream in contact") {
  const KeyFolder keys;
  Box<v1::AgentMessage> seen;
  Controller controller([&](Stream& stream) {
    if (!shake_hands(stream, keys.key())) return;
    v1::AgentMessage in;
    while (stream.Read(&in)) {
      seen.put(in);
      v1::ControllerMessage out;
      out.mutable_heartbeat()->set_sent_ms(1);
      stream.Write(out);
    }
  });
  Agent agent(controller.address(), keys, std::chrono::seconds(5), Duration{10});
  agent.stream.open(agent.proved.take().first, hello());
  for (int i = 0; i < 3; ++i) CHECK(seen.take().has_heartbeat());
  CHECK(agent.lost.empty());
}

TEST_CASE("a controller that answers a beat proves that it has heard what was sent then") {
  const KeyFolder keys;
  Box<std::int64_t> sent;
  Controller controller([&](Stream& stream) {
    if (!shake_hands(stream, keys.key())) return;
    v1::AgentMessage in;
    if (!stream.Read(&in)) return;  // the first beat comes at once
    sent.put(in.heartbeat().up_ms());
    v1::ControllerMessage out;
    out.mutable_heartbeat()->set_sent_ms(1);
    stream.Write(out);  // a beat of its own proves nothing
    out.mutable_heartbeat()->set_echo_ms(in.heartbeat().up_ms());
    stream.Write(out);
    stream.Read(&in);
  });
  Agent agent(controller.address(), keys, std::chrono::seconds(5), std::chrono::minutes(1));
  agent.stream.open(agent.proved.take().first, hello());
  const std::int64_t up = sent.take();
  CHECK(up > 0);
  CHECK(agent.answered.take() == Duration{up});
}

TEST_CASE("what was meant for a session that is over never reaches the next one") {
  const KeyFolder keys;
  Box<v1::AgentMessage> seen;
  std::atomic<int> streams = 0;
  Controller controller([&](Stream& stream) {
    const auto proof = shake_hands(stream, keys.key());
    if (!proof || ++streams == 1) return;  // the first stream breaks after the hello
    v1::AgentMessage in;
    while (read_event(stream, in)) seen.put(in);
  });
  Agent agent(controller.address(), keys);
  const auto first = agent.proved.take().first;
  agent.stream.open(first, hello());
  CHECK(agent.lost.take().first == first);
  const auto second = agent.proved.take().first;
  agent.stream.send(second, AttemptReady{kKey, 1});  // before the hello: no session yet
  agent.stream.open(second, hello());
  agent.stream.send(first, AttemptReady{kKey, 2});
  agent.stream.send(second, AttemptReady{kKey, 3});
  CHECK(seen.take().ready().port() == 3);
}

TEST_CASE("output is asked for and answered with data or with the error's name") {
  const KeyFolder keys;
  Box<v1::AgentMessage> seen;
  Controller controller([&](Stream& stream) {
    if (!shake_hands(stream, keys.key())) return;
    v1::ControllerMessage out;
    auto& read = *out.mutable_read_output();
    read.set_request(3);
    read.set_path("/home/alice/out");
    read.mutable_owner()->set_uid(1001);
    read.set_offset_bytes(10);
    read.set_max_bytes(100);
    stream.Write(out);
    v1::AgentMessage in;
    while (read_event(stream, in)) seen.put(in);
  });
  Agent agent(controller.address(), keys);
  const auto session = agent.proved.take().first;
  agent.stream.open(session, hello());
  const auto question = agent.questions.take().second;
  CHECK(question.path == "/home/alice/out");
  CHECK(question.owner.uid == 1001);
  CHECK(question.offset == 10);
  agent.stream.send_output(session, 3, OutputAnswer{.data = "lines", .file_size = 15});
  agent.stream.send_output(session, 4, fail(ErrorCode::kNotFound, "no file"));
  const auto data = seen.take().output();
  CHECK(data.request() == 3);
  CHECK(data.data() == "lines");
  CHECK(data.file_size_bytes() == 15);
  const auto error = seen.take().output();
  CHECK(error.error().name() == "not-found");
  CHECK(error.error().text() == "no file");
}

TEST_CASE("a missing key and a missing controller are told, and tried again for ever") {
  KeyFolder keys;
  Agent agent("127.0.0.1:1", keys);
  CHECK(agent.lost.take().second.code == ErrorCode::kUnavailable);
  std::filesystem::remove(keys.file());
  Error why = agent.lost.take().second;
  for (int i = 0; i < 3 && why.code != ErrorCode::kNotFound; ++i) why = agent.lost.take().second;
  CHECK(why.code == ErrorCode::kNotFound);
}

}  // namespace
}  // namespace artel::rpc
