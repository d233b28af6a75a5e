// The step daemon's log: one line an event on standard error, which its agent points at a file.
#pragma once

#include <string>
#include <string_view>

namespace artel::step {

/// Put in front of each line after the time: "17.0.1 hgx02".
void set_log_name(std::string name);

/// Writes "2026-11-30T01:23:52Z 17.0.1 hgx02: text" with one write(). Any thread; failures are
/// ignored.
void log_line(std::string_view text);

}  // namespace artel::step
