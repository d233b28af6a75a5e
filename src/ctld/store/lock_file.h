// Keeps a second process off the same store: an advisory lock on a file beside it that names its
// holder.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace artel::ctld {

/// Held until the end of its life or of the process, however that comes.
class LockFile {
 public:
  /// Error: kStorage naming the process that holds it, its host and since when.
  static Result<LockFile> take(const std::filesystem::path& path);
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&&) = delete;
  ~LockFile();

 private:
  explicit LockFile(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace artel::ctld
