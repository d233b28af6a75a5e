// What a PMIx server tells its clients about their job: sizes, who is where, and one entry for each
// rank.
#pragma once

#include "base/result.h"
#include "noded/pmix/info_list.h"
#include "noded/step/pmix_server.h"

namespace artel::pmix {

/// Fills `out` for PMIx_server_register_nspace(). `job_folder`: where the ranks may keep files.
/// Error: kLaunch.
Result<> describe_job(const step::PmixSetup& setup, const std::string& job_folder, InfoList& out);

}  // namespace artel::pmix
