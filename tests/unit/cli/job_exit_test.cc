#include "cli/job_exit.h"

#include <catch2/catch.hpp>
#include <string>

#include "unit/cli/views.h"

namespace artel::cli {
namespace {

int code(const std::string& state, const Cause& cause = {}) {
  v1::JobView job = job_view(1, state);
  end_with(job, cause);
  return job_exit_code(job);
}

Cause cause(CauseCode what, std::int32_t exit_code = 0, std::int32_t signal = 0) {
  Cause out;
  out.actor = Actor::kApplication;
  out.code = what;
  out.exit_code = exit_code;
  out.signal = signal;
  return out;
}

TEST_CASE("a job's own exit code is passed on") {
  CHECK(code("COMPLETED") == 0);
  CHECK(code("FAILED", cause(CauseCode::kExit, 7)) == 7);
  CHECK(code("FAILED", cause(CauseCode::kExit, 255)) == 255);
  CHECK(code("FAILED", cause(CauseCode::kAbort, 3)) == 3);
}

TEST_CASE("a job that failed never looks like one that went well") {
  CHECK(code("FAILED", cause(CauseCode::kExit, 0)) == 1);
  CHECK(code("FAILED", cause(CauseCode::kAbort, 256)) == 1);
  CHECK(code("FAILED", cause(CauseCode::kAbort, -1)) == 255);
  CHECK(code("FAILED") == 1);
  CHECK(code("FAILED", cause(CauseCode::kLeftEarly)) == 1);
  CHECK(code("SOMETHING_NEW") == 1);
  CHECK(code("RUNNING") == 1);
}

TEST_CASE("a signal is told as shells do") {
  CHECK(code("FAILED", cause(CauseCode::kSignal, 0, 9)) == 137);
  CHECK(code("FAILED", cause(CauseCode::kSignal, 0, 11)) == 139);
  CHECK(code("OUT_OF_MEMORY", cause(CauseCode::kOutOfMemory)) == 137);
}

TEST_CASE("ends from outside have codes of their own") {
  CHECK(code("TIMEOUT", cause(CauseCode::kTimeLimit)) == 124);
  CHECK(code("CANCELLED", cause(CauseCode::kCancel)) == 125);
  CHECK(code("FAILED", cause(CauseCode::kExecFailed)) == 127);
  CHECK(code("BOOT_FAIL", cause(CauseCode::kExecFailed)) == 127);
  CHECK(code("BOOT_FAIL", cause(CauseCode::kPrepareRefused)) == 126);
  CHECK(code("FAILED", cause(CauseCode::kOutputFailed)) == 126);
  CHECK(code("NODE_FAIL", cause(CauseCode::kNodeLost)) == 123);
  CHECK(code("FAILED", cause(CauseCode::kStepLost)) == 123);
  CHECK(code("PREEMPTED") == 122);
  CHECK(code("DEADLINE") == 120);
}

TEST_CASE("only known final states are final") {
  CHECK(is_final_state("COMPLETED"));
  CHECK(is_final_state("DEADLINE"));
  CHECK_FALSE(is_final_state("COMPLETING"));
  CHECK_FALSE(is_final_state("PENDING"));
  CHECK_FALSE(is_final_state("SOMETHING_NEW"));
}

}  // namespace
}  // namespace artel::cli
