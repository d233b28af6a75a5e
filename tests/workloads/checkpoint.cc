// Checkpoint files; see checkpoint.h and, for the format, README.md.

#include "checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

namespace artel::workload {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::string_view kMagic = "ARTELCK1";
constexpr std::string_view kPrefix = "digits-";
constexpr std::string_view kSuffix = ".ckpt";
constexpr const char* kTemporary = "digits.tmp";
// Magic, six counters and a sum of 8 bytes, the length of the arrays.
constexpr std::size_t kHeaderBytes = 8 + 7 * 8;
constexpr std::size_t kChecksumBytes = 4;

// CRC-32 of ISO-HDLC, the one of zlib and Ethernet, so that other programs can check the files.
std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

void put(std::string& bytes, const void* value, std::size_t size) {
  bytes.append(static_cast<const char*>(value), size);
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  void get(void* value, std::size_t size) {
    std::memcpy(value, rest_.data(), size);
    rest_.remove_prefix(size);
  }

 private:
  std::string_view rest_;
};

std::string file_name(const Checkpoint& checkpoint) {
  char name[64];
  std::snprintf(name, sizeof name, "digits-%08llu-%06llu.ckpt",
                static_cast<unsigned long long>(checkpoint.epoch),
                static_cast<unsigned long long>(checkpoint.step));
  return name;
}

Failure system_failure(const std::string& what, int error) {
  return Failure(what + ": " + std::strerror(error));
}

class File {
 public:
  File(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool is_open() const { return fd_ >= 0; }
  bool sync() const { return ::fsync(fd_) == 0; }
  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }

 private:
  int fd_;
};

}  // namespace

std::string encode(const Checkpoint& checkpoint) {
  std::string bytes(kMagic);
  for (const std::uint64_t number :
       {checkpoint.seed, checkpoint.batch, checkpoint.samples, checkpoint.epoch, checkpoint.step}) {
    put(bytes, &number, sizeof number);
  }
  put(bytes, &checkpoint.loss_sum, sizeof checkpoint.loss_sum);
  const std::uint64_t count = checkpoint.parameters.size();
  put(bytes, &count, sizeof count);
  put(bytes, checkpoint.parameters.data(), count * sizeof(double));
  put(bytes, checkpoint.velocity.data(), count * sizeof(double));
  const std::uint32_t checksum = crc32(bytes);
  put(bytes, &checksum, sizeof checksum);
  return bytes;
}

Result<Checkpoint> decode(const std::string& bytes) {
  if (bytes.size() < kHeaderBytes + kChecksumBytes) return Failure("cut short");
  if (!bytes.starts_with(kMagic)) return Failure("not a checkpoint of this version");
  const std::string_view body(bytes.data(), bytes.size() - kChecksumBytes);
  std::uint32_t checksum = 0;
  Reader(std::string_view(bytes).substr(body.size())).get(&checksum, sizeof checksum);
  if (checksum != crc32(body)) return Failure("checksum does not match");

  Reader reader(body.substr(kMagic.size()));
  Checkpoint checkpoint;
  for (std::uint64_t* number : {&checkpoint.seed, &checkpoint.batch, &checkpoint.samples,
                                &checkpoint.epoch, &checkpoint.step}) {
    reader.get(number, sizeof *number);
  }
  reader.get(&checkpoint.loss_sum, sizeof checkpoint.loss_sum);
  std::uint64_t count = 0;
  reader.get(&count, sizeof count);
  const std::size_t array_bytes = body.size() - kHeaderBytes;
  if (array_bytes % (2 * sizeof(double)) != 0 || count != array_bytes / (2 * sizeof(double))) {
    return Failure("length does not match");
  }
  checkpoint.parameters.resize(count);
  checkpoint.velocity.resize(count);
  reader.get(checkpoint.parameters.data(), count * sizeof(double));
  reader.get(checkpoint.velocity.data(), count * sizeof(double));
  return checkpoint;
}

Result<CheckpointDirectory> CheckpointDirectory::open(const std::string& path, std::size_t keep) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Failure("cannot create checkpoint directory " + path + ": " + error.message());
  if (!std::filesystem::is_directory(path, error)) return Failure(path + " is not a directory");
  return CheckpointDirectory(path, keep);
}

CheckpointDirectory::Found CheckpointDirectory::find_newest() const {
  Found found;
  for (const std::string& name : names_newest_first()) {
    std::ifstream file(path_ + "/" + name, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    auto checkpoint = decode(bytes);
    if (checkpoint) {
      found.newest = std::move(*checkpoint);
      found.name = name;
      return found;
    }
    found.ignored.push_back(name + ": " + checkpoint.error());
  }
  return found;
}

Result<void> CheckpointDirectory::write(const Checkpoint& checkpoint) const {
  const std::string name = file_name(checkpoint);
  const std::string final_path = path_ + "/" + name;
  const std::string temporary = path_ + "/" + kTemporary;
  // A run that was declared dead but still writes keeps its own unlinked file instead of ours.
  ::unlink(temporary.c_str());
  {
    const File file(temporary, O_WRONLY | O_CREAT | O_EXCL);
    if (!file.is_open() || !file.write(encode(checkpoint)) || !file.sync()) {
      return system_failure("cannot write " + temporary, errno);
    }
  }
  if (::rename(temporary.c_str(), final_path.c_str()) != 0) {
    return system_failure("cannot rename to " + final_path, errno);
  }
  const File directory(path_, O_RDONLY | O_DIRECTORY);
  if (!directory.is_open() || !directory.sync()) {
    return system_failure("cannot sync " + path_, errno);
  }
  remove_older_than(name);
  return {};
}

std::vector<std::string> CheckpointDirectory::names_newest_first() const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path_, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix)) names.push_back(std::move(name));
  }
  std::sort(names.rbegin(), names.rend());
  return names;
}

void CheckpointDirectory::remove_older_than(const std::string& name) const {
  std::size_t kept = 0;
  for (const std::string& other : names_newest_first()) {
    // Those that sort after the one just written were found damaged; they will be written over.
    if (other > name || ++kept <= keep_) continue;
    ::unlink((path_ + "/" + other).c_str());
  }
}

}  // namespace artel::workload
