// The folder as a whole: which files are read, and what must fit together between them.
#include "config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <system_error>

#include "base/text.h"
#include "config/files.h"

namespace artel::config {
namespace {

namespace fs = std::filesystem;

/// *.toml of the folder by name; none where there is no such folder.
std::vector<fs::path> files_of(const fs::path& folder, Mistakes& mistakes) {
  std::vector<fs::path> files;
  std::error_code error;
  if (!fs::exists(folder, error)) return files;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.front() != '.' && at->path().extension() == ".toml") files.push_back(at->path());
  }
  if (error) mistakes.add(fmt::format("{}: cannot be read: {}", folder.string(), error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

/// Reads the file and hands it to its grammar.
template <typename Reader>
void read_file(const fs::path& file, Mistakes& mistakes, Reader reader) {
  const auto document = read_document(file);
  if (!document) return mistakes.add(document.error().text);
  reader(Source{file.string(), mistakes}, *document);
}

std::vector<std::string> gpu_types(const SiteConfig& config) {
  std::set<std::string> types;
  for (const NodeConfig& node : config.nodes)
    if (node.resources.gpus > 0) types.insert(node.resources.gpu_type);
  return {types.begin(), types.end()};
}

}  // namespace

fs::path config_folder(const std::string& option) {
  if (!option.empty()) return option;
  const char* from_environment = std::getenv("ARTEL_CONFIG");
  if (from_environment != nullptr && *from_environment != '\0') return from_environment;
  return "/etc/artel";
}

Result<SiteConfig> load_config(const fs::path& folder) {
  const fs::path site = folder / "artel.toml";
  std::error_code error;
  if (!fs::exists(site, error))
    return fail(ErrorCode::kConfig,
                fmt::format("there is no {}; name the folder with --config or in ARTEL_CONFIG",
                            site.string()));
  SiteConfig config;
  config.folder = folder;
  Mistakes mistakes;
  read_file(site, mistakes, [&](const Source& source, const Value& document) {
    read_site(source, document, config);
  });
  Names nodes("node");
  for (const fs::path& file : files_of(folder / "cluster.d", mistakes))
    read_file(file, mistakes, [&](const Source& source, const Value& document) {
      read_cluster(source, document, nodes, config);
    });
  TeamNames names;
  names.gpu_types = gpu_types(config);
  for (const fs::path& file : files_of(folder / "teams.d", mistakes))
    read_file(file, mistakes, [&](const Source& source, const Value& document) {
      read_teams(source, document, names, config.teams);
    });
  check_teams(names, config.teams, mistakes);
  check_owners(nodes, names, config, mistakes);
  if (!mistakes.none()) return fail(ErrorCode::kConfig, mistakes.text());
  return config;
}

fs::path for_node(const std::string& pattern, const std::string& node) {
  std::string text;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const std::string_view letter = std::string_view(pattern).substr(at, 2);
    if (letter == "%n") {
      text += node;
      ++at;
    } else if (letter == "%%") {
      text += '%';
      ++at;
    } else {
      text += pattern[at];
    }
  }
  return text;
}

}  // namespace artel::config
