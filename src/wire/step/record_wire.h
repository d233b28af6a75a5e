// What an agent keeps of one attempt on its disk, to bytes and back.
//
// Thread: all functions may be called from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/agent_protocol.h"

namespace artel::wire {

/// The parts of an agent's record; the agent core has its own type of the same shape, which wire
/// must not know.
struct RecordParts {
  LaunchSpec spec;
  NodePhase phase = NodePhase::kPreparing;
  std::optional<NodeEnd> end;
  bool refused{};
};

/// A frame (frame.h), so that a file cut short is recognised.
std::string encode_record(const RecordParts& record);

/// Error: kProtocol for bytes that are not exactly one whole record, a later version, a phase out
/// of range, or an ended record without its end.
Result<RecordParts> decode_record(std::string_view bytes);

}  // namespace artel::wire
