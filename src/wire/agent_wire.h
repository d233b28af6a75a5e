// Controller-agent messages of agent.proto to model types and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "agent.pb.h"
#include "base/result.h"
#include "model/agent_protocol.h"

namespace artel::wire {

/// Version of both conversations; a side that cannot serve the other's version says so and closes.
inline constexpr std::uint32_t kProtocolVersion = 1;

void to_proto(const ToAgent& message, v1::ControllerMessage& out);
/// Commands only; the caller handles challenge, heartbeat and read_output. Error: kProtocol.
Result<ToAgent> from_proto(const v1::ControllerMessage& in);

void to_proto(const FromAgent& message, v1::AgentMessage& out);
Result<FromAgent> from_proto(const v1::AgentMessage& in);

/// Agents keep their list of peers in this form as well. Error: kProtocol.
void to_proto(const WatchPeers& message, v1::WatchPeers& out);
Result<WatchPeers> from_proto(const v1::WatchPeers& in);

/// Inventory and attempts of the hello; `proof` is set by the caller.
void to_proto(const AgentHello& hello, v1::AgentProof& out);
Result<AgentHello> from_proto(const std::string& node, const v1::AgentProof& in);

}  // namespace artel::wire
