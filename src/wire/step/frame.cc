#include "wire/step/frame.h"

#include "base/assert.h"

namespace artel::wire {
namespace {

constexpr std::size_t kHeader = 4;
/// Consumed bytes that are kept in front of the rest before the buffer is moved together.
constexpr std::size_t kCompactAt = 64U << 10U;

std::size_t length_at(std::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kHeader; ++i) {
    length = (length << 8U) | static_cast<unsigned char>(bytes[i]);
  }
  return length;
}

}  // namespace

std::string frame(std::string_view payload) {
  ARTEL_ASSERT(payload.size() <= kMaxFrame);
  std::string out;
  out.reserve(kHeader + payload.size());
  for (unsigned shift = 32; shift != 0; shift -= 8) {
    out += static_cast<char>((payload.size() >> (shift - 8U)) & 0xffU);
  }
  out += payload;
  return out;
}

void FrameReader::append(std::string_view bytes) { buffer_ += bytes; }

Result<std::optional<std::string>> FrameReader::next() {
  const std::string_view rest = std::string_view(buffer_).substr(begin_);
  if (rest.size() >= kHeader) {
    const std::size_t length = length_at(rest);
    if (length > kMaxFrame) {
      return fail(ErrorCode::kProtocol, "a frame of " + std::to_string(length) +
                                            " bytes was announced; the limit is " +
                                            std::to_string(kMaxFrame));
    }
    if (rest.size() - kHeader >= length) {
      std::string payload(rest.substr(kHeader, length));
      begin_ += kHeader + length;
      return std::optional<std::string>(std::move(payload));
    }
  }
  if (begin_ == buffer_.size() || begin_ >= kCompactAt) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  return std::optional<std::string>();
}

}  // namespace artel::wire
