#include "ctld/main/node_keys.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <system_error>

#include "base/text.h"
#include "config/config.h"
#include "rpc/node_key.h"

namespace artel::ctld {
namespace {

Result<> check_names(const config::SiteConfig& site, const std::vector<std::string>& names) {
  std::vector<std::string_view> known;
  for (const NodeConfig& node : site.nodes) known.push_back(node.name);
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    return fail(ErrorCode::kNotFound,
                fmt::format("node '{}' is not in '{}'{}", name,
                            (site.folder / "cluster.d").string(), did_you_mean(name, known)));
  }
  return {};
}

Result<> make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  return fail(ErrorCode::kIo,
              fmt::format("cannot make folder '{}': {}", folder.string(), error.message()));
}

}  // namespace

Result<> make_node_keys(const std::filesystem::path& config,
                        const std::vector<std::string>& names) {
  ::umask(077);
  const auto site = config::load_config(config);
  if (!site) return fail(site);
  if (auto known = check_names(*site, names); !known) return known;
  if (auto made = make_folder(site->node_keys); !made) return made;
  for (const std::string& name : names) {
    const std::filesystem::path path = site->node_keys / (name + ".key");
    const auto made = rpc::generate_key_file(path);
    if (!made && made.error().code != ErrorCode::kWrongState) return made;
    fmt::print("{}\n", path.string());
  }
  return {};
}

}  // namespace artel::ctld
