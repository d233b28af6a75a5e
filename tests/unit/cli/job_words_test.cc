// Names of jobs, arrays and tasks on the command line and in tables.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/job_options.h"
#include "cli/job_table.h"
#include "cli/job_view.h"
#include "cli/json.h"
#include "unit/cli/views.h"

namespace artel::cli {
namespace {

v1::JobView array_view() {
  v1::JobView job = job_view(1234, "RUNNING");
  job.mutable_spec()->set_array("0-999999%50");
  v1::ArrayView& array = *job.mutable_array();
  array.set_tasks(1'000'000);
  array.set_throttle(50);
  array.set_waiting("55-999999");
  array.set_waiting_count(999'945);
  array.set_active(50);
  array.set_completed(4);
  array.set_failed(1);
  wait_because(job, WaitReason{.code = WaitCode::kArrayThrottle});
  return job;
}

}  // namespace

TEST_CASE("jobs, arrays and tasks are told apart by their names") {
  const auto words = job_words({"17", "1234_7", "1234_[3-9,12]"});
  REQUIRE(words);
  CHECK(words->at(0).indexes.empty());
  CHECK(words->at(1).job == 1234);
  CHECK(words->at(1).indexes == "7");
  CHECK(words->at(2).indexes == "3-9,12");
  v1::CancelRequest request;
  name_jobs(*words, request);
  CHECK(request.jobs_size() == 1);
  REQUIRE(request.tasks_size() == 2);
  CHECK(request.tasks(1).array() == 1234);
}

TEST_CASE("a name that is none tells where it is wrong") {
  CHECK(job_words({"1234_"}).error().text.find("job '1234_'") != std::string::npos);
  CHECK(job_words({"1234_[9-3]"}).error().text.find("write 3-9") != std::string::npos);
  CHECK_FALSE(job_words({"x_3"}));
  CHECK_FALSE(job_words({"0_3"}));
}

TEST_CASE("an array is one line in the queue, with where its tasks are") {
  v1::QueueReply reply;
  reply.set_now_ms(kSubmittedMs);
  *reply.add_jobs() = array_view();
  const std::string table = queue_table(reply, {true, false, 0}, false);
  CHECK(table.find("1234_[55-999999%50]") != std::string::npos);
  CHECK(table.find("PENDING") != std::string::npos);  // what waits of it
  CHECK(table.find("array throttle; 999945 wait, 50 run, 4 done, 1 failed") != std::string::npos);
  const auto json = job_json(reply.jobs(0), time_from_ms(kSubmittedMs), false);
  CHECK(json["job"] == 1234);
  CHECK(json["state"] == "RUNNING");
  CHECK(json["array"]["waiting_count"] == 999'945);
  CHECK(json["task"].is_null());
}

TEST_CASE("a list that is too long for a column is cut at a comma") {
  v1::JobView job = array_view();
  job.mutable_array()->set_waiting("100,200,300,400,500,600,700");
  CHECK(job_name(job, false) == "1234_[100,200,300,400,500,...%50]");
  CHECK(job_name(job, true) == "1234_[100,200,300,400,500,600,700%50]");
}

TEST_CASE("a task is shown by its array and index") {
  v1::JobView job = job_view(1242, "RUNNING");
  job.mutable_task()->set_array(1234);
  job.mutable_task()->set_index(7);
  CHECK(job_name(job, false) == "1234_7");
  CHECK(job_page(job, time_from_ms(kSubmittedMs)).find("1242 (task 7 of array 1234)") !=
        std::string::npos);
}

TEST_CASE("an array writes to a file for each task, and its list is checked before it is sent") {
  Syntax syntax;
  syntax.command = "submit";
  syntax.options = job_options(JobOptions::kSubmit);
  const auto spec = [&](const std::vector<std::string>& words) {
    const auto parsed = parse(syntax, words);
    REQUIRE(parsed);
    return job_spec(parsed->options, {"train", "artel-%j.out", "/home/alice"},
                    [](const std::string&) { return std::optional<std::string>(); });
  };
  const auto made = spec({"--array", "0-9%2"});
  REQUIRE(made);
  CHECK(made->array->throttle == 2U);
  CHECK(made->output == "artel-%A_%t.out");
  CHECK(spec({"-a", "3", "-o", "x-%j"})->output == "x-%j");
  CHECK(spec({"--array", "9-0"}).error().text ==
        "--array: '9-0' at character 1: counts down; write 0-9");
}

}  // namespace artel::cli
