#include "cli/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

namespace artel::cli {
namespace {

class ProgramFolder {
 public:
  ProgramFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "artel-cli-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
    std::filesystem::create_directories(path + "/bin/folder");
    std::ofstream(path + "/bin/tool") << "#!/bin/sh\n";
    std::ofstream(path + "/bin/data") << "data\n";
    std::filesystem::permissions(path + "/bin/tool", std::filesystem::perms(0755));
  }
  ~ProgramFolder() { std::filesystem::remove_all(path); }
  ProgramFolder(const ProgramFolder&) = delete;
  ProgramFolder& operator=(const ProgramFolder&) = delete;

  std::string path;
};

TEST_CASE("a program is found as a shell finds it, and named by its absolute path") {
  const ProgramFolder folder;
  const std::string tool = folder.path + "/bin/tool";
  CHECK(*find_program("tool", "/", "/nowhere:" + folder.path + "/bin") == tool);
  CHECK(*find_program("tool", folder.path + "/bin", "/nowhere:") == tool);
  CHECK(*find_program("tool", folder.path, "bin") == tool);
  CHECK(*find_program("bin/tool", folder.path, "") == tool);
  CHECK(*find_program(tool, "/", "") == tool);
}

TEST_CASE("a program that cannot run here is refused by name") {
  const ProgramFolder folder;
  const auto refusal = [&](const std::string& name, ErrorCode code) {
    const auto found = find_program(name, folder.path + "/bin", "/nowhere");
    REQUIRE_FALSE(found);
    CHECK(found.error().code == code);
    CHECK_THAT(found.error().text, Catch::Contains("'" + name + "'"));
    return found.error().text;
  };
  CHECK_THAT(refusal("missing", ErrorCode::kNotFound), Catch::Contains("not in PATH"));
  CHECK_THAT(refusal("tool", ErrorCode::kNotFound), Catch::Contains("write ./tool"));
  CHECK_THAT(refusal("./missing", ErrorCode::kNotFound), Catch::Contains("No such file"));
  CHECK_THAT(refusal("./data", ErrorCode::kInvalidArgument), Catch::Contains("not executable"));
  CHECK_THAT(refusal("./folder", ErrorCode::kInvalidArgument), Catch::Contains("is a directory"));
  CHECK_FALSE(find_program("", "/", "/bin"));
}

TEST_CASE("a job is named after the last part of its program's path") {
  CHECK(base_name("/usr/bin/env") == "env");
  CHECK(base_name("train.sh") == "train.sh");
  CHECK(base_name("./train.sh") == "train.sh");
}

}  // namespace
}  // namespace artel::cli
