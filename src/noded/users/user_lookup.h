// What this node's name service says of the owner of a job.
#pragma once

#include <string>

#include "base/result.h"
#include "model/job_spec.h"
#include "model/step_protocol.h"

namespace artel::noded {

/// Asks the name service, which may block. The name must exist here with the owner's uid.
/// Error: kNotFound, kPermissionDenied naming `node` and both uids.
Result<UserAccount> look_up(const Owner& owner, const std::string& node);

}  // namespace artel::noded
