#include "noded/step/account.h"

#include <fmt/format.h>
#include <grp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace artel::step {
Result<> become(const Account& account) {
  if (::setgroups(account.groups.size(), account.groups.data()) != 0 ||
      ::setresgid(account.gid, account.gid, account.gid) != 0 ||
      ::setresuid(account.uid, account.uid, account.uid) != 0) {
    return fail(ErrorCode::kPermissionDenied,
                fmt::format("cannot become user '{}': {}", account.name, std::strerror(errno)));
  }
  return {};
}

}  // namespace artel::step
