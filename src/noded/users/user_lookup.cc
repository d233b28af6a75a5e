#include "noded/users/user_lookup.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace artel::noded {
namespace {

/// Room for one line of the account table, and for the longest one of a directory service.
constexpr std::size_t kEntrySize = 1U << 10U;
constexpr std::size_t kLongestEntry = 1U << 20U;

/// Supplementary groups, the primary one included.
std::vector<gid_t> groups_of(const std::string& name, gid_t gid) {
  std::vector<gid_t> groups(64);
  int count = static_cast<int>(groups.size());
  while (::getgrouplist(name.c_str(), gid, groups.data(), &count) < 0) {
    groups.resize(std::max(groups.size() * 2, static_cast<std::size_t>(count)));
    count = static_cast<int>(groups.size());
  }
  groups.resize(static_cast<std::size_t>(count));
  return groups;
}

}  // namespace

Result<UserAccount> look_up(const Owner& owner, const std::string& node) {
  std::string buffer(kEntrySize, '\0');
  passwd entry{};
  passwd* found = nullptr;
  int error = ERANGE;
  while (error == ERANGE && buffer.size() <= kLongestEntry) {
    error = ::getpwnam_r(owner.user.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (error == ERANGE) buffer.resize(buffer.size() * 4);
  }
  if (found == nullptr) {
    const std::string why = error == 0 ? "" : fmt::format(" ({})", std::strerror(error));
    return fail(ErrorCode::kNotFound,
                fmt::format("user '{}' does not exist on {}{}", owner.user, node, why));
  }
  if (entry.pw_uid != owner.uid) {
    return fail(ErrorCode::kPermissionDenied,
                fmt::format("user '{}' has uid {} on {} but submitted with uid {}: the accounts of "
                            "the cluster's hosts differ",
                            owner.user, entry.pw_uid, node, owner.uid));
  }
  UserAccount account{
      .home = entry.pw_dir, .shell = entry.pw_shell, .groups = groups_of(owner.user, owner.gid)};
  if (account.home.empty()) account.home = "/";
  if (account.shell.empty()) account.shell = "/bin/sh";
  return account;
}

}  // namespace artel::noded
