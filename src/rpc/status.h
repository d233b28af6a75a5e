// Error on both sides of a call: Error to grpc::Status and back.
//
// The mapping is the table base/error_codes.def. The row's name travels as an ErrorDetail in the
// status details, so that the other side gets the very code back and not only its coarser gRPC
// status. Thread: pure functions.
#pragma once

#include <grpcpp/support/status.h>

#include "base/result.h"

namespace artel::v1 {
class ErrorDetail;
}

namespace artel::rpc {

/// Longest text that travels in a status. Statuses travel in HTTP headers, whose size peers limit.
inline constexpr std::size_t kMaxStatusText = 3000;

/// The status of an error; its text is cut at kMaxStatusText.
grpc::Status to_status(const Error& error);

/// The error of a status that is not OK. Without (known) details the gRPC status decides, and a
/// call that got no answer is kUnavailable.
Error from_status(const grpc::Status& status);

/// Whether the other side's program answered, as opposed to a connection that failed on the way.
bool is_answer(const grpc::Status& status);

/// For errors inside of replies.
void to_proto(const Error& error, v1::ErrorDetail& out);
Error from_proto(const v1::ErrorDetail& detail);

}  // namespace artel::rpc
