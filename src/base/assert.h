// ASSERT: a check for defects of our own. It stays on in release: crash, restart, recover.
#pragma once

namespace artel {

/// Writes the failed condition with its place to stderr and aborts the process.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace artel

// A macro, since the condition's text and place are part of the message.
#define ARTEL_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::artel::assertion_failed(#condition, __FILE__, __LINE__))
