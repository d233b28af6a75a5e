// The checks and files of StepPrepare, made in a child process that becomes the user: a file system
// that hangs never hangs the daemon, and nothing that belongs to the user is touched with root's
// rights.
//
// The child answers with one packet: a refusal, or the account and the open output files. It is
// forked before the process has a second thread. Thread: the loop's.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <optional>
#include <string>

#include "model/ending.h"
#include "model/step_protocol.h"
#include "noded/step/account.h"
#include "noded/step/fd.h"

namespace artel::step {

/// What the ranks of this node will use. `output` and `error` are set on the first node only;
/// `error` is unset where it goes with the output.
struct Prepared {
  Account account;
  Fd output;
  Fd error;
};

struct Refusal {
  CauseCode code = CauseCode::kPrepareRefused;
  std::string text;
};

using PreparationOutcome = std::variant<Prepared, Refusal>;

/// The work of the child: resolves the account, writes the script, becomes the user, enters the
/// working directory, checks the program and opens the output. Changes the identity of the calling
/// process.
PreparationOutcome prepare_files(const StepPrepare& request);

class Preparation {
 public:
  using Done = std::function<void(PreparationOutcome)>;

  explicit Preparation(boost::asio::io_context& loop) : channel_(loop) {}

  /// Forks the child; `done` is called later from the loop, unless cancel() comes first. Error:
  /// kLaunch.
  Result<> start(const StepPrepare& request, Done done);
  /// Kills the child; it still has to be reaped.
  void cancel();
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// The child has been waited for: its number may belong to somebody else from now on.
  void reaped() { pid_ = -1; }

 private:
  void receive();

  boost::asio::posix::stream_descriptor channel_;
  pid_t pid_ = -1;
  Done done_;
};

}  // namespace artel::step
