#include "sim/trace/read.h"

#include <fmt/format.h>

#include "sim/trace/lines.h"

namespace artel::trace {

Result<Workload> read_workload(const std::filesystem::path& file) {
  std::filesystem::path plain = file.filename();
  if (plain.extension() == ".gz") plain = plain.stem();
  const std::string kind = plain.extension().string();
  if (kind != ".csv" && kind != ".swf") {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: a workload's name ends with .csv or .swf, or one of these with .gz",
                    file.string()));
  }
  const auto text = read_text(file);
  if (!text) return fail(text);
  auto workload =
      kind == ".csv" ? parse_csv(file.string(), *text) : parse_swf(file.string(), *text);
  if (workload) workload->name = plain.stem().string();
  return workload;
}

}  // namespace artel::trace
