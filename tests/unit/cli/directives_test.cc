#include "cli/directives.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace artel::cli {
namespace {

using Words = std::vector<std::string>;

Result<Directives> read(const std::string& lines) {
  return read_directives("job.sh", "#!/bin/bash\n" + lines);
}

std::string mistake(const std::string& lines) {
  const auto directives = read(lines);
  REQUIRE_FALSE(directives);
  CHECK(directives.error().code == ErrorCode::kInvalidArgument);
  return directives.error().text;
}

std::string unfit(const std::string& text) {
  const auto checked = check_script("job.sh", text);
  REQUIRE_FALSE(checked);
  return checked.error().text;
}

/// A folder of its own that goes away.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "artel-cli-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }
  [[nodiscard]] std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST_CASE("directives stand between the first line and the first command") {
  const auto directives = read(
      "\n# a comment\n#ARTEL -N 4 --time=1h\n  #ARTEL --name 'two words' # said twice\n##ARTEL "
      "--nodes 9\n"
      "# ARTEL --nodes 8\n#ARTEL\t--env A=1 --env B=2\necho start\n");
  REQUIRE(directives);
  CHECK(directives->warnings.empty());
  CHECK(directives->options.at("nodes").values == Words{"4"});
  CHECK(directives->options.at("nodes").where == "job.sh:4: --nodes");
  CHECK(directives->options.at("time").values == Words{"1h"});
  CHECK(directives->options.at("name").values == Words{"two words"});
  CHECK(directives->options.at("env").values == Words{"A=1", "B=2"});
}

TEST_CASE("an unknown or misspelt directive is refused with file, line and the nearest option") {
  CHECK(mistake("#ARTEL --nodes 1\n#ARTEL --tiem 5m\n") ==
        "job.sh:3: unknown option '--tiem', did you mean '--time'?");
  CHECK_THAT(mistake("#ARTEL nodes=4\n"), Catch::StartsWith("job.sh:2: 'nodes=4' is not expected"));
  CHECK_THAT(mistake("#ARTEL --wait\n"), Catch::StartsWith("job.sh:2: unknown option '--wait'"));
  CHECK_THAT(mistake("#ARTEL\n"), Catch::Contains("job.sh:2: the #ARTEL line has no option"));
}

TEST_CASE("the same directive twice is refused with both places") {
  CHECK(mistake("#ARTEL -N 1\n#ARTEL --nodes=1\n") ==
        "job.sh:3: --nodes is given twice, first as job.sh:2: --nodes");
  CHECK_THAT(mistake("#ARTEL -N 1 -N 2\n"), Catch::Contains("job.sh:2: --nodes is given twice"));
}

TEST_CASE("what only looks like a directive is refused") {
  CHECK_THAT(mistake("#artel --nodes 4\n"),
             Catch::StartsWith("job.sh:2: '#artel' is no directive"));
  CHECK_THAT(mistake("#ARTEL--nodes 4\n"),
             Catch::StartsWith("job.sh:2: '#ARTEL--nodes' is no directive"));
}

TEST_CASE("a directive after the first command is ignored with a warning") {
  const auto directives = read("echo hello\n#ARTEL --nodes 2\n#ARTEL --nonsense\n");
  REQUIRE(directives);
  CHECK(directives->options.empty());
  REQUIRE(directives->warnings.size() == 2);
  CHECK_THAT(directives->warnings[0],
             Catch::StartsWith("job.sh:3: ") && Catch::Contains("ignored"));
}

TEST_CASE("directives of another scheduler are mentioned once") {
  const auto directives = read("#SBATCH -N 4\n#SBATCH -t 1\n#ARTEL -N 1\n");
  REQUIRE(directives);
  CHECK(directives->warnings ==
        Words{"job.sh:2: #SBATCH lines are not read; write #ARTEL lines instead"});
}

TEST_CASE("words are split as a shell does, and nothing is expanded") {
  CHECK(*split_words(R"( a  'b c' "d \" e" f\ g '' $HOME `x` #rest)") ==
        Words{"a", "b c", "d \" e", "f g", "", "$HOME", "`x`"});
  CHECK(*split_words("a#b 'c'd\"e\"") == Words{"a#b", "cde"});
  CHECK(split_words("")->empty());
  CHECK_FALSE(split_words("'open"));
  CHECK_FALSE(split_words("\"open\\\""));
  CHECK_FALSE(split_words("tail \\"));
}

TEST_CASE("what cannot run as a script is refused with the exact reason") {
  CHECK(check_script("job.sh", "#!/bin/sh\ntrue"));
  CHECK_THAT(unfit(""), Catch::Contains("job.sh: the script is empty"));
  CHECK_THAT(unfit("echo hello\n"), Catch::Contains("#!"));
  CHECK_THAT(unfit("#!/bin/sh\r\ntrue\r\n"), Catch::Contains("line 1 has a carriage return"));
  CHECK_THAT(unfit("#!/bin/sh\ntrue\r\n"), Catch::Contains("line 2 has a carriage return"));
  CHECK_THAT(unfit("\xEF\xBB\xBF#!/bin/sh\n"), Catch::Contains("byte order mark"));
  CHECK_THAT(unfit(std::string("\xFF\xFE#\0!\0", 6)), Catch::Contains("byte order mark"));
  CHECK_THAT(unfit(std::string("#!/bin/sh\nab\0c\n", 15)),
             Catch::Contains("a NUL byte stands in line 2"));
  CHECK_THAT(unfit("#!\n"), Catch::Contains("not an absolute path"));
  CHECK_THAT(unfit("#!bash\n"), Catch::Contains("'bash'"));
}

TEST_CASE("files that are no scripts are refused by name") {
  const Folder folder;
  const auto reason = [](const std::string& path) {
    const auto text = read_script(path);
    REQUIRE_FALSE(text);
    CHECK_THAT(text.error().text, Catch::Contains(path));
    return text.error().text;
  };
  CHECK(*read_script(folder.file("job.sh", "#!/bin/sh\n")) == "#!/bin/sh\n");
  CHECK_THAT(reason(folder.path()), Catch::Contains("Is a directory"));
  CHECK_THAT(reason(folder.path() + "/missing.sh"), Catch::Contains("No such file"));
  CHECK_THAT(reason("/dev/null"), Catch::Contains("not a regular file"));
  CHECK_THAT(reason(folder.file("big.sh", std::string(kMaxScriptBytes + 1, 'x'))),
             Catch::Contains("larger than 1MiB"));
  CHECK(read_script(folder.file("full.sh", std::string(kMaxScriptBytes, 'x')))->size() ==
        kMaxScriptBytes);
}

}  // namespace
}  // namespace artel::cli
