// Runs simulated worlds: fresh seeds, recorded seeds, replays of one seed, and the proof that
// switched-off mechanisms are noticed.
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "sim/world.h"

namespace {

using artel::sim::Mutation;
using artel::sim::WorldOptions;
using artel::sim::WorldResult;

struct Arguments {
  std::uint64_t first = 1;
  std::uint64_t seeds = 1;
  bool fresh = false;
  bool twice = false;
  bool mutations = false;
  std::string recorded;
};

/// Of these seeds the worlds are such that nodes are given up.
constexpr std::uint64_t kRareEvery = 3;

std::uint64_t number(const char* text) {
  std::uint64_t value = 0;
  const std::string_view view(text);
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (error != std::errc{} || end != view.data() + view.size()) {
    fmt::print(stderr, "world_sim: '{}' is not a number\n", text);
    std::exit(2);
  }
  return value;
}

Arguments parse(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const auto value = [&] {
      if (i + 1 >= argc) {
        fmt::print(stderr, "world_sim: {} needs a value\n", option);
        std::exit(2);
      }
      return argv[++i];
    };
    if (option == "--first")
      out.first = number(value());
    else if (option == "--seeds")
      out.seeds = number(value());
    else if (option == "--recorded")
      out.recorded = value();
    else if (option == "--fresh")
      out.fresh = true;
    else if (option == "--twice")
      out.twice = true;
    else if (option == "--mutations")
      out.mutations = true;
    else {
      fmt::print(stderr,
                 "usage: world_sim [--first SEED | --fresh] [--seeds N] [--twice] [--mutations] "
                 "[--recorded FILE]\n");
      std::exit(2);
    }
  }
  if (const char* seeds = std::getenv("ARTEL_SEEDS"); seeds != nullptr && out.fresh)
    out.seeds = number(seeds);
  return out;
}

WorldResult run(std::uint64_t seed, Mutation mutation = Mutation::kNone) {
  WorldOptions options;
  options.seed = seed;
  options.nodes = 2 + static_cast<std::uint32_t>(seed % 4);
  options.mutation = mutation;
  if (seed % kRareEvery == 0) {
    // Nodes are given up only while the others and the controller stay for a while.
    options.trouble.controller_crash = std::chrono::minutes{10};
    options.trouble.agent_crash = std::chrono::minutes{2};
    options.trouble.link_cut = std::chrono::minutes{2};
    options.trouble.node_reboot = std::chrono::minutes{3};
    options.trouble.isolation = std::chrono::seconds{60};
    options.trouble.power_loss = std::chrono::seconds{150};
    options.trouble.agent_stop = options.trouble.one_way_cut = options.trouble.partition = {};
    options.trouble.commit_failure = options.trouble.low_disk = {};
    options.long_jobs = 500;
  }
  return artel::sim::run_world(options);
}

bool holds(std::uint64_t seed, WorldResult& total) {
  const WorldResult result = run(seed);
  total.steps += result.steps;
  total.acknowledged += result.acknowledged;
  total.starts += result.starts;
  total.controller_crashes += result.controller_crashes;
  total.evictions += result.evictions;
  total.given_up += result.given_up;
  if (!result.broken) return true;
  fmt::print("seed {}: {}\nreplay: build/dev/bin/world_sim --first {}\n", seed, *result.broken,
             seed);
  return false;
}

int run_seeds(const std::vector<std::uint64_t>& seeds) {
  WorldResult total;
  int failed = 0;
  // Five are enough to work on.
  for (const std::uint64_t seed : seeds) {
    if (failed < 5) failed += holds(seed, total) ? 0 : 1;
  }
  fmt::print(
      "{} seeds, {} broken; {} steps, {} submissions acknowledged, {} starts on nodes, {} "
      "evictions, {} runs given up with their nodes, {} controller crashes\n",
      seeds.size(), failed, total.steps, total.acknowledged, total.starts, total.evictions,
      total.given_up, total.controller_crashes);
  return failed == 0 ? 0 : 1;
}

int run_twice(const Arguments& arguments) {
  for (std::uint64_t seed = arguments.first; seed < arguments.first + arguments.seeds; ++seed) {
    if (run(seed).trace_hash != run(seed).trace_hash) {
      fmt::print("seed {} gave two different traces\n", seed);
      return 1;
    }
  }
  return 0;
}

int run_mutations(const Arguments& arguments) {
  int missed = 0;
  for (const auto& [mutation, name, is_rare] : artel::sim::kMutations) {
    std::uint64_t caught = 0;
    WorldResult result;
    for (std::uint64_t seed = arguments.first;
         seed < arguments.first + arguments.seeds && !result.broken; ++seed) {
      if (is_rare && seed % kRareEvery != 0) continue;
      result = run(seed, mutation);
      caught = seed;
    }
    // The same seed must hold with the mechanism on: otherwise it is not the mutation that was
    // caught.
    if (result.broken && run(caught).broken) result.broken.reset();
    if (!result.broken) ++missed;
    fmt::print("{}: {}\n", name,
               result.broken ? "caught by seed " + std::to_string(caught) + ": " + *result.broken
                             : "NOT caught");
  }
  return missed == 0 ? 0 : 1;
}

std::vector<std::uint64_t> chosen_seeds(const Arguments& arguments) {
  std::vector<std::uint64_t> seeds;
  if (!arguments.recorded.empty()) {
    std::ifstream file(arguments.recorded);
    for (std::string line; std::getline(file, line);) {
      if (!line.empty() && line.front() != '#') seeds.push_back(number(line.c_str()));
    }
    return seeds;
  }
  const std::uint64_t first = arguments.fresh ? std::random_device{}() : arguments.first;
  for (std::uint64_t i = 0; i < arguments.seeds; ++i) seeds.push_back(first + i);
  return seeds;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  if (arguments.twice) return run_twice(arguments);
  if (arguments.mutations) return run_mutations(arguments);
  return run_seeds(chosen_seeds(arguments));
}
