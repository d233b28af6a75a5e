// Reads pieces of job output for the controller, each file as the user who may read it.
//
// A few threads of its own, since a file system of the user's may hang, and since on Linux each
// thread has credentials of its own (raw system calls; glibc's wrappers change all threads). A
// thread takes the user's uid, gid and groups for the opening and drops every privilege meanwhile;
// the last part of a path may be no symbolic link, and only regular files are read. Spooled output
// lies in a folder of root's and is read as root; who may see it, the controller has decided.
// Thread: read() from any; `done` is called from the reader's threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "model/job_spec.h"

namespace artel::noded {

/// Most bytes of one answer.
inline constexpr std::uint32_t kMaxOutputChunk = 1U << 20U;

struct OutputRequest {
  std::filesystem::path path;  // absolute
  bool as_root{};              // a file of the agent's own folder
  Owner owner;                 // else: who reads
  std::uint64_t offset{};
  std::uint32_t max_bytes{};  // at most kMaxOutputChunk is read
};

struct OutputPiece {
  std::string data;  // empty at and behind the end
  std::uint64_t file_size{};
};

/// Reads on the calling thread, whose credentials are the caller's again on return. The process
/// ends if they cannot be. Error: kNotFound, kPermissionDenied, kInvalidArgument (not a regular
/// file), kIo.
Result<OutputPiece> read_output(const OutputRequest& request);

class OutputReader {
 public:
  using Done = std::function<void(Result<OutputPiece>)>;

  OutputReader();
  ~OutputReader();
  OutputReader(const OutputReader&) = delete;
  OutputReader& operator=(const OutputReader&) = delete;

  /// Error kTryAgain to `done` at once where too many wait already. Dropped after stop().
  void read(OutputRequest request, Done done);
  /// Drops what waits and what is being read; no `done` is called after it returns. Threads that
  /// hang in a file system are left to themselves.
  void stop();

 private:
  struct Shared;

  static void work(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
};

}  // namespace artel::noded
