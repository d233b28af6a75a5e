// Workloads of the model of Lublin and Feitelson, so that policies can be tried where no log is.
//
// Source: U. Lublin, D. Feitelson, "The workload on parallel supercomputers: modeling the
// characteristics of rigid jobs", JPDC 63(11), 2003, with the parameters for jobs of all types. The
// same options give the same workload on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/trace/workload.h"

namespace artel::trace {

/// What jobs say about their length. The model has no limits.
enum class GeneratedLimits : std::uint8_t {
  kExact,  // the run time
  kRound,  // one to three times the run time, up to the next value that people like: 15 min to 8 d
};

struct LublinOptions {
  std::uint64_t jobs = 1000;
  std::uint64_t seed = 1;
  std::uint64_t units = 256;    // size of the machine; the largest job has all of it
  std::uint64_t node_size = 8;  // units of a node: larger jobs take whole nodes
  std::optional<double>
      load;  // sum of size x run time over units x time; nullopt: as the model has it
  GeneratedLimits limits = GeneratedLimits::kExact;
  std::vector<std::string> teams;  // empty: no teams; the first have more jobs
};

/// Error: kInvalidArgument where an option is out of range.
Result<Workload> generate_lublin(const LublinOptions& options);

}  // namespace artel::trace
