// Forward and backward pass; see network.h.

#include "network.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace artel::workload {
namespace {

// Layout of the parameter array: weights are rows of one unit's inputs.
constexpr std::size_t kHiddenWeights = 0;
constexpr std::size_t kHiddenBiases = kHiddenWeights + Network::kHidden * kPixels;
constexpr std::size_t kOutputWeights = kHiddenBiases + Network::kHidden;
constexpr std::size_t kOutputBiases = kOutputWeights + kDigits * Network::kHidden;

void fill_uniform(std::span<double> values, double limit, std::mt19937_64& random) {
  for (double& value : values) {
    const double unit = static_cast<double>(random() >> 11) * 0x1.0p-53;
    value = limit * (2 * unit - 1);
  }
}

void softmax(std::span<double> scores) {
  const double highest = *std::max_element(scores.begin(), scores.end());
  double total = 0;
  for (double& score : scores) total += score = std::exp(score - highest);
  for (double& score : scores) score /= total;
}

}  // namespace

struct Network::Activations {
  std::array<double, kHidden> hidden;
  std::array<double, kDigits> probabilities;
};

Network::Network(std::uint64_t seed) : parameters_(kParameters, 0.0) {
  std::mt19937_64 random(seed);
  const std::span<double> all(parameters_);
  fill_uniform(all.subspan(kHiddenWeights, kHidden * kPixels),
               std::sqrt(6.0 / static_cast<double>(kPixels + kHidden)), random);
  fill_uniform(all.subspan(kOutputWeights, kDigits * kHidden),
               std::sqrt(6.0 / static_cast<double>(kHidden + kDigits)), random);
}

double Network::add_gradient(const Sample& sample, std::span<double> gradient) const {
  const Activations at = forward(sample);
  std::array<double, kHidden> into_hidden{};
  for (std::size_t k = 0; k < kDigits; ++k) {
    const double error = at.probabilities[k] - (k == sample.digit ? 1.0 : 0.0);
    const std::size_t row = kOutputWeights + k * kHidden;
    for (std::size_t j = 0; j < kHidden; ++j) {
      gradient[row + j] += error * at.hidden[j];
      into_hidden[j] += error * parameters_[row + j];
    }
    gradient[kOutputBiases + k] += error;
  }
  for (std::size_t j = 0; j < kHidden; ++j) {
    const double error = into_hidden[j] * (1 - at.hidden[j] * at.hidden[j]);
    const std::size_t row = kHiddenWeights + j * kPixels;
    for (std::size_t i = 0; i < kPixels; ++i) gradient[row + i] += error * sample.pixels[i];
    gradient[kHiddenBiases + j] += error;
  }
  return -std::log(std::max(at.probabilities[sample.digit], std::numeric_limits<double>::min()));
}

std::size_t Network::classify(const Sample& sample) const {
  const auto probabilities = forward(sample).probabilities;
  const auto best = std::max_element(probabilities.begin(), probabilities.end());
  return static_cast<std::size_t>(best - probabilities.begin());
}

Network::Activations Network::forward(const Sample& sample) const {
  Activations at;
  for (std::size_t j = 0; j < kHidden; ++j) {
    double sum = parameters_[kHiddenBiases + j];
    const std::size_t row = kHiddenWeights + j * kPixels;
    for (std::size_t i = 0; i < kPixels; ++i) sum += parameters_[row + i] * sample.pixels[i];
    at.hidden[j] = std::tanh(sum);
  }
  for (std::size_t k = 0; k < kDigits; ++k) {
    double sum = parameters_[kOutputBiases + k];
    const std::size_t row = kOutputWeights + k * kHidden;
    for (std::size_t j = 0; j < kHidden; ++j) sum += parameters_[row + j] * at.hidden[j];
    at.probabilities[k] = sum;
  }
  softmax(at.probabilities);
  return at;
}

}  // namespace artel::workload
