// The ranks of one MPI program: the only header through which train_digits talks to MPI.
//
// Thread rule: one thread per rank. All ranks must make the same sequence of collective calls. An
// MPI error ends the program (MPI's default error handler), so nothing here returns one.

#pragma once

#include <span>
#include <string>
#include <vector>

namespace artel::workload {

/// Lives from MPI_Init to MPI_Finalize; one per process.
class World {
 public:
  World(int* argc, char*** argv);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_first() const { return rank_ == 0; }

  /// Replaces each element by its sum over all ranks. Collective.
  void sum(std::span<double> values) const;

  /// Rank 0's bytes on every rank. Collective.
  void broadcast(std::string* bytes) const;

  /// On rank 0 the text of every rank in rank order (cut at 255 bytes each), elsewhere nothing.
  /// Collective.
  std::vector<std::string> gather(const std::string& text) const;

  /// Returns when every rank has come here. Collective.
  void barrier() const;

  /// Rank among those that share this rank's memory, as MPI sees it. Collective.
  int local_rank() const;

  /// Ends all ranks with MPI_Abort.
  [[noreturn]] void abort(int code) const;

 private:
  int rank_ = 0;
  int size_ = 1;
};

/// ARTEL_NODE where set (several agents on one host), otherwise MPI_Get_processor_name. Needs a
/// World.
std::string node_name();

}  // namespace artel::workload
