// A small classifier: 64 pixels, 64 tanh units, 10 digits, softmax and cross entropy.
//
// All parameters lie in one array so that gradients sum over ranks in one call and a checkpoint is
// one block. Double precision throughout: the same batch on 1 and on 8 ranks differs in the order
// of additions only.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataset.h"

namespace artel::workload {

class Network {
 public:
  static constexpr std::size_t kHidden = 64;
  static constexpr std::size_t kParameters =
      kHidden * kPixels + kHidden + kDigits * kHidden + kDigits;

  /// Random weights fixed by the seed (Glorot and Bengio 2010, uniform), biases zero.
  explicit Network(std::uint64_t seed);

  std::span<double> parameters() { return parameters_; }
  std::span<const double> parameters() const { return parameters_; }

  /// Adds the gradient of the sample's loss to `gradient` (kParameters long) and returns the loss.
  double add_gradient(const Sample& sample, std::span<double> gradient) const;

  std::size_t classify(const Sample& sample) const;

 private:
  struct Activations;
  Activations forward(const Sample& sample) const;

  std::vector<double> parameters_;
};

}  // namespace artel::workload
