#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/json.h"
#include "cli/lost_and_found.h"
#include "cli/node_table.h"
#include "cli/usage_table.h"
#include "client.pb.h"

namespace artel::cli {
namespace {

v1::NodeView node_view() {
  v1::NodeView node;
  node.set_name("hgx01");
  node.set_state("draining");
  node.set_contact("up");
  node.set_simulated(true);
  node.set_drain_reason("hardware: fan (op)");
  v1::NodeDrain& drain = *node.add_drains();
  drain.set_source("operator");
  drain.set_reason_class("hardware");
  drain.set_who("op");
  drain.set_text("fan");
  drain.set_since_ms(5);
  node.set_strikes(2);
  node.set_clock_offset_ms(-2500);
  node.add_jobs(17);
  node.add_jobs(18);
  v1::NodeResources& all = *node.mutable_resources();
  all.set_cpus(128);
  all.set_memory_bytes(std::uint64_t{2} << 40U);
  all.set_gpu_type("h100");
  all.set_gpus(8);
  node.mutable_used()->set_gpus(4);
  node.mutable_used()->set_cpus(64);
  node.mutable_used()->set_memory_bytes(std::uint64_t{1} << 40U);
  return node;
}

v1::UsageReply usage() {
  v1::UsageReply reply;
  reply.set_to_ms(3'600'000);
  for (const char* key : {"nlp", "vision, \"old\""}) {
    v1::UsageRow& row = *reply.add_rows();
    row.set_key(key);
    row.set_jobs(2);
    row.set_attempts(3);
    row.set_gpu_ms(45'000'000);
    row.set_cpu_ms(90'000'001);
    row.set_node_ms(5'625'000);
  }
  return reply;
}

TEST_CASE("the table of nodes tells use, jobs and what is odd") {
  v1::NodesReply reply;
  *reply.add_nodes() = node_view();
  CHECK(node_table(reply, {true, false, 0}) ==
        "NODE  STATE    GPUS TYPE   CPUS      MEMORY JOBS  NOTES\n"
        "hgx01 draining  4/8 h100 64/128 1024G/2048G 17,18 hardware: fan (op); 2 strikes; "
        "clock -2.500s; simulated\n");
}

TEST_CASE("what the store lost and found is listed with kind, name and cause") {
  v1::LostAndFoundReply reply;
  CHECK(lost_and_found_table(reply, {true, false, 0}) ==
        "nothing: the latest start could read all of the store\n");
  CHECK(lost_and_found_json(reply).dump() == R"({"records":[]})");
  auto& record = *reply.add_records();
  record.set_kind("job");
  record.set_name("17");
  record.set_why("column state has the value 99");
  CHECK(lost_and_found_table(reply, {true, false, 0}) ==
        "KIND NAME WHY\njob  17   column state has the value 99\n");
  CHECK(lost_and_found_json(reply)["records"][0]["name"] == "17");
}

TEST_CASE("a node in JSON has exact numbers") {
  const nlohmann::json out = node_json(node_view());
  CHECK(out["memory_bytes"] == 2199023255552);
  CHECK(out["jobs"] == nlohmann::json({17, 18}));
  CHECK(out["clock_offset_ms"] == -2500);
}

TEST_CASE("usage is told in hours with a sum") {
  const std::string text = usage_table(usage(), "team", {true, false, 0});
  CHECK_THAT(text,
             Catch::StartsWith("usage from 1970-01-01T00:00:00Z to 1970-01-01T01:00:00Z\nTEAM"));
  CHECK_THAT(text, Catch::Contains("nlp              2        3     12.50     25.00       1.56\n"));
  CHECK_THAT(text, Catch::Contains("all              4        6     25.00     50.00       3.13\n"));
}

TEST_CASE("jobs that count on several nodes or days are not added up") {
  CHECK_THAT(usage_table(usage(), "node", {true, false, 0}),
             Catch::Contains("all              -        -"));
}

TEST_CASE("CSV quotes what must be quoted and keeps exact milliseconds") {
  CHECK(usage_csv(usage(), "team") ==
        "team,jobs,attempts,gpu_hours,cpu_hours,node_hours,gpu_ms,cpu_ms,node_ms\r\n"
        "nlp,2,3,12.500,25.000,1.563,45000000,90000001,5625000\r\n"
        "\"vision, \"\"old\"\"\",2,3,12.500,25.000,1.563,45000000,90000001,5625000\r\n");
}

TEST_CASE("hours are rounded half up and carry over") {
  CHECK(hours(0, 2) == "0.00");
  CHECK(hours(18'000, 2) == "0.01");
  CHECK(hours(17'999, 2) == "0.00");
  CHECK(hours(3'599'999, 2) == "1.00");
  CHECK(hours(std::uint64_t{1} << 60U, 3) == "320255973501.902");
}

TEST_CASE("usage in JSON names its key after what it is by") {
  const nlohmann::json out = usage_json(usage(), "team");
  CHECK(out["by"] == "team");
  CHECK(out["rows"][0]["team"] == "nlp");
  CHECK(out["rows"][0]["cpu_ms"] == 90000001);
}

}  // namespace
}  // namespace artel::cli
