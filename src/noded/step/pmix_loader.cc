#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "noded/step/pmix_server.h"

namespace artel::step {
namespace {

/// Never from a place that the environment names: the daemon is root.
std::string module_path() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  for (const char* place : {"../lib/artel-pmix.so", "../lib/artel/artel-pmix.so"}) {
    const auto path = (self.parent_path() / place).lexically_normal();
    if (std::filesystem::exists(path, error)) return path;
  }
  return ARTEL_PMIX_INSTALLED;
}

}  // namespace

Result<std::unique_ptr<PmixServer>> load_pmix_server(PmixEvents& events) {
  const std::string path = module_path();
  // Global, since the library loads plug-ins of its own that look for its symbols.
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    return fail(ErrorCode::kLaunch, fmt::format("MPI support cannot be loaded: {}", ::dlerror()));
  }
  const auto create = reinterpret_cast<PmixFactory>(::dlsym(handle, kPmixFactoryName));
  if (create == nullptr) {
    return fail(ErrorCode::kLaunch, fmt::format("MPI support cannot be loaded: {}", ::dlerror()));
  }
  return std::unique_ptr<PmixServer>(create(&events));
}

}  // namespace artel::step
