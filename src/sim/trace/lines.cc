#include "sim/trace/lines.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <system_error>

namespace artel::trace {
namespace {

constexpr std::size_t kChunk = 1U << 18U;
// A log of ten million jobs has 1 GB; what is larger is no workload, or an archive made to burst.
constexpr std::size_t kMostBytes = 4ULL << 30U;

struct Close {
  void operator()(gzFile file) const { gzclose(file); }
};
using Archive = std::unique_ptr<gzFile_s, Close>;

std::unexpected<Error> unreadable(const std::filesystem::path& file, const std::string& cause) {
  return fail(ErrorCode::kIo, fmt::format("{}: cannot be read: {}", file.string(), cause));
}

std::string cause_of(gzFile archive) {
  int code = 0;
  const char* text = gzerror(archive, &code);
  if (code == Z_ERRNO) return std::generic_category().message(errno);
  if (code == Z_BUF_ERROR) return "the archive ends too early";
  return fmt::format("the archive is damaged ({})", text);
}

}  // namespace

Result<std::string> read_text(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    return unreadable(file, std::generic_category().message(EISDIR));
  errno = 0;
  const Archive archive(gzopen(file.c_str(), "rb"));
  if (!archive) return unreadable(file, std::generic_category().message(errno));
  gzbuffer(archive.get(), kChunk);
  std::string text;
  while (true) {
    const std::size_t old = text.size();
    if (old > kMostBytes)
      return unreadable(file, fmt::format("it has more than {} GiB", kMostBytes >> 30U));
    text.resize(old + kChunk);
    const int got = gzread(archive.get(), text.data() + old, kChunk);
    if (got < 0) return unreadable(file, cause_of(archive.get()));
    text.resize(old + static_cast<std::size_t>(got));
    if (static_cast<std::size_t>(got) == kChunk) continue;
    // A short read at a cut is no error of gzread but of the archive.
    int code = Z_OK;
    gzerror(archive.get(), &code);
    if (code != Z_OK) return unreadable(file, cause_of(archive.get()));
    return text;
  }
}

std::optional<std::string_view> Lines::next() {
  if (rest_.empty()) return std::nullopt;
  const auto end = rest_.find('\n');
  std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++number_;
  return line;
}

std::unexpected<Error> bad_line(const std::string& file, std::uint64_t line,
                                const std::string& what) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("{}:{}: {}", file, line, what));
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<Milli> milli_number(std::string_view text) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40U;
  const auto point = text.find('.');
  const auto whole = whole_number(text.substr(0, point));
  if (!whole || *whole < 0 || *whole > kMost || text.starts_with('-')) return std::nullopt;
  Milli value = *whole * kMilli;
  if (point == std::string_view::npos) return value;
  const std::string_view decimals = text.substr(point + 1);
  constexpr std::size_t kDigits = 3;
  if (decimals.empty() || decimals.size() > kDigits) return std::nullopt;
  Milli scale = kMilli;
  for (const char digit : decimals) {
    if (digit < '0' || digit > '9') return std::nullopt;
    scale /= 10;
    value += (digit - '0') * scale;
  }
  return value;
}

}  // namespace artel::trace
