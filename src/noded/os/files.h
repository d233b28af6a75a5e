// Small files and folders of the agent's own state: read whole, replaced whole, private to root.
//
// Thread: all functions may be called from any thread; they block on the disk.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace artel::noded {

/// A descriptor that is closed when its owner goes; -1 is none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool valid() const { return number_ >= 0; }
  /// The number, which the caller now owns.
  int release();

 private:
  int number_ = -1;
};

/// `text` with the path and what errno says: "cannot open '/x': No such file or directory".
Error io_error(std::string_view what, const std::filesystem::path& path, int error);

/// Error: kNotFound, kIo, or kStorage for a file longer than `limit`.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit);

/// The file gets the new bytes whole or keeps the old ones. `sync`: they are on the disk on return,
/// name included. Error: kStorage.
Result<> replace_file(const std::filesystem::path& path, std::string_view bytes, bool sync);

/// Who may go through a folder; nobody but its owner lists it or changes it.
enum class Passage : unsigned {
  kOwner = 0700,
  kAll = 0711,  // to things inside that have rights of their own
};

/// Makes the folder and those above it. One that exists must be a folder, ours, and closed to
/// others for writing; it gets the mode of `passage`. Error: kStorage, kPermissionDenied.
Result<> make_folder(const std::filesystem::path& path, Passage passage);

}  // namespace artel::noded
