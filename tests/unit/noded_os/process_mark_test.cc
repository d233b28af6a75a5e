// A process shows others another attempt's name only where there is room for it.
#include "noded/spawn/process_mark.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

namespace artel::noded {
namespace {

/// Arguments and environment one after the other, as the kernel lays them out.
class Image {
 public:
  Image(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
    for (const auto* list : {&arguments, &environment}) {
      for (const std::string& text : *list) bytes_.append(text).push_back('\0');
    }
    char* at = bytes_.data();
    for (auto* out : {&argv_, &environ_}) {
      const auto& list = out == &argv_ ? arguments : environment;
      for (const std::string& text : list) {
        out->push_back(at);
        at += text.size() + 1;
      }
      out->push_back(nullptr);
    }
  }

  [[nodiscard]] ProcessMark mark() {
    return {static_cast<int>(argv_.size()) - 1, argv_.data(), environ_.data()};
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::vector<char*> argv_;
  std::vector<char*> environ_;
};

class KeptEnvironment {
 public:
  ~KeptEnvironment() { ::environ = before_; }

 private:
  char** before_ = ::environ;
};

TEST_CASE("arguments and environment are replaced in their place, and nothing is left of the old") {
  const KeptEnvironment kept;
  Image image({"stepd", "--serve", "----------"}, {"ROOM=----------------------------", "X=y"});
  ProcessMark mark = image.mark();
  REQUIRE(mark.replace("17.0.1", {"ARTEL_ATTEMPT_KEY=17.0.1", "A=b"}));
  const std::string shown = image.bytes();
  CHECK(shown.find(std::string("stepd\0"
                               "17.0.1\0",
                               13)) == 0);
  CHECK(shown.find(std::string("\0ARTEL_ATTEMPT_KEY=17.0.1\0A=b\0", 30)) != std::string::npos);
  for (const char* old : {"--", "ROOM", "X=y"}) CHECK(shown.find(old) == std::string::npos);
  CHECK(std::string(std::getenv("ARTEL_ATTEMPT_KEY")) == "17.0.1");
  CHECK(std::getenv("X") == nullptr);
}

TEST_CASE("what does not fit changes nothing") {
  const KeptEnvironment kept;
  Image image({"stepd", "12345"}, {"A=67"});
  const std::string before = image.bytes();
  ProcessMark mark = image.mark();
  CHECK_FALSE(mark.replace("123456", {"A=67"}));
  CHECK_FALSE(mark.replace("12345", {"A=678"}));
  CHECK_FALSE(mark.replace("12345", {"A", "B", "C"}));
  CHECK(image.bytes() == before);
  CHECK(mark.replace("12345", {"A=67"}));
}

TEST_CASE("a server's start leaves room for the longest names") {
  const KeptEnvironment kept;
  Image image({"stepd", "--serve", reserved_argument()}, {reserved_variable()});
  ProcessMark mark = image.mark();
  const std::string key = "18446744073709551615.4294967295.4294967295";
  CHECK(mark.replace(
      key, {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
            "ARTEL_ATTEMPT_KEY=" + key, "ARTEL_NODE=" + std::string(253, 'n')}));
}

}  // namespace
}  // namespace artel::noded
