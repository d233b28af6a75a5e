#include "sched/fit.h"

#include <catch2/catch.hpp>

using namespace artel;
using namespace artel::sched;

namespace {

const NodeResources kHgx{.cpus = 112, .memory = Bytes{2ULL << 40U}, .gpu_type = "h100", .gpus = 8};

NodeView free_node() {
  return NodeView{.id = NodeId{0},
                  .usable = true,
                  .empty = true,
                  .total = kHgx,
                  .free_gpus = 0xff,
                  .free_cpus = kHgx.cpus,
                  .free_memory = kHgx.memory};
}

NodeRequest part(std::uint64_t gpus, std::uint32_t cpus = 0, std::uint64_t memory = 0) {
  return NodeRequest{
      .whole_node = false, .gpus = GpuMilli{gpus * 1000}, .cpus = cpus, .memory = Bytes{memory}};
}

}  // namespace

TEST_CASE("GPUs bring their share of CPUs and memory") {
  const auto demand = demand_on(kHgx, part(2), 1);
  REQUIRE(demand);
  CHECK(demand->cpus == 28);
  CHECK(demand->memory == Bytes{512ULL << 30U});
}

TEST_CASE("work without GPUs takes one CPU a rank") {
  const auto demand = demand_on(kHgx, part(0), 4);
  REQUIRE(demand);
  CHECK(demand->gpus == 0);
  CHECK(demand->cpus == 4);
}

TEST_CASE("a request larger than the node has no demand") {
  CHECK_FALSE(demand_on(kHgx, part(9), 1));
  CHECK_FALSE(demand_on(kHgx, part(1, 113), 1));
  CHECK_FALSE(demand_on(kHgx, part(1, 1, (2ULL << 40U) + 1), 1));
  CHECK_FALSE(demand_on(kHgx, part(0), 113));
}

TEST_CASE("a whole node is refused when it is smaller than asked for") {
  NodeRequest request{.gpus = GpuMilli{9000}};
  CHECK_FALSE(demand_on(kHgx, request, 1));
}

TEST_CASE("what is released can be taken again") {
  NodeView node = free_node();
  const NodeShare first = take(node, part(3), 1);
  const NodeShare second = take(node, part(5), 1);
  CHECK_FALSE(fits_now(node, part(1), 1));
  release(node, first);
  CHECK(fits_now(node, part(3), 1));
  CHECK_FALSE(fits_now(node, NodeRequest{}, 1));
  release(node, second);
  CHECK(node.empty);
  CHECK(fits_now(node, NodeRequest{}, 1));
  CHECK(node.free_gpus == 0xff);
  CHECK(node.free_cpus == kHgx.cpus);
  CHECK(node.free_memory == kHgx.memory);
}

TEST_CASE("a node of 64 GPUs has 64 devices") {
  NodeView node = free_node();
  node.total.gpus = 64;
  node.free_gpus = ~std::uint64_t{0};
  const NodeShare share = take(node, part(64), 1);
  CHECK(share.gpus.size() == 64);
  CHECK(node.free_gpus == 0);
  release(node, share);
  CHECK(node.free_gpus == ~std::uint64_t{0});
}
