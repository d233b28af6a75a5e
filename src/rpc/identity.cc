#include "rpc/identity.h"

#include <fmt/format.h>
#include <grp.h>
#include <munge.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rpc/credential.h"

namespace artel::rpc {
namespace {

/// Entries of the name service are small; one that needs more is broken.
constexpr std::size_t kMaxPasswd = 1U << 20U;

struct ContextDeleter {
  void operator()(munge_ctx_t context) const { munge_ctx_destroy(context); }
};
using Context = std::unique_ptr<std::remove_pointer_t<munge_ctx_t>, ContextDeleter>;

std::unexpected<Error> refused(std::string text) {
  return fail(ErrorCode::kUnauthenticated, std::move(text));
}

std::unexpected<Error> refused(const Context& context, munge_err_t code) {
  const char* detail = context ? munge_ctx_strerror(context.get()) : nullptr;
  return refused(fmt::format("the controller's munged refused the credential: {}",
                             detail != nullptr ? detail : munge_strerror(code)));
}

Result<std::string> user_name(uid_t uid) {
  std::vector<char> buffer(1024);
  passwd entry{};
  passwd* found = nullptr;
  int error = 0;
  while ((error = getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found)) == ERANGE &&
         buffer.size() < kMaxPasswd) {
    buffer.resize(buffer.size() * 2);
  }
  if (found != nullptr) return std::string(entry.pw_name);
  const std::string reason =
      error == 0 ? std::string("has no account") : std::string(std::strerror(error));
  return refused(fmt::format("uid {} on the controller's host: {}", uid, reason));
}

}  // namespace

Result<Owner> identify(const std::string& credential, const std::string& socket) {
  const Context context(munge_ctx_create());
  if (!context) return refused(context, EMUNGE_NO_MEMORY);
  if (!socket.empty()) {
    const munge_err_t set = munge_ctx_set(context.get(), MUNGE_OPT_SOCKET, socket.c_str());
    if (set != EMUNGE_SUCCESS) return refused(context, set);
  }
  void* payload = nullptr;
  int length = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  const munge_err_t code =
      munge_decode(credential.c_str(), context.get(), &payload, &length, &uid, &gid);
  const std::unique_ptr<void, decltype(&std::free)> owner(payload, &std::free);
  if (code != EMUNGE_SUCCESS) return refused(context, code);
  const std::string_view text(static_cast<const char*>(payload), static_cast<std::size_t>(length));
  if (text != kLoginPayload) {
    return refused("the credential was not made to log in to Artel");
  }
  auto name = user_name(uid);
  if (!name) return fail(name);
  return Owner{uid, gid, std::move(*name)};
}

std::vector<std::string> groups_of(const Owner& owner) {
  constexpr int kMostGroups = 65536;  // NGROUPS_MAX of Linux
  std::vector<gid_t> ids(64);
  int count = static_cast<int>(ids.size());
  while (getgrouplist(owner.user.c_str(), owner.gid, ids.data(), &count) < 0) {
    if (count <= static_cast<int>(ids.size()) || count > kMostGroups) return {};
    ids.resize(static_cast<std::size_t>(count));
  }
  std::vector<std::string> names;
  std::vector<char> buffer(1024);
  for (int i = 0; i < count; ++i) {
    group entry{};
    group* found = nullptr;
    const gid_t id = ids[static_cast<std::size_t>(i)];
    while (getgrgid_r(id, &entry, buffer.data(), buffer.size(), &found) == ERANGE &&
           buffer.size() < kMaxPasswd)
      buffer.resize(2 * buffer.size());
    if (found != nullptr) names.emplace_back(found->gr_name);
  }
  return names;
}

}  // namespace artel::rpc
