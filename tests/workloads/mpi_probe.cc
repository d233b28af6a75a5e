// mpi_probe: one line per rank, and ranks that end in chosen ways, for tests of launching.

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "arguments.h"
#include "world.h"

namespace artel::workload {
namespace {

struct RankAndCode {
  int rank = 0;
  int code = 0;
};

struct ProbeOptions {
  bool help = false;
  std::optional<RankAndCode> abort;
  std::optional<RankAndCode> exit;
  std::uint64_t sleep_s = 0;
};

constexpr const char* kHelp = R"(Usage: mpi_probe [OPTION VALUE]...

Each rank prints `rank R of N node NAME local L pid P`, meets the others in a barrier and finishes.
NAME is $ARTEL_NODE where set, else MPI's processor name; L is the rank among those sharing memory.

  --sleep S            seconds to stay after the line
  --abort RANK:CODE    then rank RANK calls MPI_Abort with CODE
  --exit RANK:CODE     then rank RANK exits with CODE without MPI_Finalize
  -h, --help           this text

Exit code: 0 all met, 2 usage, or CODE.

Example:
  mpirun -n 4 mpi_probe --sleep 2 --exit 3:7
)";

Result<RankAndCode> parse_rank_and_code(const Argument& argument) {
  const auto parts = colon_parts(argument.name, argument.value, 2);
  if (!parts) return Failure(parts.error());
  const auto rank = whole_number(argument.name, (*parts)[0], 0, 1'000'000);
  if (!rank) return Failure(rank.error());
  const auto code = whole_number(argument.name, (*parts)[1], 0, 255);
  if (!code) return Failure(code.error());
  return RankAndCode{static_cast<int>(*rank), static_cast<int>(*code)};
}

Result<void> apply(const Argument& argument, ProbeOptions& options) {
  if (argument.name == "--help") {
    options.help = true;
  } else if (argument.name == "--sleep") {
    const auto seconds = whole_number(argument.name, argument.value, 0, 86'400);
    if (!seconds) return Failure(seconds.error());
    options.sleep_s = *seconds;
  } else if (argument.name == "--abort" || argument.name == "--exit") {
    const auto end = parse_rank_and_code(argument);
    if (!end) return Failure(end.error());
    (argument.name == "--abort" ? options.abort : options.exit) = *end;
  } else {
    return Failure("unknown option '" + argument.name + "'");
  }
  return {};
}

Result<ProbeOptions> parse(std::span<char* const> words) {
  const auto arguments = split_arguments(words);
  if (!arguments) return Failure(arguments.error());
  ProbeOptions options;
  for (const Argument& argument : *arguments) {
    if (auto applied = apply(argument, options); !applied) return Failure(applied.error());
  }
  return options;
}

void probe(const World& world, const ProbeOptions& options) {
  const int local = world.local_rank();
  std::printf("rank %d of %d node %s local %d pid %d\n", world.rank(), world.size(),
              node_name().c_str(), local, static_cast<int>(::getpid()));
  std::this_thread::sleep_for(std::chrono::seconds(options.sleep_s));
  if (options.abort && options.abort->rank == world.rank()) world.abort(options.abort->code);
  if (options.exit && options.exit->rank == world.rank()) ::_exit(options.exit->code);
  world.barrier();
}

}  // namespace
}  // namespace artel::workload

int main(int argc, char** argv) {
  using namespace artel::workload;
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const auto options = parse(std::span(argv + 1, argv + argc));
  if (!options) return refuse_usage("mpi_probe", options.error());
  if (options->help) {
    std::fputs(kHelp, stdout);
    return kSuccess;
  }
  const World world(&argc, &argv);
  probe(world, *options);
  return kSuccess;
}
