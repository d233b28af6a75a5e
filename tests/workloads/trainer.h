// The training loop: data-parallel SGD with momentum, reports, checkpoints and leaving early.
//
// Invariants: I1 all ranks hold the same state after each step; I2 every decision that changes the
// sequence of collective calls (leave or stay) is taken on a value summed over all ranks.

#pragma once

#include <optional>
#include <vector>

#include "checkpoint.h"
#include "dataset.h"
#include "network.h"
#include "options.h"
#include "world.h"

namespace artel::workload {

class Trainer {
 public:
  /// Opens the checkpoint directory where one is asked for and takes up the newest checkpoint.
  /// Collective. `world` and `options` must outlive the trainer.
  Trainer(const World& world, const Options& options, Dataset dataset);

  /// Trains until done or told to leave; rank 0 reports on stdout. Returns the exit code.
  /// Collective.
  int run();

 private:
  void resume();
  std::string newest_on_first_rank();
  void adopt(Checkpoint checkpoint);

  void finish_epoch();
  void train_step();
  void apply_gradient(std::size_t batch_size);
  void delay();
  bool agree_to_leave();
  int leave();

  void save();
  void fail_if_planned() const;
  double accuracy() const;
  std::size_t steps_per_epoch() const;
  template <class T>
  T value_or_abort(Result<T> result) const;

  const World& world_;
  const Options& options_;
  const Dataset dataset_;
  Network network_;
  std::vector<double> velocity_;
  std::vector<double>
      exchange_;  ///< gradient, loss, number of ranks told to leave: one sum per step
  std::vector<std::size_t> order_;
  std::uint64_t epoch_ = 0;  ///< completed
  std::size_t step_ = 0;     ///< completed of the epoch after those
  double loss_sum_ = 0;
  bool leaving_ = false;
  std::optional<CheckpointDirectory> directory_;  ///< on rank 0 only
};

}  // namespace artel::workload
