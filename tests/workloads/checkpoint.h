// Checkpoints of a training run: one file each, complete or recognisably not.
//
// Invariants: I1 a file under its final name was written and synced in full before it got that
// name; I2 a file that was cut short or altered fails its checksum and is passed over; I3 older
// checkpoints go only after a newer one is durable. An fsync that fails is an error and is not
// retried. Only rank 0 uses a directory. Format: README.md.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "result.h"

namespace artel::workload {

/// All that a run needs to go on as if it had never stopped.
struct Checkpoint {
  std::uint64_t seed = 0;
  std::uint64_t batch = 0;
  std::uint64_t samples = 0;  ///< training samples
  std::uint64_t epoch = 0;    ///< epochs completed
  std::uint64_t step = 0;     ///< steps completed of the epoch after those
  double loss_sum = 0;        ///< over the samples of those steps
  std::vector<double> parameters;
  std::vector<double> velocity;  ///< as long as parameters
};

/// The bytes of a checkpoint file.
std::string encode(const Checkpoint& checkpoint);

/// The reverse. Refuses anything that is not exactly one whole checkpoint, saying what is wrong.
Result<Checkpoint> decode(const std::string& bytes);

class CheckpointDirectory {
 public:
  struct Found {
    std::optional<Checkpoint> newest;
    std::string name;                  ///< of the newest one
    std::vector<std::string> ignored;  ///< "NAME: what is wrong" of those passed over
  };

  /// Creates the directory and its parents where absent. Keeps the last `keep` checkpoints, at
  /// least one.
  static Result<CheckpointDirectory> open(const std::string& path, std::size_t keep);

  /// The newest complete checkpoint.
  Found find_newest() const;

  /// Returns once the checkpoint is durable; then removes those older than the last `keep`.
  Result<void> write(const Checkpoint& checkpoint) const;

 private:
  CheckpointDirectory(std::string path, std::size_t keep) : path_(std::move(path)), keep_(keep) {}
  std::vector<std::string> names_newest_first() const;
  void remove_older_than(const std::string& name) const;

  std::string path_;
  std::size_t keep_;
};

}  // namespace artel::workload
