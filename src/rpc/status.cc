#include "rpc/status.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "types.pb.h"

namespace artel::rpc {
namespace {

struct StatusRow {
  ErrorCode code;
  grpc::StatusCode status;
};

constexpr std::array kRows = {
#define ARTEL_ERROR(enumerator, name, status, exit_code, sentence, remedy) \
  StatusRow{ErrorCode::enumerator, grpc::StatusCode::status},
#include "base/error_codes.def"
#undef ARTEL_ERROR
};

std::optional<ErrorCode> code_of_name(std::string_view name) {
  for (const StatusRow& row : kRows) {
    if (error_name(row.code) == name) return row.code;
  }
  return std::nullopt;
}

ErrorCode code_of_status(grpc::StatusCode status) {
  switch (status) {
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::CANCELLED:
      return ErrorCode::kUnavailable;
    case grpc::StatusCode::UNIMPLEMENTED:
      return ErrorCode::kProtocol;
    default:
      break;
  }
  for (const StatusRow& row : kRows) {
    if (row.status == status) return row.code;
  }
  return ErrorCode::kIo;
}

/// Cuts at the border of a UTF-8 character.
std::string cut(const std::string& text) {
  if (text.size() <= kMaxStatusText) return text;
  std::size_t end = kMaxStatusText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + " [cut]";
}

}  // namespace

grpc::Status to_status(const Error& error) {
  v1::ErrorDetail detail;
  detail.set_name(std::string(error_name(error.code)));
  return {kRows.at(static_cast<std::size_t>(error.code)).status, cut(error.text),
          detail.SerializeAsString()};
}

Error from_status(const grpc::Status& status) {
  Error error{code_of_status(status.error_code()), status.error_message()};
  v1::ErrorDetail detail;
  if (is_answer(status) && detail.ParseFromString(status.error_details())) {
    if (const auto code = code_of_name(detail.name())) error.code = *code;
    if (!detail.text().empty()) error.text = detail.text();
  }
  if (error.text.empty()) error.text = std::string(error_sentence(error.code));
  return error;
}

bool is_answer(const grpc::Status& status) { return !status.error_details().empty(); }

void to_proto(const Error& error, v1::ErrorDetail& out) {
  out.set_name(std::string(error_name(error.code)));
  out.set_text(error.text);
}

Error from_proto(const v1::ErrorDetail& detail) {
  const ErrorCode code = code_of_name(detail.name()).value_or(ErrorCode::kProtocol);
  return {code, detail.text().empty() ? std::string(error_sentence(code)) : detail.text()};
}

}  // namespace artel::rpc
