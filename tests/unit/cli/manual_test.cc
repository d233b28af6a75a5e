// The manual pages say what the code does: options, exit codes, names of JSON fields.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands.h"
#include "cli/job_exit.h"
#include "cli/json.h"
#include "cli/lost_and_found.h"
#include "model/job_state.h"
#include "unit/cli/views.h"

namespace artel::cli {
namespace {

std::string page(const std::string& name) {
  std::ifstream file(std::string(ARTEL_MAN) + "/" + name + ".1.scd");
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string page_of(const std::string& command) {
  return page("artel-" + command.substr(0, command.find(' ')));
}

/// Lines that begin with an option and have an explanation below.
std::size_t described_options(const std::string& text) {
  std::size_t count = 0;
  for (auto at = text.find("\n*-"); at != std::string::npos; at = text.find("\n*-", at + 1)) {
    const auto end = text.find('\n', at + 1);
    if (text.compare(end, 2, "\n\t") == 0) ++count;
  }
  return count;
}

TEST_CASE("every command has a page with all of its options and no others") {
  const std::string overview = page("artel");
  for (const Command& command : commands()) {
    const Syntax syntax = command.syntax();
    CAPTURE(syntax.command);
    CHECK_THAT(overview, Catch::Contains("*" + syntax.command + "*"));
    const std::string text = page_of(syntax.command);
    CHECK_THAT(text, Catch::Contains("*artel " + syntax.command + "*"));
    for (const Option& option : syntax.options) {
      const auto comma = option.names.find(',');
      const std::string start = comma == std::string::npos
                                    ? "\n*" + option.names + "*"
                                    : "\n*" + option.names.substr(0, comma) + "*, *" +
                                          option.names.substr(comma + 1) + "*";
      CAPTURE(option.names);
      CHECK_THAT(text, Catch::Contains(start));
    }
    CHECK(described_options(text) == syntax.options.size());
  }
}

TEST_CASE("the table of exit codes is that of the errors") {
  const std::string text = page("artel");
  constexpr std::array kCodes = {
#define ARTEL_ERROR(enumerator, name, status, exit_code, sentence, remedy) ErrorCode::enumerator,
#include "base/error_codes.def"
#undef ARTEL_ERROR
  };
  for (const ErrorCode code : kCodes) {
    const std::string mark = code == kCodes.front() ? "[" : " ";
    CHECK_THAT(text, Catch::Contains(fmt::format("|{0} *{1}*\n:{0} {2}\n:{0} {3}\n", mark,
                                                 error_exit_code(code), error_name(code),
                                                 error_sentence(code))));
  }
}

TEST_CASE("the codes of jobs that were ended from outside are in the manual") {
  const std::string text = page("artel");
  for (const int code : {kExitDeadline, kExitPreempted, kExitNodeFail, kExitTimeout, kExitCancelled,
                         kExitLaunch, kExitNoProgram}) {
    CHECK_THAT(text, Catch::Contains(fmt::format("|  *{}*\n", code)));
  }
}

TEST_CASE("every state is in the manual") {
  const std::string text = page("artel");
  for (int i = 0; i <= static_cast<int>(JobState::kDeadline); ++i) {
    CHECK_THAT(text, Catch::Contains(std::string(job_state_name(static_cast<JobState>(i)))));
  }
}

void check_names(const nlohmann::json& value, const std::string& text) {
  for (const auto& [name, field] : value.items()) {
    if (value.is_object()) {
      CAPTURE(name);
      CHECK_THAT(text, Catch::Contains("*" + name + "*"));
    }
    if (field.is_structured()) check_names(field, text);
  }
}

TEST_CASE("every name in JSON is in the manual") {
  const std::string text = page("artel");
  v1::JobView job = job_view(17, "FAILED");
  add_attempt(job, {"hgx01"}).mutable_parts(0)->mutable_end()->mutable_cause();
  end_with(job, Cause{});
  wait_because(job, WaitReason{});
  check_names(job_json(job, Time{}, true), text);
  check_names(node_json({}), text);
  v1::UsageReply usage;
  usage.add_rows();
  nlohmann::json report = usage_json(usage, "team");
  report["rows"][0].erase("team");
  check_names(report, text);
  v1::LostAndFoundReply found;
  found.add_records();
  check_names(lost_and_found_json(found), text);
}

}  // namespace
}  // namespace artel::cli
