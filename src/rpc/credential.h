// The MUNGE credential with which a client says who it is.
//
// MUNGE's daemon takes the caller's uid and gid from the kernel, so a credential cannot claim
// another account. It can be decoded once: each Login needs a new one. Thread: may be called from
// any thread.
#pragma once

#include <string>

#include "base/result.h"

namespace artel::rpc {

/// What the credential of a Login carries; the controller refuses credentials made for something
/// else.
inline constexpr const char* kLoginPayload = "artel-login";

/// A new credential from munged at `socket` (empty: MUNGE's default). Error: kUnauthenticated.
Result<std::string> make_login_credential(const std::string& socket);

}  // namespace artel::rpc
