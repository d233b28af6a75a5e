// What a step daemon and its agent read from sockets and files: any bytes are a message or an
// error, and what is a message survives being written and read again.

#include <google/protobuf/stubs/logging.h>

#include <string_view>

#include "samples.h"
#include "seeds.h"
#include "wire/step/frame.h"
#include "wire/step/record_wire.h"
#include "wire/step/step_wire.h"

namespace artel::fuzz {
namespace {

/// Bytes that are no message are expected here, not news.
[[maybe_unused]] const auto kQuiet = google::protobuf::SetLogHandler(nullptr);

const AttemptKey kKey{JobId{17}, TaskIndex{3}, AttemptNo{2}};

template <typename Decode>
void survives(std::string_view bytes, Decode decode) {
  const auto message = decode(bytes);
  if (!message) return;
  const auto again = decode(wire::encode(*message));
  require(again.has_value() && *again == *message);
}

void payload(std::string_view bytes) {
  survives(bytes, wire::decode_to_step);
  survives(bytes, wire::decode_from_step);
  survives(bytes, wire::decode_peer_message);
}

/// The stream comes in pieces whose size is the first byte.
void stream(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t piece = 1U + static_cast<unsigned char>(bytes.front());
  wire::FrameReader reader;
  for (std::size_t at = 1; at < bytes.size(); at += piece) {
    reader.append(bytes.substr(at, piece));
    while (true) {
      const auto next = reader.next();
      if (!next) return;
      if (!*next) break;
      payload(**next);
    }
  }
}

void record(std::string_view bytes) {
  const auto parts = wire::decode_record(bytes);
  if (!parts) return;
  const auto again = wire::decode_record(wire::encode_record(*parts));
  require(again.has_value() && again->spec == parts->spec && again->phase == parts->phase);
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> out;
  const std::vector<ToStep> commands = {
      StepPrepare{full_launch(), "/state/step", true, std::nullopt},
      StepStart{{{"n1", "127.0.0.1", 4000}, {"n2", "host", 1}}}, StepStop{full_cause(), false},
      StepForget{}};
  for (const ToStep& command : commands) {
    out.push_back(wire::encode(command));
    out.push_back(std::string(1, '\x03') + wire::frame(out.back()));
  }
  out.push_back(wire::encode_record({full_launch(), NodePhase::kRunning, std::nullopt, false}));
  out.push_back(
      wire::encode_record({full_launch(), NodePhase::kEnded,
                           NodeEnd{.started = {}, .ended = {}, .cause = full_cause()}, false}));
  return out;
}

}  // namespace artel::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  artel::fuzz::payload(bytes);
  artel::fuzz::stream(bytes);
  artel::fuzz::record(bytes);
  return 0;
}
