// artel.toml: where the daemons are and what they keep where.
#include <fmt/format.h>

#include "base/hostlist.h"
#include "base/text.h"
#include "config/files.h"
#include "model/output_path.h"

namespace artel::config {
namespace {

/// What is after "host:", or an error.
Result<> check_endpoint(const std::string& text) {
  const auto colon = text.rfind(':');
  const std::string host = text.substr(0, colon);
  constexpr std::uint64_t kMostPort = 65535;
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const bool is_host = !host.empty() && host.find_first_of(" \t/,") == std::string::npos &&
                       (is_bracketed || host.find(':') == std::string::npos);
  if (colon == std::string::npos || !is_host ||
      !parse_number("port", text.substr(colon + 1), 1, kMostPort))
    return fail(
        ErrorCode::kConfig,
        fmt::format("'{}' is not host:port, such as ctl.example.org:7817 or [::1]:7817", text));
  return {};
}

void endpoint(Section& section, std::string_view key, std::string& out) {
  if (!section.text(key, out)) return;
  if (const auto checked = check_endpoint(out); !checked)
    section.mistake(key, checked.error().text);
}

/// An absolute path; `pattern`: %n stands for the node's name.
void path(Section& section, std::string_view key, bool pattern, std::string& out) {
  if (!section.text(key, out)) return;
  if (!std::filesystem::path(out).is_absolute())
    section.mistake(key, fmt::format("'{}' must be an absolute path", out));
  for (std::size_t at = out.find('%'); pattern && at != std::string::npos; at = out.find('%', at)) {
    const std::string letter = out.substr(at, 2);
    if (letter != "%n" && letter != "%%")
      section.mistake(key,
                      fmt::format("'{}' is not known here; %n is the node's name, %% a percent "
                                  "sign",
                                  letter));
    at += letter.size();
  }
}

void path(Section& section, std::string_view key, std::filesystem::path& out) {
  std::string text = out.string();
  path(section, key, false, text);
  out = text;
}

void read_cluster_table(Section section, SiteConfig& config) {
  if (section.text("name", config.cluster)) {
    const auto names = unfold_hosts(config.cluster);
    if (!names || names->size() != 1 || names->front() != config.cluster)
      section.mistake("name", fmt::format("'{}' must be made of letters, digits, '-', '_' and '.', "
                                          "and begin with a letter or digit",
                                          config.cluster));
  }
  endpoint(section, "controller", config.controller);
  section.end();
}

void read_munge_table(Section section, SiteConfig& config) {
  if (section.text("socket", config.munge_socket) && !config.munge_socket.empty() &&
      config.munge_socket.front() != '/')
    section.mistake("socket", fmt::format("'{}' must be an absolute path, or empty for munge's own "
                                          "default",
                                          config.munge_socket));
  section.end();
}

/// "29400-30399"
Result<> read_ports(const std::string& text, SiteConfig& config) {
  const auto dash = text.find('-');
  constexpr std::uint64_t kLeast = 1024;
  constexpr std::uint64_t kMost = 65535;
  const auto first = parse_number("first port", text.substr(0, dash), kLeast, kMost);
  const auto last = dash == std::string::npos
                        ? first
                        : parse_number("last port", text.substr(dash + 1), kLeast, kMost);
  if (!first) return fail(first);
  if (!last) return fail(last);
  if (*last < *first) return fail(ErrorCode::kConfig, fmt::format("range {} runs backwards", text));
  config.master_port_first = static_cast<std::uint16_t>(*first);
  config.master_port_last = static_cast<std::uint16_t>(*last);
  return {};
}

void read_backups(Section& section, SiteConfig& config) {
  constexpr std::uint64_t kMostBackups = 10'000;
  config.backups = config.ctld_state / "backups";
  path(section, "backups", config.backups);
  section.span("backup_every", config.backup_every);
  section.number("backup_keep", 1, kMostBackups, config.backup_keep);
}

void read_limits_of_store(Section& section, SiteConfig& config) {
  constexpr Duration kShortest{std::chrono::days{3}};
  section.bytes("min_free", config.min_free);
  section.bytes("reserve", config.reserve);
  // Submissions may be repeated for two days.
  if (section.span("history", config.history) && config.history != Duration::zero() &&
      config.history < kShortest)
    section.mistake("history", "must be 3d or longer, or \"0s\" to keep all for ever");
  config.history_export = config.ctld_state / "history";
  path(section, "history_export", config.history_export);
}

void read_ctld_table(Section section, SiteConfig& config) {
  endpoint(section, "listen", config.listen);
  path(section, "state", config.ctld_state);
  path(section, "node_keys", config.node_keys);
  section.texts("operators", config.operators);
  section.duration("prepare_timeout", config.prepare_timeout);
  constexpr std::uint64_t kMostStrikes = 1000;
  if (std::uint64_t strikes = 0; section.number("strikes_to_drain", 0, kMostStrikes, strikes))
    config.strikes_to_drain = static_cast<std::uint32_t>(strikes);
  if (std::uint64_t tasks = 0; section.number("max_array_tasks", 1, kMostArrayTasks, tasks))
    config.max_array_tasks = static_cast<std::uint32_t>(tasks);
  section.duration("strike_window", config.strike_window);
  std::string ports;
  if (section.text("master_ports", ports))
    if (const auto read = read_ports(ports, config); !read)
      section.mistake("master_ports",
                      read.error().text + "; write first-last, such as 29400-30399");
  read_backups(section, config);
  read_limits_of_store(section, config);
  section.end();
}

void read_noded_table(Section section, SiteConfig& config) {
  path(section, "state", true, config.node_state);
  path(section, "key", true, config.node_key);
  constexpr std::uint64_t kMostPort = 65535;
  if (std::uint64_t port = 0; section.number("probe_port", 0, kMostPort, port))
    config.probe_port = static_cast<std::uint16_t>(port);
  section.end();
}

void read_jobs_table(Section section, SiteConfig& config) {
  section.gone("grace", "each class has its own; write [[class]] with name and grace in teams.d");
  if (section.text("output", config.output)) {
    const std::string unknown = unknown_placeholder(config.output);
    if (config.output.empty()) section.mistake("output", "must name a file");
    if (!unknown.empty())
      section.mistake("output",
                      fmt::format("'{}' is not known here; known are %j job, %A array, %t task, %a "
                                  "attempt, %x name, %u user, %% percent",
                                  unknown));
  }
  section.end();
}

}  // namespace

void read_site(const Source& source, const Value& document, SiteConfig& config) {
  Section top(source, "", document);
  const auto read = [&](std::string_view name, void (*reader)(Section, SiteConfig&)) {
    if (const Value* table = top.table(name))
      reader(Section(source, std::string(name), *table), config);
  };
  read("cluster", read_cluster_table);
  read("munge", read_munge_table);
  read("ctld", read_ctld_table);
  read("noded", read_noded_table);
  read("jobs", read_jobs_table);
  read("scheduler",
       [](Section section, SiteConfig& site) { read_scheduler(std::move(section), site.policy); });
  top.end();
}

}  // namespace artel::config
