#include "rpc/status.h"

#include <array>
#include <catch2/catch.hpp>
#include <string>

#include "types.pb.h"

namespace artel::rpc {
namespace {

constexpr std::array kCodes = {
#define ARTEL_ERROR(enumerator, name, status, exit_code, sentence, remedy) ErrorCode::enumerator,
#include "base/error_codes.def"
#undef ARTEL_ERROR
};

TEST_CASE("every error comes back from its status as it was made") {
  for (const ErrorCode code : kCodes) {
    const Error error{code, "n\xC3\xB6 such\nthing"};
    const grpc::Status status = to_status(error);
    CAPTURE(error_name(code));
    CHECK_FALSE(status.ok());
    CHECK(is_answer(status));
    CHECK(from_status(status) == error);
  }
}

TEST_CASE("codes that share a status are told apart by the details") {
  const auto config = to_status({ErrorCode::kConfig, "x"});
  const auto state = to_status({ErrorCode::kWrongState, "x"});
  REQUIRE(config.error_code() == state.error_code());
  CHECK(from_status(config).code == ErrorCode::kConfig);
  CHECK(from_status(state).code == ErrorCode::kWrongState);
}

TEST_CASE("a status without details gets the code of its gRPC status") {
  const auto code = [](grpc::StatusCode status) { return from_status({status, "x"}).code; };
  CHECK(code(grpc::StatusCode::UNAVAILABLE) == ErrorCode::kUnavailable);
  CHECK(code(grpc::StatusCode::DEADLINE_EXCEEDED) == ErrorCode::kUnavailable);
  CHECK(code(grpc::StatusCode::CANCELLED) == ErrorCode::kUnavailable);
  CHECK(code(grpc::StatusCode::UNAUTHENTICATED) == ErrorCode::kUnauthenticated);
  CHECK(code(grpc::StatusCode::UNIMPLEMENTED) == ErrorCode::kProtocol);
  CHECK(code(grpc::StatusCode::DATA_LOSS) == ErrorCode::kIo);
  CHECK_FALSE(is_answer({grpc::StatusCode::UNAVAILABLE, "x"}));
}

TEST_CASE("details of a newer version fall back to the gRPC status and keep the text") {
  v1::ErrorDetail detail;
  detail.set_name("from-the-future");
  const grpc::Status status(grpc::StatusCode::NOT_FOUND, "no job 4", detail.SerializeAsString());
  CHECK(from_status(status) == Error{ErrorCode::kNotFound, "no job 4"});
  CHECK(from_status({grpc::StatusCode::NOT_FOUND, "no job 4", "\xFF garbage"}).code ==
        ErrorCode::kNotFound);
}

TEST_CASE("a long text is cut at a whole character, so that it fits into headers") {
  std::string text(kMaxStatusText - 1, 'x');
  text += "\xC3\xB6 and more";
  const std::string sent = to_status({ErrorCode::kConfig, text}).error_message();
  CHECK(sent == std::string(kMaxStatusText - 1, 'x') + " [cut]");
}

TEST_CASE("an error inside of a reply comes back; an unknown name is a protocol error") {
  v1::ErrorDetail detail;
  to_proto({ErrorCode::kWrongState, "job 3 has ended"}, detail);
  CHECK(from_proto(detail) == Error{ErrorCode::kWrongState, "job 3 has ended"});
  detail.set_name("nonsense");
  CHECK(from_proto(detail).code == ErrorCode::kProtocol);
  detail.clear_text();
  CHECK_FALSE(from_proto(detail).text.empty());
}

}  // namespace
}  // namespace artel::rpc
