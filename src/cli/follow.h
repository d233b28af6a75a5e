// Following a job until it ends: its states and its output, through restarts of the controller.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "client.pb.h"

namespace artel::rpc {
class Client;
}

namespace artel::cli {

class Interrupts;

/// How long commands that follow a job keep trying to reach the controller.
inline constexpr Duration kFollowPatience = std::chrono::hours{24};

/// Says on standard error when the controller is away and when it is back, and keeps trying for
/// kFollowPatience.
void be_patient(rpc::Client& client);

using StateListener = std::function<void(const v1::JobView&)>;
/// Decides whether waiting may end.
using Until = std::function<bool(const std::string& state)>;

/// Waits until the job's state satisfies `until`; tells each change of state or reason. Error: as
/// Client::wait.
Result<v1::JobView> wait_for(rpc::Client& client, Interrupts& interrupts, std::uint64_t job,
                             const Until& until, const StateListener& on_state);

/// Why the job waits, for a progress message; "" where there is nothing to tell yet.
std::string waiting_text(const v1::JobView& job);

/// A state in which there is or was output.
bool has_started(const std::string& state);

/// One stream of a job's output, read piece by piece.
class OutputReader {
 public:
  using Sink = std::function<Result<>(std::string_view)>;

  OutputReader(rpc::Client& client, std::uint64_t job, bool error_stream, Sink sink)
      : client_(client), job_(job), error_stream_(error_stream), sink_(std::move(sink)) {}

  /// Reads what is there now and passes it on. True: something was new. A file that shrank or has
  /// another name (a new attempt) is read from its start.
  Result<bool> advance();
  /// Asks for the job's state alone, for when its output cannot be read.
  Result<> refresh_state();
  /// The job is final and all of it was read.
  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] const std::string& state() const { return state_; }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  /// Of the file at the last read.
  [[nodiscard]] std::uint64_t file_size() const { return file_size_; }

 private:
  rpc::Client& client_;
  const std::uint64_t job_;
  const bool error_stream_;
  const Sink sink_;
  std::uint64_t offset_ = 0;
  std::uint64_t file_size_ = 0;
  std::string path_;
  std::string state_;
  bool complete_ = false;
};

/// Pauses between reads: short after news, longer the longer nothing comes.
class Pace {
 public:
  static constexpr Duration kShortest{10};
  static constexpr Duration kLongest{200};

  Duration next(bool was_news);

 private:
  Duration pause_ = kShortest;
};

/// Reads the streams until all are complete. Errors that pass (a node or the controller is away)
/// are waited for while the job goes on, and for a while after its end. Ends early, without error,
/// when `stop` says so.
Result<> follow_output(const std::vector<OutputReader*>& readers, Interrupts& interrupts,
                       const std::function<bool()>& stop);

}  // namespace artel::cli
