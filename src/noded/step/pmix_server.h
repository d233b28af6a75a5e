// The PMIx server of one step on one node, as the daemon sees it. The implementation lives in a
// module of its own (noded/pmix), which is loaded only for steps that need it.
//
// Thread: PmixServer is called from the loop and never blocks for long; PmixEvents is called from
// the library's thread and must only hand the call over.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/job_spec.h"
#include "model/step_protocol.h"

namespace artel::step {

struct PmixSetup {
  std::string nspace;              // unguessable, the same on all nodes, never used twice
  std::string job_id;              // "17.0"
  std::vector<std::string> nodes;  // in gang order
  std::uint32_t node_index{};
  std::uint32_t ranks_per_node = 1;  // rank = node_index * ranks_per_node + local
  std::string directory;             // private to the attempt, owned by root
  uid_t uid{};
  gid_t gid{};
};

/// What the local ranks ask of the gang.
class PmixEvents {
 public:
  virtual ~PmixEvents() = default;
  /// All local participants arrived; answered by fence_result() with the same signature and
  /// sequence.
  virtual void pmix_fence(FencePart part) = 0;
  /// Data of a rank of another node is wanted; answered by modex_result().
  virtual void pmix_modex(std::uint64_t request, std::uint32_t rank) = 0;
  /// The answer to serve_modex().
  virtual void pmix_served(std::uint64_t token, std::int32_t status, std::string blob) = 0;
  /// A rank called PMIx_Abort and waits for finish_abort().
  virtual void pmix_abort(std::uint64_t token, std::uint32_t rank, std::int32_t status,
                          std::string message) = 0;
};

class PmixServer {
 public:
  virtual ~PmixServer() = default;
  /// Initialises the library and registers the step. Takes some 60 ms; starts threads. Error:
  /// kLaunch.
  virtual Result<> start(const PmixSetup& setup) = 0;
  /// The variables by which a local rank finds this server. Error: kLaunch.
  virtual Result<Environment> rank_environment(std::uint32_t local) = 0;
  virtual void fence_result(const FencePart& result) = 0;
  virtual void modex_result(std::uint64_t request, std::int32_t status,
                            const std::string& blob) = 0;
  virtual void serve_modex(std::uint64_t token, std::uint32_t rank) = 0;
  virtual void finish_abort(std::uint64_t token) = 0;
  /// Whether the local rank connected and has not finalised.
  [[nodiscard]] virtual bool is_connected(std::uint32_t local) const = 0;
  /// Only after all nodes of the gang have ended. Removes its files.
  virtual void stop() = 0;
};

/// Entry of the module.
using PmixFactory = PmixServer* (*)(PmixEvents*);
inline constexpr const char* kPmixFactoryName = "artel_pmix_create";

/// Loads artel-pmix.so from the lib folder beside the program's own, or from where it is installed.
/// Once a process; `events` must live as long as the server. Error: kLaunch naming the module.
Result<std::unique_ptr<PmixServer>> load_pmix_server(PmixEvents& events);

}  // namespace artel::step
