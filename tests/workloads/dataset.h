// The handwritten digits and the order in which training sees them.
//
// Invariants: I1 the split depends on the file only; I2 an epoch's order depends on seed and epoch
// only, so that any number of ranks and any resumed run sees the same batches. Source of the data:
// digits/README.md.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "result.h"

namespace artel::workload {

inline constexpr std::size_t kPixels = 64;
inline constexpr std::size_t kDigits = 10;

struct Sample {
  std::array<double, kPixels> pixels{};  ///< row by row, -1 (paper) to 1 (ink)
  std::size_t digit = 0;
};

struct Dataset {
  std::vector<Sample> train;
  std::vector<Sample> held_out;  ///< every fifth sample of the file; never trained on
};

/// Reads lines of 64 pixels from 0 to 16 and the digit. A malformed line is refused with its
/// number.
Result<Dataset> load_digits(const std::string& path);

/// Where the digits lie by default: digits.csv beside the program if there, else the source tree's
/// copy.
std::string default_digits_path();

/// A permutation of [0, count) fixed by seed and epoch.
std::vector<std::size_t> epoch_order(std::uint64_t seed, std::uint64_t epoch, std::size_t count);

}  // namespace artel::workload
