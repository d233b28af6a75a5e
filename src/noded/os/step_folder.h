// Where step daemons and agent meet on the disk: <state>/step/<key>.sock and <state>/step/<key>.d.
//
// The folder of an attempt holds the script, the spooled output, and what the ranks may use under
// rights of their own (PMIx): so everybody may go through it, and only root may look. It stays for
// a while after the attempt is forgotten, so that a client that waits can read the tail. Thread:
// one at a time.
#pragma once

#include <filesystem>
#include <functional>

#include "base/result.h"
#include "base/units.h"
#include "model/attempt.h"
#include "noded/os/files.h"

namespace artel::noded {

/// Names of the files with an attached attempt's output, in its directory.
inline constexpr const char* kSpooledOutput = "out";
inline constexpr const char* kSpooledError = "err";

class StepFolder {
 public:
  /// How long an attempt's folder stays after the attempt is forgotten.
  static constexpr Duration kKeep{std::chrono::minutes{10}};

  /// `state` is absolute and exists.
  static Result<StepFolder> open(const std::filesystem::path& state);

  [[nodiscard]] std::filesystem::path socket_of(const AttemptKey& key) const;
  [[nodiscard]] std::filesystem::path directory_of(const AttemptKey& key) const;

  struct Prepared {
    Descriptor listener;  // of socket_of(key), mode 0600
    Descriptor log;       // <directory>/stepd.log, for appending
  };
  /// Makes directory and socket; an old socket of the same name is replaced. Error: kStorage, kIo.
  [[nodiscard]] Result<Prepared> prepare(const AttemptKey& key) const;

  /// Removes the socket; the directory's time to stay begins.
  void forget(const AttemptKey& key) const;
  /// The step daemon left in good order: a directory without spooled output goes at once.
  void discard(const AttemptKey& key) const;

  /// Removes sockets of attempts that are not `held`, and directories that nobody holds and that
  /// were left kKeep before `now`. Returns the number of things removed.
  std::size_t clean(const std::function<bool(const AttemptKey&)>& held, Time now) const;

 private:
  explicit StepFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path folder_;
};

}  // namespace artel::noded
