// The shared messages of types.proto to model types and back.
#pragma once

#include "base/result.h"
#include "model/agent_protocol.h"
#include "model/attempt.h"
#include "model/ending.h"
#include "model/job_spec.h"
#include "types.pb.h"

namespace artel::wire {

void to_proto(const AttemptKey& key, v1::AttemptKey& out);
AttemptKey from_proto(const v1::AttemptKey& in);
void to_proto(const Owner& owner, v1::Owner& out);
Owner from_proto(const v1::Owner& in);
/// Unknown enumerators (of a newer version) become kSystem / kNone and keep their text.
void to_proto(const Cause& cause, v1::Cause& out);
Cause from_proto(const v1::Cause& in);
void to_proto(const NodeResources& resources, v1::NodeResources& out);
NodeResources from_proto(const v1::NodeResources& in);
void to_proto(const NodeEnd& end, v1::NodeEnd& out);
NodeEnd from_proto(const v1::NodeEnd& in);
void to_proto(const StepPeer& peer, v1::StepPeer& out);
StepPeer from_proto(const v1::StepPeer& in);
void to_proto(const LaunchSpec& spec, v1::LaunchSpec& out);
Result<LaunchSpec> from_proto(const v1::LaunchSpec& in);
void to_proto(const JobSpec& spec, v1::JobSpec& out);
/// Without script, environment and client token, which are most of the bytes: for lists.
void to_proto_outline(const JobSpec& spec, v1::JobSpec& out);
/// Error: kProtocol for shapes that no version may send (no component, a GPU amount over the
/// limits, ...).
Result<JobSpec> from_proto(const v1::JobSpec& in);

/// For stores: the spec as bytes, readable by all later versions.
std::string encode_spec(const JobSpec& spec);
Result<JobSpec> decode_spec(std::string_view bytes);

}  // namespace artel::wire
