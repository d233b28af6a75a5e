#include "base/result.h"

#include <array>
#include <cstddef>

namespace artel {
namespace {

struct ErrorRow {
  std::string_view name;
  std::string_view sentence;
  std::string_view remedy;
  int exit_code;
};

constexpr std::array kRows = {
#define ARTEL_ERROR(enumerator, name, status, exit_code, sentence, remedy) \
  ErrorRow{name, sentence, remedy, exit_code},
#include "base/error_codes.def"
#undef ARTEL_ERROR
};

const ErrorRow& row(ErrorCode code) { return kRows.at(static_cast<std::size_t>(code)); }

}  // namespace

std::string_view error_name(ErrorCode code) { return row(code).name; }
std::string_view error_sentence(ErrorCode code) { return row(code).sentence; }
std::string_view error_remedy(ErrorCode code) { return row(code).remedy; }
int error_exit_code(ErrorCode code) { return row(code).exit_code; }

}  // namespace artel
