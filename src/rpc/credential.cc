#include "rpc/credential.h"

#include <munge.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace artel::rpc {
namespace {

struct ContextDeleter {
  void operator()(munge_ctx_t context) const { munge_ctx_destroy(context); }
};
using Context = std::unique_ptr<std::remove_pointer_t<munge_ctx_t>, ContextDeleter>;

std::unexpected<Error> refused(const Context& context, munge_err_t code) {
  const char* detail = context ? munge_ctx_strerror(context.get()) : nullptr;
  const std::string reason = detail != nullptr ? detail : munge_strerror(code);
  return fail(ErrorCode::kUnauthenticated,
              "MUNGE gave no credential: " + reason +
                  "; check that munged runs on this host and that munge.socket in artel.toml "
                  "is right");
}

}  // namespace

Result<std::string> make_login_credential(const std::string& socket) {
  const Context context(munge_ctx_create());
  if (!context) return refused(context, EMUNGE_NO_MEMORY);
  if (!socket.empty()) {
    const munge_err_t set = munge_ctx_set(context.get(), MUNGE_OPT_SOCKET, socket.c_str());
    if (set != EMUNGE_SUCCESS) return refused(context, set);
  }
  char* text = nullptr;
  const munge_err_t code = munge_encode(&text, context.get(), kLoginPayload,
                                        static_cast<int>(std::strlen(kLoginPayload)));
  const std::unique_ptr<char, decltype(&std::free)> owner(text, &std::free);
  if (code != EMUNGE_SUCCESS) return refused(context, code);
  return std::string(text);
}

}  // namespace artel::rpc
