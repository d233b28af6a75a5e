#include "sim/trace/workload.h"

#include <algorithm>

#include "base/text.h"

namespace artel::trace {

std::string_view resource_name(Resource resource) {
  switch (resource) {
    case Resource::kCpus:
      return "cpus";
    case Resource::kGpus:
      return "gpus";
    case Resource::kNodes:
      break;
  }
  return "nodes";
}

Result<Resource> parse_resource(std::string_view word) {
  for (const Resource one : {Resource::kCpus, Resource::kGpus, Resource::kNodes}) {
    if (word == resource_name(one)) return one;
  }
  return fail(ErrorCode::kInvalidArgument, "'" + std::string(word) + "' is no resource" +
                                               did_you_mean(word, {"cpus", "gpus", "nodes"}) +
                                               "; accepted are cpus, gpus and nodes");
}

Milli amount_of(const Job& job, Resource resource) {
  switch (resource) {
    case Resource::kCpus:
      return job.cpus;
    case Resource::kGpus:
      return job.gpus;
    case Resource::kNodes:
      break;
  }
  return job.nodes;
}

std::uint32_t Names::index_of(std::string_view name) {
  if (name.empty()) return 0;
  const auto less = [this](std::uint32_t index, std::string_view text) {
    return names_[index] < text;
  };
  const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), name, less);
  if (at != sorted_.end() && names_[*at] == name) return *at;
  const auto index = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  sorted_.insert(at, index);
  return index;
}

}  // namespace artel::trace
