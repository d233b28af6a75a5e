#include "noded/step/account.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace artel::step {
namespace {

/// Room for one line of the account table; LDAP entries may be long.
constexpr std::size_t kEntrySize = 64U << 10U;

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

Result<Account> find_account(const Owner& owner, const std::string& node) {
  std::string buffer(kEntrySize, '\0');
  passwd entry{};
  passwd* found = nullptr;
  const int error = ::getpwnam_r(owner.user.c_str(), &entry, buffer.data(), buffer.size(), &found);
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
  Account account{.name = owner.user,
                  .home = entry.pw_dir,
                  .shell = entry.pw_shell,
                  .uid = owner.uid,
                  .gid = owner.gid,
                  .groups = groups_of(owner.user, owner.gid)};
  if (account.home.empty()) account.home = "/";
  if (account.shell.empty()) account.shell = "/bin/sh";
  return account;
}

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
