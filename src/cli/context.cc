#include "cli/context.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "rpc/client.h"

namespace artel::cli {
namespace {

std::optional<std::size_t> columns_variable() {
  const char* text = std::getenv("COLUMNS");
  if (text == nullptr) return std::nullopt;
  constexpr std::uint64_t kMost = 10000;
  const auto number = parse_number("COLUMNS", text, 1, kMost);
  return number ? std::optional<std::size_t>(*number) : std::nullopt;
}

}  // namespace

Terminal Terminal::probe() {
  Terminal terminal;
  terminal.is_terminal = ::isatty(STDOUT_FILENO) == 1;
  if (!terminal.is_terminal) return terminal;
  constexpr std::size_t kUsualWidth = 80;
  winsize size{};
  terminal.width = kUsualWidth;
  if (const auto columns = columns_variable()) {
    terminal.width = *columns;
  } else if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.width = size.ws_col;
  }
  const char* no_color = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  terminal.color = (no_color == nullptr || *no_color == '\0') && kind != nullptr &&
                   std::string_view(kind) != "dumb";
  return terminal;
}

std::string_view version() { return ARTEL_VERSION; }

std::vector<Option> with_common(std::vector<Option> options) {
  options.push_back({"--json", Option::Kind::kFlag, "", "machine-readable output, see the manual"});
  options.push_back({"--config", Option::Kind::kValue, "DIR",
                     "folder of the configuration (else $ARTEL_CONFIG, else /etc/artel)"});
  options.push_back({"-h,--help", Option::Kind::kFlag, "", "show this help"});
  return options;
}

Result<config::SiteConfig> load_site(const Context& context) {
  return config::load_config(config::config_folder(context.config_folder));
}

ClientPointer make_client(const config::SiteConfig& site) {
  rpc::ClientOptions options;
  options.address = site.controller;
  options.munge_socket = site.munge_socket;
  options.version = std::string(version());
  return ClientPointer(std::make_unique<rpc::Client>(std::move(options)).release());
}

Result<ClientPointer> connect(const Context& context) {
  auto site = load_site(context);
  if (!site) return fail(site);
  return make_client(*site);
}

Result<> write_to(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return fail(ErrorCode::kIo, fmt::format("cannot write the output: {}", std::strerror(errno)));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

void complain(std::string_view text) {
  // Nothing is left to do where standard error is gone.
  (void)write_to(STDERR_FILENO, fmt::format("artel: {}\n", text));
}

int report(const Error& error) {
  complain(error.text);
  return error_exit_code(error.code);
}

int finish(std::string_view text, int code) {
  if (auto written = write_to(STDOUT_FILENO, text); !written) return report(written.error());
  return code;
}

std::string caller_name() {
  std::array<char, 16384> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  const uid_t uid = ::geteuid();
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return found->pw_name;
  }
  return std::to_string(uid);
}

}  // namespace artel::cli
