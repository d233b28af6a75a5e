// artel logs: the output of a job, followed where wanted.
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/interrupts.h"
#include "cli/job_exit.h"
#include "cli/json.h"
#include "client.pb.h"
#include "rpc/client.h"

namespace artel::cli {
namespace {

OutputReader::Sink make_sink(const Context& context, std::uint64_t job) {
  if (!context.json) {
    return [](std::string_view text) { return write_to(STDOUT_FILENO, text); };
  }
  return [job](std::string_view text) -> Result<> {
    if (text.empty()) return {};
    return write_to(STDOUT_FILENO, json_line({{"job", job}, {"data", text}}));
  };
}

/// What is there now, and not what a busy job adds meanwhile.
int read_present(OutputReader& reader) {
  std::optional<std::uint64_t> end;
  for (;;) {
    const auto advanced = reader.advance();
    if (!advanced) return report(advanced.error());
    if (!end) end = reader.file_size();
    if (!*advanced || reader.offset() >= *end) return 0;
  }
}

int follow(rpc::Client& client, Interrupts& interrupts, std::uint64_t job, OutputReader& reader) {
  be_patient(client);
  const auto failed = [&](const Error& error) {
    return interrupts.count() > 0 ? kExitSignalBase + interrupts.last() : report(error);
  };
  const auto started = wait_for(client, interrupts, job, has_started, nullptr);
  if (!started) return failed(started.error());
  const auto read = follow_output({&reader}, interrupts, [&] { return interrupts.count() > 0; });
  if (!read) return failed(read.error());
  return interrupts.count() > 0 ? kExitSignalBase + interrupts.last() : 0;
}

}  // namespace

Syntax logs_syntax() {
  Syntax syntax;
  syntax.command = "logs";
  syntax.summary = "the output of a job, read on the node where it was written";
  syntax.usage = "[options] JOB";
  syntax.operands = Operands::kList;
  syntax.options = with_common({
      {"-f,--follow", Option::Kind::kFlag, "",
       "go on until the job ends; outlives restarts of the controller"},
      {"--stderr", Option::Kind::kFlag, "", "standard error, where it has a file of its own"},
  });
  syntax.examples = "  artel logs -f 17\n  artel logs --stderr 17\n";
  return syntax;
}

int logs_command(const Context& context, const Parsed& parsed) {
  const auto site = load_site(context);
  if (!site) return report(site.error());
  std::optional<Interrupts> interrupts;
  if (parsed.has("follow")) interrupts.emplace();
  const auto client = make_client(*site);
  if (interrupts) interrupts->on_signal([&client] { client->interrupt(); });
  const auto id = one_job(*client, parsed.operands);
  if (!id) return report(id.error());
  OutputReader reader(*client, *id, parsed.has("stderr"), make_sink(context, *id));
  return interrupts ? follow(*client, *interrupts, *id, reader) : read_present(reader);
}

}  // namespace artel::cli
