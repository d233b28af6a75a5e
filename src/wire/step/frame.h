// Frames on local sockets and between step daemons: 4 bytes length (big endian), then that many
// bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace artel::wire {

/// Longest accepted frame. Scripts, environments and modex blobs fit; a longer one is a protocol
/// error.
inline constexpr std::size_t kMaxFrame = 64U << 20U;

/// The payload with its length in front.
std::string frame(std::string_view payload);

/// Cuts a stream of bytes into frames. After an error the stream must be closed.
class FrameReader {
 public:
  void append(std::string_view bytes);
  /// The next whole payload, nullopt if more bytes are needed. Error: kProtocol for a length over
  /// kMaxFrame.
  Result<std::optional<std::string>> next();

 private:
  std::string buffer_;
  std::size_t begin_ = 0;
};

}  // namespace artel::wire
