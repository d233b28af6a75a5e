#include "noded/os/state_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"

namespace artel::noded {

Result<Descriptor> lock_state(const std::filesystem::path& state) {
  const auto path = state / "lock";
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return fail(ErrorCode::kStorage, io_error("cannot open", path, errno).text);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return std::unexpected(io_error("cannot lock", path, errno));
    const auto holder = read_file(path, 64);
    return fail(ErrorCode::kWrongState,
                fmt::format("'{}' is in use by the agent with pid {}; stop that one first, or give "
                            "this one another state folder",
                            state.string(), holder ? trim(*holder) : "unknown"));
  }
  const std::string text = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file.get(), 0) != 0 ||
      ::pwrite(file.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return fail(ErrorCode::kStorage, io_error("cannot write", path, errno).text);
  }
  return file;
}

}  // namespace artel::noded
