// The words of `artel simulate` as values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/syntax.h"
#include "sim/trace/lublin.h"
#include "sim/trace/workload.h"

namespace artel::cli {

struct SimulateOptions {
  std::string trace;      // a file; or
  bool generate = false;  // a workload of a model; or
  std::string scenario;   // a file of scenarios
  trace::LublinOptions model;
  std::vector<std::string> policies;  // one or two
  std::optional<trace::Resource> resource;
  std::optional<trace::Milli> capacity;
  std::optional<std::uint64_t> first;
  std::optional<trace::Seconds> checkpoint_every;
  std::optional<std::uint64_t> node_size;
  trace::Seconds grace = 60;
  std::string cluster;  // files; empty: none
  std::string teams;
  std::string csv;
  std::string html;
};

std::vector<Option> simulate_option_list();
/// Error: kInvalidArgument naming the option; so is an option that would have no effect.
Result<SimulateOptions> read_simulate_options(const Parsed& parsed);

}  // namespace artel::cli
