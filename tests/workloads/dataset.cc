// Reading, splitting and ordering the digits; see dataset.h.

#include "dataset.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <random>
#include <string_view>
#include <utility>

namespace artel::workload {
namespace {

constexpr int kFullInk = 16;  // each pixel counts the ink in a block of 4x4
constexpr std::size_t kHeldOutEvery = 5;

std::optional<Sample> parse_sample(std::string_view line) {
  Sample sample;
  const char* at = line.data();
  const char* const end = line.data() + line.size();
  for (std::size_t column = 0; column <= kPixels; ++column) {
    int number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    const bool is_last = column == kPixels;
    if (error != std::errc{} || number < 0) return std::nullopt;
    if (is_last ? next != end : next == end || *next != ',') return std::nullopt;
    if (is_last) {
      sample.digit = static_cast<std::size_t>(number);
    } else {
      if (number > kFullInk) return std::nullopt;
      sample.pixels[column] = 2.0 * number / kFullInk - 1;
      at = next + 1;
    }
  }
  if (sample.digit >= kDigits) return std::nullopt;
  return sample;
}

}  // namespace

Result<Dataset> load_digits(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Failure("cannot open the digits at " + path);
  Dataset dataset;
  std::string line;
  for (std::size_t number = 0; std::getline(file, line); ++number) {
    const auto sample = parse_sample(line);
    if (!sample) {
      return Failure(path + ": line " + std::to_string(number + 1) +
                     " is not 64 pixels from 0 to 16 and a digit");
    }
    const bool held_out = number % kHeldOutEvery == kHeldOutEvery - 1;
    (held_out ? dataset.held_out : dataset.train).push_back(*sample);
  }
  if (dataset.held_out.empty()) return Failure(path + ": fewer than five samples");
  return dataset;
}

std::string default_digits_path() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto beside = program.parent_path() / "digits.csv";
  if (!error && std::filesystem::exists(beside, error)) return beside.string();
  return ARTEL_DIGITS_CSV;
}

std::vector<std::size_t> epoch_order(std::uint64_t seed, std::uint64_t epoch, std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::seed_seq sequence{seed, seed >> 32, epoch, epoch >> 32};
  std::mt19937_64 random(sequence);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

}  // namespace artel::workload
