// Messages between controller and agents, and job specifications of clients: whatever protobuf
// accepts is mapped or refused, and what is mapped survives being written and read again.

#include <google/protobuf/stubs/logging.h>

#include <string_view>

#include "samples.h"
#include "seeds.h"
#include "wire/agent_wire.h"
#include "wire/step/types_wire.h"

namespace artel::fuzz {
namespace {

/// Bytes that are no message are expected here, not news.
[[maybe_unused]] const auto kQuiet = google::protobuf::SetLogHandler(nullptr);

template <typename Message>
void survives(std::string_view bytes) {
  Message in;
  if (!in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  const auto value = wire::from_proto(in);
  if (!value) return;
  Message out;
  wire::to_proto(*value, out);
  const auto again = wire::from_proto(out);
  require(again.has_value() && *again == *value);
}

void hello(std::string_view bytes) {
  v1::AgentProof in;
  if (!in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  const auto value = wire::from_proto("n1", in);
  if (!value) return;
  v1::AgentProof out;
  wire::to_proto(*value, out);
  const auto again = wire::from_proto("n1", out);
  require(again.has_value() && *again == *value);
}

template <typename Message, typename Value>
std::string bytes_of(const Value& value) {
  Message message;
  wire::to_proto(value, message);
  return message.SerializeAsString();
}

}  // namespace

std::vector<std::string> seeds() {
  const AttemptKey key{JobId{17}, TaskIndex{3}, AttemptNo{2}};
  std::vector<std::string> out = {bytes_of<v1::JobSpec>(full_job())};
  const std::vector<ToAgent> commands = {Prepare{full_launch()},
                                         StartAttempt{key, {{"n1", "127.0.0.1", 4000}}},
                                         EndAttempt{key, full_cause(), true}, ForgetAttempt{key}};
  for (const ToAgent& command : commands) {
    out.push_back(bytes_of<v1::ControllerMessage>(command));
  }
  const std::vector<FromAgent> reports = {AttemptReady{key, 4000},
                                          AttemptRefused{key, full_cause()}};
  for (const FromAgent& report : reports) out.push_back(bytes_of<v1::AgentMessage>(report));
  AgentHello greeting{.node = "n1", .inventory = {}, .attempts = {}};
  greeting.inventory.boot_id = "boot";
  greeting.attempts.push_back({.key = key, .phase = NodePhase::kReady, .port = 4000});
  out.push_back(bytes_of<v1::AgentProof>(greeting));
  return out;
}

}  // namespace artel::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  artel::fuzz::survives<artel::v1::JobSpec>(bytes);
  artel::fuzz::survives<artel::v1::ControllerMessage>(bytes);
  artel::fuzz::survives<artel::v1::AgentMessage>(bytes);
  artel::fuzz::hello(bytes);
  return 0;
}
