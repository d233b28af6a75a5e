#include "noded/os/inventory.h"

#include <unistd.h>

#include "base/text.h"
#include "noded/os/files.h"

namespace artel::noded {
namespace {

NodeResources machine_resources() {
  NodeResources resources;
  const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (cpus > 0) resources.cpus = static_cast<std::uint32_t>(cpus);
  if (pages > 0 && page > 0) {
    resources.memory.value = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  }
  return resources;
}

}  // namespace

Result<std::string> read_boot_id() {
  const auto text = read_file("/proc/sys/kernel/random/boot_id", 256);
  if (!text) return fail(text);
  return std::string(trim(*text));
}

Result<Inventory> take_inventory(const NodeConfig& node, const std::string& version) {
  auto boot_id = read_boot_id();
  if (!boot_id) return fail(boot_id);
  return Inventory{.boot_id = std::move(*boot_id),
                   .resources = node.simulated ? node.resources : machine_resources(),
                   .simulated = node.simulated,
                   .version = version,
                   .containment = "subreaper",
                   .agent_pid = static_cast<std::uint32_t>(::getpid())};
}

}  // namespace artel::noded
