#include "noded/os/step_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace artel::noded {
namespace {

constexpr int kBacklog = 64;
constexpr std::string_view kSocketSuffix = ".sock";
constexpr std::string_view kDirectorySuffix = ".d";

Result<Descriptor> listen_at(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (text.size() >= sizeof address.sun_path) {
    return fail(ErrorCode::kConfig,
                fmt::format("the path '{}' is too long for a socket ({} bytes, at most {}); set "
                            "[noded] state to a shorter one",
                            text, text.size(), sizeof address.sun_path - 1));
  }
  std::memcpy(address.sun_path, text.data(), text.size());
  ::unlink(path.c_str());
  Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // The mode of the socket is set before it has a name that others could reach.
  if (!listener.valid() || ::fchmod(listener.get(), 0600) != 0 ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), kBacklog) != 0) {
    return std::unexpected(io_error("cannot listen at", path, errno));
  }
  return listener;
}

/// "17.0.1" of "17.0.1.sock".
std::optional<AttemptKey> key_of(const std::string& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return std::nullopt;
  return parse_key(std::string_view(name).substr(0, name.size() - suffix.size()));
}

bool older_than(const std::filesystem::path& path, Time limit) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return false;
  return time_from_ms(std::int64_t{status.st_mtim.tv_sec} * 1000) < limit;
}

}  // namespace

Result<StepFolder> StepFolder::open(const std::filesystem::path& state) {
  auto folder = state / "step";
  if (auto made = make_folder(folder, Passage::kAll); !made) return fail(made);
  return StepFolder(std::move(folder));
}

std::filesystem::path StepFolder::socket_of(const AttemptKey& key) const {
  return folder_ / (format_key(key) + std::string(kSocketSuffix));
}

std::filesystem::path StepFolder::directory_of(const AttemptKey& key) const {
  return folder_ / (format_key(key) + std::string(kDirectorySuffix));
}

Result<StepFolder::Prepared> StepFolder::prepare(const AttemptKey& key) const {
  const auto directory = directory_of(key);
  if (auto made = make_folder(directory, Passage::kAll); !made) return fail(made);
  Prepared out;
  const auto log = directory / "stepd.log";
  out.log =
      Descriptor(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!out.log.valid()) return std::unexpected(io_error("cannot make", log, errno));
  auto listener = listen_at(socket_of(key));
  if (!listener) return fail(listener);
  out.listener = std::move(*listener);
  return out;
}

void StepFolder::forget(const AttemptKey& key) const {
  ::unlink(socket_of(key).c_str());
  ::utimensat(AT_FDCWD, directory_of(key).c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

void StepFolder::discard(const AttemptKey& key) const {
  const auto directory = directory_of(key);
  std::error_code ignored;
  for (const auto* const spool : {kSpooledOutput, kSpooledError}) {
    if (std::filesystem::exists(directory / spool, ignored)) return;
  }
  std::filesystem::remove_all(directory, ignored);
}

std::size_t StepFolder::clean(const std::function<bool(const AttemptKey&)>& held, Time now) const {
  std::size_t removed = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder_, error), last; !error && it != last;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code failed;
    if (const auto key = key_of(name, kSocketSuffix); key && !held(*key)) {
      if (std::filesystem::remove(it->path(), failed)) ++removed;
    } else if (const auto owner = key_of(name, kDirectorySuffix);
               owner && !held(*owner) && older_than(it->path(), now - kKeep)) {
      if (std::filesystem::remove_all(it->path(), failed) > 0) ++removed;
    }
  }
  return removed;
}

}  // namespace artel::noded
