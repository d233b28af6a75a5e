// The grammars of base and of arrays: whatever is accepted prints to text that is read back as the
// same value.

#include <string_view>

#include "base/hostlist.h"
#include "base/text.h"
#include "model/job_spec.h"
#include "seeds.h"

namespace artel::fuzz {

std::vector<std::string> seeds() {
  return {"90",
          "1:30",
          "1:30:00",
          "2-12:00:00",
          "90s",
          "1d2h",
          "1.500s",
          "4096",
          "64K",
          "1.5TiB",
          "unlimited",
          "2G",
          "1w",
          "n[1-3]",
          "n[01-03,7]",
          "r[0-1]b[0-1]",
          "n[1-2]-ib,login1",
          "n1 n2\nn3",
          "b1u01n1,b2u[05,02]n3",
          "0-999%50",
          "1,3,5-9:2",
          "0-6:3,1-2"};
}

namespace {

void durations(std::string_view text) {
  if (const auto value = parse_duration(text)) {
    require(value->count() > 0 && *value <= kMaxDuration);
    const auto again = parse_duration(format_duration(*value));
    require(again && *again == *value);
  }
  (void)parse_limit(text);
}

void sizes(std::string_view text) {
  if (const auto value = parse_bytes(text)) {
    const auto again = parse_bytes(format_bytes(*value));
    require(again && *again == *value);
  }
}

void hosts(std::string_view text) {
  const auto names = unfold_hosts(text);
  if (!names) return;
  require(names->size() <= kMaxHosts);
  const auto again = unfold_hosts(fold_hosts(*names));
  require(again.has_value() && fold_hosts(*again) == fold_hosts(*names));
}

void arrays(std::string_view text) {
  constexpr std::uint32_t kMost = 2000;
  const auto array = parse_array(text, kMost);
  if (!array) return;
  require(!array->indexes.empty() && array->indexes.size() <= kMost);
  const auto again = parse_array(array_text(*array), kMost);
  require(again && *again == *array);
  std::uint32_t rank = 0;
  array->indexes.for_each([&](std::uint32_t index) {
    require(array->indexes.rank(index) == rank && array->indexes.at(rank) == index);
    ++rank;
  });
  require(rank == array->indexes.size());
}

}  // namespace
}  // namespace artel::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  artel::fuzz::durations(text);
  artel::fuzz::sizes(text);
  artel::fuzz::hosts(text);
  artel::fuzz::arrays(text);
  (void)artel::did_you_mean(text, {"--nodes", "--time"});
  return 0;
}
