// The account that the ranks run as, as this node knows it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace artel::step {

struct Account {
  std::string name;
  std::string home;
  std::string shell;
  uid_t uid{};
  gid_t gid{};
  std::vector<gid_t> groups;  // supplementary, the primary one included

  bool operator==(const Account&) const = default;
};

/// Gives up all other identities of the calling process for good. Error: kPermissionDenied.
Result<> become(const Account& account);

}  // namespace artel::step
