#include "cli/job_table.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/job_view.h"
#include "cli/json.h"
#include "unit/cli/views.h"

namespace artel::cli {
namespace {

const Time kNow = time_from_ms(kSubmittedMs + 3'662'000);

Terminal wide() { return {true, false, 80}; }

WaitReason reason(WaitCode code) {
  WaitReason out;
  out.code = code;
  out.nodes_wanted = 4;
  out.nodes_free = 2;
  return out;
}

std::string waits(const WaitReason& why) {
  v1::JobView job = job_view(1, "PENDING");
  wait_because(job, why);
  return reason_column(job, kNow, false);
}

TEST_CASE("the queue is readable at 80 columns") {
  v1::QueueReply reply;
  reply.set_now_ms(to_ms(kNow));
  v1::JobView& running = *reply.add_jobs();
  running = job_view(16, "RUNNING");
  add_attempt(running, {"hgx01", "hgx02"});
  WaitReason backfill = reason(WaitCode::kBackfill);
  backfill.behind = JobId{15};
  backfill.planned_start = kNow + std::chrono::minutes(125);
  v1::JobView& waiting = *reply.add_jobs();
  waiting = job_view(17, "PENDING");
  wait_because(waiting, backfill);
  CHECK(queue_table(reply, wide(), false) ==
        "JOB NAME  USER  TEAM STATE   NODES TIME/LIMIT REASON OR NODES\n"
        " 16 train alice nlp  RUNNING     2 1:01:00/1h hgx[01-02]\n"
        " 17 train alice nlp  PENDING     2       -/1h behind 15, in 2h5m\n");
  CHECK_THAT(queue_table(reply, wide(), true),
             Catch::Contains("would delay the planned start of job 15; planned start 2025-12-01T"));
}

TEST_CASE("a queue of long names still fits into 80 columns") {
  v1::QueueReply reply;
  reply.set_now_ms(to_ms(kNow));
  v1::JobView& job = *reply.add_jobs();
  job = job_view(123456, "COMPLETING");
  job.mutable_spec()->set_name(std::string(120, 'n'));
  job.mutable_spec()->mutable_owner()->set_user(std::string(32, 'u'));
  job.mutable_spec()->set_team(std::string(40, 't'));
  add_attempt(job, {std::string(50, 'x'), "hgx02"});
  const std::string text = queue_table(reply, wide(), false);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    CHECK(end - start <= 80);
    start = end + 1;
  }
}

TEST_CASE("reasons are short and have numbers") {
  CHECK(waits(reason(WaitCode::kResources)) == "2 of 4 nodes free");
  CHECK(waits(reason(WaitCode::kNodesDown)) == "nodes down, 2/4 up");
  CHECK(waits(reason(WaitCode::kHeld)) == "held");
  CHECK(waits(reason(WaitCode::kNotConsidered)) == "new");
  WaitReason planned = reason(WaitCode::kResources);
  planned.planned_start = kNow + std::chrono::seconds(61);
  CHECK(waits(planned) == "2 of 4 nodes free, in 2m");
  planned.planned_start = kNow - std::chrono::seconds(1);
  CHECK(waits(planned) == "2 of 4 nodes free, due");
}

TEST_CASE("a reason of a newer controller is shown in its own words") {
  v1::JobView job = job_view(1, "PENDING");
  job.mutable_wait()->set_code(200);
  job.mutable_wait()->set_text("waits for the moon");
  CHECK(reason_column(job, kNow, false) == "waits for the moon");
  CHECK(job_json(job, kNow, false)["wait"]["code"] == "Other");
}

TEST_CASE("history tells end, code and cause, the newest first as the controller sorts") {
  v1::HistoryReply reply;
  v1::JobView& job = *reply.add_jobs();
  job = job_view(18, "FAILED");
  add_attempt(job, {"hgx01"});
  Cause cause;
  cause.actor = Actor::kApplication;
  cause.code = CauseCode::kExit;
  cause.exit_code = 7;
  cause.node = "hgx01";
  cause.rank = 3;
  end_with(job, cause);
  CHECK(history_table(reply, kNow, {true, false, 0}, false) ==
        "JOB NAME  USER  TEAM STATE  NODES ENDED (UTC)         ELAPSED EXIT CAUSE\n"
        " 18 train alice nlp  FAILED     2 2025-12-01 01:01:03    1:00    7 rank 3 on hgx01 ended "
        "with exit code 7\n");
}

TEST_CASE("the page of a job names nodes, GPUs, cause and exit code") {
  v1::JobView job = job_view(18, "FAILED");
  add_attempt(job, {"hgx01", "hgx02"});
  Cause cause;
  cause.actor = Actor::kApplication;
  cause.code = CauseCode::kSignal;
  cause.signal = 9;
  cause.node = "hgx02";
  cause.rank = 3;
  end_with(job, cause);
  const std::string page = job_page(job, kNow);
  CHECK_THAT(page, Catch::StartsWith("job 18  train  FAILED\n"));
  CHECK_THAT(page, Catch::Contains("nodes        2 (8 ranks each), whole nodes"));
  CHECK_THAT(page, Catch::Contains("program      ./train '--name=two words' (launch auto)"));
  CHECK_THAT(
      page, Catch::Contains("rank 3 on hgx02 was killed by signal 9 (KILL) (application, signal)"));
  CHECK_THAT(page, Catch::Contains("exit code    137"));
  CHECK_THAT(page, Catch::Contains("hgx01  GPUs 0-2,5  64 CPUs  1TiB  running"));
}

TEST_CASE("JSON has one set of names, nulls where nothing is known, and milliseconds") {
  v1::JobView job = job_view(17, "PENDING");
  wait_because(job, reason(WaitCode::kResources));
  const nlohmann::json out = job_json(job, kNow, false);
  CHECK(out["job"] == 17);
  CHECK(out["state"] == "PENDING");
  CHECK(out["nodes"] == 2);
  CHECK(out["ranks"] == 16);
  CHECK(out["started_ms"].is_null());
  CHECK(out["exit_code"].is_null());
  CHECK(out["wait"]["code"] == "Resources");
  CHECK(out["wait"]["planned_start_ms"].is_null());
  CHECK(out["node_list"].empty());
  CHECK_FALSE(out.contains("argv"));
  const nlohmann::json whole = job_json(job, kNow, true);
  CHECK(whole["argv"][1] == "--name=two words");
  CHECK(whole["attempts"].empty());
  CHECK(whole["script"].is_null());
}

TEST_CASE("bytes that are no UTF-8 do not break JSON") {
  v1::JobView job = job_view(17, "RUNNING");
  job.mutable_spec()->set_argv(1, "\xFF\xFE");
  const std::string line = json_line(job_json(job, kNow, true));
  CHECK(nlohmann::json::parse(line)["argv"][1] == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(line.ends_with("}\n"));
}

TEST_CASE("--mine is the caller and excludes --user") {
  Parsed parsed;
  CHECK(*user_filter(parsed) == "");
  parsed.options["user"] = {{"bob"}, "--user"};
  CHECK(*user_filter(parsed) == "bob");
  parsed.options["mine"] = {{}, "--mine"};
  CHECK_FALSE(user_filter(parsed));
  parsed.options.erase("user");
  CHECK_FALSE(user_filter(parsed)->empty());
}

}  // namespace
}  // namespace artel::cli
