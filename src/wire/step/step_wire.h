// Step protocol (agent and step daemon, step daemon and step daemon) to bytes and back. Limits are
// checked here, once. All decoders: kProtocol for bytes that are not a message, an unknown kind or
// a value out of range.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/step_protocol.h"

namespace artel::wire {

std::string encode(const ToStep& message);
Result<ToStep> decode_to_step(std::string_view bytes);

std::string encode(const FromStep& message);
Result<FromStep> decode_from_step(std::string_view bytes);

std::string encode(const PeerMessage& message);
Result<PeerMessage> decode_peer_message(std::string_view bytes);

}  // namespace artel::wire
