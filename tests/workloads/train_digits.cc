// train_digits: the training job of the quickstart and of the tests.
//
// It does what such a job must do on a shared cluster: the same result on any number of ranks,
// checkpoints that survive a crash, and leaving in time when warned.

#include <cstdio>
#include <span>
#include <string>

#include "arguments.h"
#include "dataset.h"
#include "leave_signal.h"
#include "options.h"
#include "trainer.h"
#include "world.h"

namespace artel::workload {
namespace {

void report_world(const World& world) {
  const auto nodes = world.gather(node_name());
  if (!world.is_first()) return;
  std::string line = "world size " + std::to_string(world.size()) + " on nodes:";
  for (const std::string& node : nodes) line += " " + node;
  std::puts(line.c_str());
}

int train(const World& world, const Options& options) {
  report_world(world);
  auto dataset = load_digits(options.digits_path);
  if (!dataset) {
    std::fprintf(stderr, "train_digits: rank %d: %s\n", world.rank(), dataset.error().c_str());
    world.abort(kFault);
  }
  return Trainer(world, options, std::move(*dataset)).run();
}

}  // namespace
}  // namespace artel::workload

int main(int argc, char** argv) {
  using namespace artel::workload;
  watch_leave_signals();
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const auto options = parse_options(std::span(argv + 1, argv + argc));
  if (!options) return refuse_usage("train_digits", options.error());
  if (options->help) {
    std::fputs(kTrainDigitsHelp, stdout);
    return kSuccess;
  }
  const World world(&argc, &argv);
  return train(world, *options);
}
