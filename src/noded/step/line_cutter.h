// Cuts a stream of output into whole lines, so that lines of several nodes do not end up inside one
// another.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace artel::step {

/// Pure. A line longer than kLongest is passed on in pieces.
class LineCutter {
 public:
  static constexpr std::size_t kLongest = 64U << 10U;

  /// All that can be passed on now. A carriage return ends a line, too (progress bars).
  std::string push(std::string_view bytes) {
    const std::size_t last = bytes.find_last_of("\n\r");
    if (last == std::string_view::npos) {
      rest_ += bytes;
      return rest_.size() > kLongest ? rest() : std::string();
    }
    std::string out = rest();
    out += bytes.substr(0, last + 1);
    rest_ = bytes.substr(last + 1);
    return out;
  }

  /// What is left of an unfinished line.
  std::string rest() { return std::exchange(rest_, {}); }

 private:
  std::string rest_;
};

}  // namespace artel::step
