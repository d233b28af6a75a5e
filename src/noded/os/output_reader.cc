#include "noded/os/output_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/magic.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "noded/os/files.h"

namespace artel::noded {
namespace {

constexpr std::size_t kThreads = 2;
constexpr std::size_t kMaxWaiting = 32;
constexpr std::size_t kMaxGroups = 65536;  // of the kernel: NGROUPS_MAX
constexpr auto kSame = static_cast<gid_t>(-1);

/// The groups of the account as the directory knows them; the primary one alone where it does not
/// know the account.
std::vector<gid_t> groups_of(const Owner& owner) {
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(owner.uid, &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr) {
    return {owner.gid};
  }
  std::vector<gid_t> groups(64);
  int count = static_cast<int>(groups.size());
  while (::getgrouplist(found->pw_name, owner.gid, groups.data(), &count) < 0) {
    if (groups.size() >= kMaxGroups) return {owner.gid};
    groups.resize(groups.size() * 4);
    count = static_cast<int>(groups.size());
  }
  groups.resize(static_cast<std::size_t>(count));
  return groups;
}

/// The calling thread has the user's identity as long as this lives, and only that.
class AsUser {
 public:
  static Result<std::unique_ptr<AsUser>> become(const Owner& owner) {
    auto user = std::unique_ptr<AsUser>(new AsUser);
    const auto groups = groups_of(owner);
    if (::syscall(SYS_setgroups, groups.size(), groups.data()) != 0 ||
        ::syscall(SYS_setresgid, kSame, owner.gid, kSame) != 0 ||
        ::syscall(SYS_setresuid, kSame, owner.uid, kSame) != 0) {
      return fail(ErrorCode::kPermissionDenied,
                  fmt::format("cannot act as uid {}: {}", owner.uid, std::strerror(errno)));
    }
    return user;
  }
  AsUser(const AsUser&) = delete;
  AsUser& operator=(const AsUser&) = delete;
  ~AsUser() {
    // A thread that kept a user's identity would open the next file as the wrong user.
    ARTEL_ASSERT(::syscall(SYS_setresuid, kSame, uid_, kSame) == 0);
    ARTEL_ASSERT(::syscall(SYS_setresgid, kSame, gid_, kSame) == 0);
    ARTEL_ASSERT(::syscall(SYS_setgroups, groups_.size(), groups_.data()) == 0);
  }

 private:
  AsUser() : uid_(::geteuid()), gid_(::getegid()) {
    const int count = ::getgroups(0, nullptr);
    groups_.resize(static_cast<std::size_t>(std::max(count, 0)));
    if (count > 0) ARTEL_ASSERT(::getgroups(count, groups_.data()) == count);
  }

  uid_t uid_;
  gid_t gid_;
  std::vector<gid_t> groups_;
};

Error open_error(const std::filesystem::path& path, int error) {
  if (error == ELOOP) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is a symbolic link; output is read from regular files only",
                             path.string())};
  }
  Error out = io_error("cannot open", path, error);
  if (error == EACCES || error == EPERM) out.code = ErrorCode::kPermissionDenied;
  if (error == ENOTDIR) out.code = ErrorCode::kNotFound;
  return out;
}

Result<Descriptor> open_file(const OutputRequest& request) {
  std::unique_ptr<AsUser> user;
  if (!request.as_root) {
    auto became = AsUser::become(request.owner);
    if (!became) return fail(became);
    user = std::move(*became);
  }
  Descriptor file(
      ::open(request.path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.valid()) return std::unexpected(open_error(request.path, errno));
  return file;
}

/// The size. Files of /proc say that they are regular, and some speak of the agent itself.
Result<std::uint64_t> check_regular(const Descriptor& file, const std::filesystem::path& path) {
  struct stat status{};
  struct statfs system{};
  if (::fstat(file.get(), &status) != 0 || ::fstatfs(file.get(), &system) != 0) {
    return std::unexpected(io_error("cannot read", path, errno));
  }
  if (!S_ISREG(status.st_mode) || system.f_type == PROC_SUPER_MAGIC) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not a regular file", path.string()));
  }
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

Result<OutputPiece> read_output(const OutputRequest& request) {
  if (!request.path.is_absolute()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not an absolute path", request.path.string()));
  }
  const auto file = open_file(request);
  if (!file) return fail(file);
  const auto size = check_regular(*file, request.path);
  if (!size) return fail(size);
  OutputPiece piece{.data = {}, .file_size = *size};
  if (request.offset >= *size) return piece;
  const std::uint64_t wanted =
      std::min<std::uint64_t>({request.max_bytes, kMaxOutputChunk, *size - request.offset});
  piece.data.resize(wanted);
  std::size_t have = 0;
  while (have < wanted) {
    const ssize_t count = ::pread(file->get(), piece.data.data() + have, wanted - have,
                                  static_cast<off_t>(request.offset + have));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::unexpected(io_error("cannot read", request.path, errno));
    if (count == 0) break;  // became shorter meanwhile
    have += static_cast<std::size_t>(count);
  }
  piece.data.resize(have);
  return piece;
}

struct OutputReader::Shared {
  struct Waiting {
    OutputRequest request;
    Done done;
  };

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Waiting> waiting;
  int calling = 0;  // `done` functions that run
  bool stopping = false;
};

OutputReader::OutputReader() : shared_(std::make_shared<Shared>()) {
  for (std::size_t i = 0; i < kThreads; ++i) {
    std::thread([shared = shared_] { work(shared); }).detach();
  }
}

OutputReader::~OutputReader() { stop(); }

void OutputReader::stop() {
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  shared_->waiting.clear();
  shared_->changed.notify_all();
  shared_->changed.wait(lock, [this] { return shared_->calling == 0; });
}

void OutputReader::read(OutputRequest request, Done done) {
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->stopping) return;
    if (shared_->waiting.size() < kMaxWaiting) {
      shared_->waiting.push_back({std::move(request), std::move(done)});
      shared_->changed.notify_one();
      return;
    }
  }
  done(fail(
      ErrorCode::kTryAgain,
      fmt::format("{} reads of output wait on this node already; try again in 2 s", kMaxWaiting)));
}

void OutputReader::work(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (true) {
    shared->changed.wait(lock, [&] { return shared->stopping || !shared->waiting.empty(); });
    if (shared->stopping) return;
    Shared::Waiting next = std::move(shared->waiting.front());
    shared->waiting.pop_front();
    lock.unlock();
    auto piece = read_output(next.request);
    lock.lock();
    if (shared->stopping) return;
    ++shared->calling;
    lock.unlock();
    next.done(std::move(piece));
    next.done = nullptr;
    lock.lock();
    --shared->calling;
    shared->changed.notify_all();
  }
}

}  // namespace artel::noded
