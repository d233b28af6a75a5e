// Result<T>: how every refusal and every fault travels. Exceptions do not cross a library border.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace artel {

enum class ErrorCode : std::uint8_t {
#define ARTEL_ERROR(enumerator, name, status, exit_code, sentence, remedy) enumerator,
#include "base/error_codes.def"
#undef ARTEL_ERROR
};

/// One refusal or fault. `text` says what was asked, which limit it met and what would be accepted.
struct Error {
  ErrorCode code;
  std::string text;

  bool operator==(const Error&) const = default;
};

template <typename T = void>
using Result = std::expected<T, Error>;

/// Makes the error value of any Result: `return fail(ErrorCode::kNotFound, "no job 12")`.
inline std::unexpected<Error> fail(ErrorCode code, std::string text) {
  return std::unexpected<Error>(Error{code, std::move(text)});
}

/// Passes on the error of another Result.
template <typename T>
std::unexpected<Error> fail(const Result<T>& failed) {
  return std::unexpected<Error>(failed.error());
}

/// "never-fits" for kNeverFits.
std::string_view error_name(ErrorCode code);
/// What the code means in general, one sentence.
std::string_view error_sentence(ErrorCode code);
/// What somebody can do about it, one sentence.
std::string_view error_remedy(ErrorCode code);
/// Exit code of the command line for this error.
int error_exit_code(ErrorCode code);

}  // namespace artel
