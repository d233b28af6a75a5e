// What all commands share: where output goes, the site's configuration, the connection.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/syntax.h"
#include "config/config.h"

namespace artel::rpc {
class Client;
}

namespace artel::cli {

/// What the other end of the output can do.
struct Terminal {
  bool is_terminal = false;  // standard output
  bool color = false;        // never alone in meaning; NO_COLOR and TERM=dumb turn it off
  std::size_t width = 0;     // columns; 0: no limit, lines stay whole

  /// What standard output is now.
  static Terminal probe();
};

struct Context {
  std::string config_folder;  // --config; empty: the usual lookup
  bool json = false;
  Terminal terminal;
};

/// The version of this program.
std::string_view version();

/// --json, --config, --help, which every command has.
std::vector<Option> with_common(std::vector<Option> options);

/// Clients are not taken down: the process ends with _exit, which closes the connection at once,
/// while an orderly shutdown of gRPC takes longer than most commands.
struct LeftToExit {
  void operator()(rpc::Client* /*client*/) const {}
};
using ClientPointer = std::unique_ptr<rpc::Client, LeftToExit>;

Result<config::SiteConfig> load_site(const Context& context);
/// A client of the site's controller; connects at its first call.
ClientPointer make_client(const config::SiteConfig& site);
/// Both at once, for commands that need nothing else of the configuration.
Result<ClientPointer> connect(const Context& context);

/// Writes all of it to a descriptor. Error: kIo.
Result<> write_to(int descriptor, std::string_view text);
/// "artel: text" on standard error.
void complain(std::string_view text);
/// Complains and gives the exit code of the error.
int report(const Error& error);
/// The exit code after writing the text.
int finish(std::string_view text, int code = 0);

/// Of the calling account.
std::string caller_name();

}  // namespace artel::cli
