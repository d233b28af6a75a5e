// Runs a fuzz target on its seeds and on mutations of them: NAME [RUNS [FIRST]], or NAME
// --write-seeds DIR.
//
// The same numbers give the same inputs. After a crash, $FUZZ_TRACE=1 prints the run's number
// before each input, and `NAME 1 NUMBER` repeats that one.

#include <charconv>
#include <cstdio>
#include <fstream>
#include <random>
#include <span>
#include <string_view>

#include "seeds.h"

namespace artel::fuzz {
namespace {

constexpr std::size_t kRuns = 20'000;
constexpr std::size_t kLongest = 1U << 16U;

class Mutator {
 public:
  explicit Mutator(std::size_t run) : random_(run) {}

  std::string mutate(const std::vector<std::string>& seeds) {
    std::string input = seeds.at(below(seeds.size()));
    for (std::size_t count = below(8); count > 0; --count) change(input, seeds);
    if (input.size() > kLongest) input.resize(kLongest);
    return input;
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  char any_byte() {
    static constexpr std::string_view kTelling("\0\xFF\x7F\x80[]-,:0919 \n#\"\\'", 20);
    return below(2) == 0 ? kTelling.at(below(kTelling.size())) : static_cast<char>(below(256));
  }

  void change(std::string& input, const std::vector<std::string>& seeds) {
    const std::size_t at = below(input.size() + 1);
    const std::size_t length = below(std::min<std::size_t>(input.size() - at, 16) + 1);
    switch (below(7)) {
      case 0:
        if (at < input.size()) {
          input[at] = static_cast<char>(static_cast<unsigned char>(input[at]) ^ (1U << below(8)));
        }
        return;
      case 1:
        if (at < input.size()) input[at] = any_byte();
        return;
      case 2:
        input.insert(at, 1, any_byte());
        return;
      case 3:
        input.erase(at, length);
        return;
      case 4:
        input.insert(at, std::string(input, at, length));
        return;
      case 5:
        input.resize(at);
        return;
      default:
        input.replace(at, length, seeds.at(below(seeds.size())), 0, below(64));
    }
  }

  std::mt19937_64 random_;
};

void run_one(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

bool number(std::string_view text, std::size_t& value) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

int write_seeds(const std::string& folder) {
  std::size_t count = 0;
  for (const std::string& seed : seeds()) {
    std::ofstream file(folder + "/seed-" + std::to_string(count++), std::ios::binary);
    if (!(file << seed).flush()) return 1;
  }
  return 0;
}

int smoke(std::span<char* const> words) {
  if (words.size() == 2 && std::string_view(words[0]) == "--write-seeds") {
    return write_seeds(words[1]);
  }
  std::size_t runs = kRuns;
  std::size_t first = 0;
  if (words.size() > 2 || (!words.empty() && !number(words[0], runs)) ||
      (words.size() == 2 && !number(words[1], first))) {
    std::fputs("usage: NAME [RUNS [FIRST]] | NAME --write-seeds DIR\n", stderr);
    return 2;
  }
  const bool trace = std::getenv("FUZZ_TRACE") != nullptr;
  const std::vector<std::string> begin = seeds();
  for (const std::string& seed : begin) run_one(seed);
  for (std::size_t run = first; run < first + runs; ++run) {
    if (trace) std::fprintf(stderr, "%zu\n", run);
    run_one(Mutator(run).mutate(begin));
  }
  std::printf("%zu seeds, %zu mutations\n", begin.size(), runs);
  return 0;
}

}  // namespace
}  // namespace artel::fuzz

int main(int argc, char** argv) { return artel::fuzz::smoke(std::span(argv + 1, argv + argc)); }
