#include "wire/step/record_wire.h"

#include <fmt/format.h>

#include <utility>

#include "step.pb.h"
#include "wire/step/frame.h"
#include "wire/step/types_wire.h"

namespace artel::wire {
namespace {

constexpr std::uint32_t kRecordVersion = 1;

Result<v1::AttemptRecord> parse(std::string_view bytes) {
  FrameReader reader;
  reader.append(bytes);
  const auto payload = reader.next();
  if (!payload) return fail(payload);
  if (!*payload || frame(**payload).size() != bytes.size()) {
    return fail(ErrorCode::kProtocol, "the record is not whole");
  }
  v1::AttemptRecord in;
  if (!in.ParseFromString(**payload)) {
    return fail(ErrorCode::kProtocol, "the record's bytes are not a record");
  }
  if (in.version() != kRecordVersion) {
    return fail(ErrorCode::kProtocol,
                fmt::format("the record has version {}, this program knows version {}",
                            in.version(), kRecordVersion));
  }
  return in;
}

}  // namespace

std::string encode_record(const RecordParts& record) {
  v1::AttemptRecord out;
  out.set_version(kRecordVersion);
  to_proto(record.spec, *out.mutable_spec());
  out.set_phase(static_cast<std::uint32_t>(record.phase));
  if (record.end) to_proto(*record.end, *out.mutable_end());
  out.set_refused(record.refused);
  return frame(out.SerializeAsString());
}

Result<RecordParts> decode_record(std::string_view bytes) {
  const auto in = parse(bytes);
  if (!in) return fail(in);
  if (in->phase() > static_cast<std::uint32_t>(NodePhase::kEnded)) {
    return fail(ErrorCode::kProtocol, fmt::format("the record has phase {}", in->phase()));
  }
  auto spec = from_proto(in->spec());
  if (!spec) return fail(spec);
  RecordParts record{.spec = std::move(*spec),
                     .phase = static_cast<NodePhase>(in->phase()),
                     .end = std::nullopt,
                     .refused = in->refused()};
  if (in->has_end()) record.end = from_proto(in->end());
  if (record.phase == NodePhase::kEnded && !record.end) {
    return fail(ErrorCode::kProtocol, "the record is of an ended attempt and has no end");
  }
  return record;
}

}  // namespace artel::wire
