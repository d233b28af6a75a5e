// A workload: jobs of a log or of a model, as they were asked for and as they ran.
//
// What every reader and generator gives and every policy is tried on. Plain values; not shared
// between threads. Sources: the Standard Workload Format of the Parallel Workloads Archive
// (Feitelson, Tsafrir, Krakov 2014).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace artel::trace {

/// Whole seconds since the first job of the workload.
using Seconds = std::int64_t;
/// Amounts of GPUs, cores and nodes in thousandths, so that shares of a GPU stay integers.
using Milli = std::int64_t;
inline constexpr Milli kMilli = 1000;

/// What a machine's capacity counts in.
enum class Resource : std::uint8_t { kCpus, kGpus, kNodes };
std::string_view resource_name(Resource resource);  // "cpus"
/// Error: kInvalidArgument with the words that are accepted.
Result<Resource> parse_resource(std::string_view word);

/// One rigid job. Names are indexes into Workload::names; 0 is the empty name.
struct Job {
  std::string id;
  std::uint32_t user{};
  std::uint32_t team{};
  std::uint32_t queue{};
  std::uint32_t priority{};
  Seconds submit{};
  Seconds runtime{};             // how long it ran, > 0
  std::optional<Seconds> limit;  // the wall time limit that its user gave, > 0
  Milli nodes = kMilli;
  Milli gpus{};           // in all
  Milli gpus_per_node{};  // 0: not said
  Milli cpus{};           // in all
};

/// Sorted by submit time; the first is at 0. Equal times keep the order of the source.
struct Workload {
  std::string name;
  std::vector<Job> jobs;
  std::vector<std::string> names{std::string()};
  /// What the source says about its machine: MaxProcs or MaxNodes of a log's head, the size a
  /// model was made for.
  std::optional<Milli> capacity;
  std::optional<Resource> resource;
  std::uint64_t dropped{};  // rows of the source that describe no run
};

Milli amount_of(const Job& job, Resource resource);

/// Gives each name one index. Cost: a binary search.
class Names {
 public:
  explicit Names(std::vector<std::string>& names) : names_(names) {}
  std::uint32_t index_of(std::string_view name);

 private:
  std::vector<std::string>& names_;
  std::vector<std::uint32_t> sorted_;  // by the name's text
};

}  // namespace artel::trace
