// What every fuzz target offers: the entry point that libFuzzer calls, and inputs to begin with.
//
// Built by gcc with smoke_main.cc, a target runs its seeds and a fixed number of mutations of them,
// the same at each run. Built by the preset `fuzz`, libFuzzer drives it; `NAME --write-seeds DIR`
// fills a corpus to begin with. A broken invariant aborts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

// libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace artel::fuzz {

/// Valid inputs of the target.
std::vector<std::string> seeds();

inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace artel::fuzz
