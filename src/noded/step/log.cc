#include "noded/step/log.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"
#include "base/units.h"

namespace artel::step {
namespace {

std::string& log_name() {
  static std::string name = "artel-stepd";
  return name;
}

}  // namespace

void set_log_name(std::string name) { log_name() = std::move(name); }

void log_line(std::string_view text) {
  const Time now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  const std::string line = fmt::format("{} {}: {}\n", format_time(now), log_name(), text);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace artel::step
