#include "noded/os/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace artel::noded {
namespace {

Result<> write_all(const Descriptor& file, const std::filesystem::path& path,
                   std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return fail(ErrorCode::kStorage, io_error("cannot write", path, errno).text);
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<> sync_folder(const std::filesystem::path& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid() || ::fsync(folder.get()) != 0) {
    return fail(ErrorCode::kStorage, io_error("cannot write folder", path, errno).text);
  }
  return {};
}

Result<> write_new(const std::filesystem::path& path, std::string_view bytes, bool sync) {
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return fail(ErrorCode::kStorage, io_error("cannot make", path, errno).text);
  if (auto written = write_all(file, path, bytes); !written) return written;
  if (sync && ::fsync(file.get()) != 0) {
    return fail(ErrorCode::kStorage, io_error("cannot write", path, errno).text);
  }
  return {};
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (number_ >= 0) ::close(number_);
    number_ = other.release();
  }
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

int Descriptor::release() { return std::exchange(number_, -1); }

Error io_error(std::string_view what, const std::filesystem::path& path, int error) {
  return Error{error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
               fmt::format("{} '{}': {}", what, path.string(), std::strerror(error))};
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return std::unexpected(io_error("cannot open", path, errno));
  std::string text;
  std::array<char, 16384> part{};
  while (true) {
    const ssize_t count = ::read(file.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::unexpected(io_error("cannot read", path, errno));
    if (count == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
    if (text.size() > limit) {
      return fail(
          ErrorCode::kStorage,
          fmt::format("'{}' is longer than the {} bytes that it may be", path.string(), limit));
    }
  }
}

Result<> replace_file(const std::filesystem::path& path, std::string_view bytes, bool sync) {
  std::filesystem::path temporary = path;
  temporary += ".tmp";
  if (auto written = write_new(temporary, bytes, sync); !written) {
    ::unlink(temporary.c_str());
    return written;
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return fail(ErrorCode::kStorage, io_error("cannot replace", path, error).text);
  }
  return sync ? sync_folder(path.parent_path()) : Result<>{};
}

Result<> make_folder(const std::filesystem::path& path, Passage passage) {
  const auto mode = static_cast<mode_t>(passage);
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) {
    return fail(ErrorCode::kStorage,
                io_error("cannot make", path.parent_path(), error.value()).text);
  }
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) {
    return fail(ErrorCode::kStorage, io_error("cannot make", path, errno).text);
  }
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (!folder.valid() || ::fstat(folder.get(), &status) != 0) {
    return fail(ErrorCode::kStorage, io_error("cannot use folder", path, errno).text);
  }
  if (status.st_uid != ::geteuid() || (status.st_mode & 022U) != 0) {
    return fail(ErrorCode::kPermissionDenied,
                fmt::format("'{}' must be a folder that belongs to uid {} and that nobody else may "
                            "write to; it has uid {} and mode {:04o}",
                            path.string(), ::geteuid(), status.st_uid, status.st_mode & 07777U));
  }
  // The mode that mkdir gave depends on the umask.
  if ((status.st_mode & 07777U) != mode && ::fchmod(folder.get(), mode) != 0) {
    return fail(ErrorCode::kStorage, io_error("cannot use folder", path, errno).text);
  }
  return {};
}

}  // namespace artel::noded
