// Load on a running cluster through the client library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rpc/client.h"

namespace artel::bench {

struct Target {
  rpc::ClientOptions client;
  std::string working_directory;  // writable for the user
};

/// Calls per second of one client that the service refuses before they reach the controller's
/// loop: what a call costs at least.
double refused_calls_per_second(const Target& target, double seconds);

/// Acknowledged submissions of held jobs per second, one job a call, by `clients` persistent
/// connections. The jobs are cancelled afterwards.
double submits_per_second(const Target& target, int clients, double seconds);

/// The same in one call of `jobs` jobs; jobs per second of that call.
double bulk_submits_per_second(const Target& target, int jobs);

/// From the submission of `jobs` no-op jobs in one call to the end of the last one, in jobs per
/// second.
double noop_jobs_per_second(const Target& target, int jobs, bool whole_node);

/// Milliseconds from the submission to the first process of single jobs on an idle cluster, sorted.
std::vector<double> start_ms(const Target& target, int times);

}  // namespace artel::bench
