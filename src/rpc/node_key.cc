#include "rpc/node_key.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/assert.h"

namespace artel::rpc {
namespace {

static_assert(kKeyBytes == crypto_auth_hmacsha256_KEYBYTES);

/// libsodium must be told once; the function-local static makes that safe from any thread.
void ready() {
  static const bool ok = sodium_init() >= 0;
  ARTEL_ASSERT(ok);
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

std::string reason() { return std::strerror(errno); }

Result<> check_mode(const std::filesystem::path& path, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::kConfig,
                fmt::format("node key '{}' is not a regular file", path.string()));
  }
  if ((status.st_mode & 077U) != 0) {
    return fail(ErrorCode::kConfig,
                fmt::format("node key '{}' may be used by its group or others (mode {:04o}); "
                            "run: chmod 600 {}",
                            path.string(), status.st_mode & 07777U, path.string()));
  }
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return fail(ErrorCode::kConfig,
                fmt::format("node key '{}' belongs to uid {}; it must belong to root or to uid {}, "
                            "which this program runs as",
                            path.string(), status.st_uid, ::geteuid()));
  }
  return {};
}

/// All of a short file; more than `limit` bytes is an error of the caller's grammar, so one more is
/// read.
Result<std::string> read_some(const File& file, const std::filesystem::path& path,
                              std::size_t limit) {
  std::string text(limit + 1, '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + have, text.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return fail(ErrorCode::kIo,
                  fmt::format("cannot read node key '{}': {}", path.string(), reason()));
    }
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  text.resize(have);
  return text;
}

Result<> write_all(const File& file, const std::filesystem::path& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return fail(ErrorCode::kIo, fmt::format("cannot write '{}': {}", path.string(), reason()));
    }
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(file.get()) != 0) {
    return fail(ErrorCode::kIo, fmt::format("cannot write '{}': {}", path.string(), reason()));
  }
  return {};
}

/// Gives the finished file its name. link() refuses to replace, rename() would not.
Result<> publish(const std::filesystem::path& temporary, const std::filesystem::path& path) {
  if (::link(temporary.c_str(), path.c_str()) != 0) {
    if (errno == EEXIST) {
      return fail(ErrorCode::kWrongState,
                  fmt::format("node key '{}' exists and is left alone", path.string()));
    }
    return fail(ErrorCode::kIo, fmt::format("cannot make '{}': {}", path.string(), reason()));
  }
  const File folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0 || ::fsync(folder.get()) != 0) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot write folder '{}': {}", folder_of(path).string(), reason()));
  }
  return {};
}

std::string proof(const NodeKey& key, std::string_view label, std::string_view challenge,
                  std::string_view node) {
  ready();
  std::string text;
  text.append(label).append(challenge).append(node);
  std::string out(crypto_auth_hmacsha256_BYTES, '\0');
  crypto_auth_hmacsha256(reinterpret_cast<unsigned char*>(out.data()),
                         reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                         key.data());
  return out;
}

}  // namespace

NodeKey::~NodeKey() { sodium_memzero(bytes_.data(), bytes_.size()); }

Result<NodeKey> read_key_file(const std::filesystem::path& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
    return fail(code, fmt::format("cannot open node key '{}': {}", path.string(), reason()));
  }
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot read node key '{}': {}", path.string(), reason()));
  }
  if (auto allowed = check_mode(path, status); !allowed) return fail(allowed);
  constexpr std::size_t kDigits = 2 * kKeyBytes;
  auto text = read_some(file, path, kDigits + 1);
  if (!text) return fail(text);
  if (text->size() == kDigits + 1 && text->back() == '\n') text->pop_back();
  std::array<unsigned char, kKeyBytes> bytes{};
  std::size_t length = 0;
  const bool ok = text->size() == kDigits &&
                  sodium_hex2bin(bytes.data(), bytes.size(), text->data(), text->size(), nullptr,
                                 &length, nullptr) == 0 &&
                  length == kKeyBytes;
  sodium_memzero(text->data(), text->size());
  if (!ok) {
    return fail(ErrorCode::kConfig,
                fmt::format("node key '{}' is not {} hexadecimal digits; make a new one with: "
                            "artel-ctld --make-node-key NODE",
                            path.string(), kDigits));
  }
  NodeKey key(bytes);
  sodium_memzero(bytes.data(), bytes.size());
  return key;
}

Result<> generate_key_file(const std::filesystem::path& path) {
  ready();
  std::array<unsigned char, kKeyBytes> bytes{};
  randombytes_buf(bytes.data(), bytes.size());
  std::array<char, 2 * kKeyBytes + 1> digits{};
  sodium_bin2hex(digits.data(), digits.size(), bytes.data(), bytes.size());
  digits.back() = '\n';
  const std::filesystem::path temporary =
      folder_of(path) / fmt::format(".{}.{}", path.filename().string(), ::getpid());
  ::unlink(temporary.c_str());  // left by an earlier process of the same number
  Result<> made;
  {
    const File file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.get() < 0) {
      return fail(ErrorCode::kIo,
                  fmt::format("cannot make node key '{}': {}", path.string(), reason()));
    }
    made = write_all(file, temporary, std::string_view(digits.data(), digits.size()));
  }
  if (made) made = publish(temporary, path);
  ::unlink(temporary.c_str());
  sodium_memzero(bytes.data(), bytes.size());
  sodium_memzero(digits.data(), digits.size());
  return made;
}

std::string random_bytes(std::size_t count) {
  ready();
  std::string out(count, '\0');
  randombytes_buf(out.data(), out.size());
  return out;
}

std::string random_challenge() { return random_bytes(kChallengeBytes); }

std::string controller_proof(const NodeKey& key, std::string_view agent_challenge,
                             std::string_view node) {
  return proof(key, "controller", agent_challenge, node);
}

std::string agent_proof(const NodeKey& key, std::string_view controller_challenge,
                        std::string_view node) {
  return proof(key, "agent", controller_challenge, node);
}

std::string seal(std::string_view key, std::string_view bytes) {
  ready();
  ARTEL_ASSERT(key.size() == kKeyBytes);
  std::string out(crypto_auth_hmacsha256_BYTES, '\0');
  crypto_auth_hmacsha256(reinterpret_cast<unsigned char*>(out.data()),
                         reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                         reinterpret_cast<const unsigned char*>(key.data()));
  return out;
}

std::string pair_key(std::string_view secret, std::string_view one, std::string_view other) {
  std::string text = "probe";
  text.append(std::min(one, other)).append(1, '\0').append(std::max(one, other));
  return seal(secret, text);
}

bool same_proof(std::string_view expected, std::string_view given) {
  return expected.size() == given.size() &&
         sodium_memcmp(expected.data(), given.data(), expected.size()) == 0;
}

}  // namespace artel::rpc
