#include "cli/usage_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "client.pb.h"

namespace artel::cli {
namespace {

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace

std::string usage_table(const v1::UsageReply& reply, const std::string& by,
                        const Terminal& terminal) {
  Table table({{upper(by), false, 8},
               {"JOBS", true, 0},
               {"ATTEMPTS", true, 0},
               {"GPU HOURS", true, 0},
               {"CPU HOURS", true, 0},
               {"NODE HOURS", true, 0}});
  v1::UsageRow sum;
  for (const v1::UsageRow& row : reply.rows()) {
    table.add({row.key(), std::to_string(row.jobs()), std::to_string(row.attempts()),
               hours(row.gpu_ms(), 2), hours(row.cpu_ms(), 2), hours(row.node_ms(), 2)});
    sum.set_jobs(sum.jobs() + row.jobs());
    sum.set_attempts(sum.attempts() + row.attempts());
    sum.set_gpu_ms(sum.gpu_ms() + row.gpu_ms());
    sum.set_cpu_ms(sum.cpu_ms() + row.cpu_ms());
    sum.set_node_ms(sum.node_ms() + row.node_ms());
  }
  // A job runs on several nodes and days, but in one team, of one user, in one queue.
  const bool is_counted_once = by != "node" && by != "day";
  table.add({"all", is_counted_once ? std::to_string(sum.jobs()) : "-",
             is_counted_once ? std::to_string(sum.attempts()) : "-", hours(sum.gpu_ms(), 2),
             hours(sum.cpu_ms(), 2), hours(sum.node_ms(), 2)});
  return fmt::format("usage from {} to {}\n", format_time(time_from_ms(reply.from_ms())),
                     format_time(time_from_ms(reply.to_ms()))) +
         table.text(terminal);
}

std::string usage_csv(const v1::UsageReply& reply, const std::string& by) {
  std::string out = by + ",jobs,attempts,gpu_hours,cpu_hours,node_hours,gpu_ms,cpu_ms,node_ms\r\n";
  for (const v1::UsageRow& row : reply.rows()) {
    out += fmt::format("{},{},{},{},{},{},{},{},{}\r\n", csv_field(row.key()), row.jobs(),
                       row.attempts(), hours(row.gpu_ms(), 3), hours(row.cpu_ms(), 3),
                       hours(row.node_ms(), 3), row.gpu_ms(), row.cpu_ms(), row.node_ms());
  }
  return out;
}

std::string hours(std::uint64_t ms, unsigned digits) {
  std::uint64_t scale = 1;
  for (unsigned i = 0; i < digits; ++i) scale *= 10;
  constexpr std::uint64_t kMsOfHour = 3'600'000;
  const std::uint64_t whole = ms / kMsOfHour;
  const std::uint64_t rest = (ms % kMsOfHour * scale + kMsOfHour / 2) / kMsOfHour;
  return fmt::format("{}.{:0{}}", whole + rest / scale, rest % scale, digits);
}

}  // namespace artel::cli
