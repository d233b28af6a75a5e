#include "ctld/store/restore.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "ctld/store/backup.h"
#include "ctld/store/files.h"
#include "ctld/store/lock_file.h"
#include "ctld/store/schema.h"
#include "ctld/store/sql.h"

namespace artel::ctld {
namespace {

/// How far numbers jump where nobody knows how many were given out since the copy.
constexpr std::int64_t kUnknownStarts = 100'000;
constexpr std::int64_t kUnknownJobs = 100'000'000;  // arrays take millions

struct Counters {
  std::string identity;  // of the store and its copies; empty: from before it had one
  std::int64_t incarnation{};
  std::int64_t last_job{};
  std::int64_t lost_first{};  // by an earlier restore; 0: none
};

Result<Counters> counters_of(sql::Database& database) {
  const auto incarnation = database.number("SELECT value FROM counter WHERE name = 'incarnation'");
  if (!incarnation) return fail(incarnation);
  const auto last_job = database.number(kLastJob);
  if (!last_job) return fail(last_job);
  const auto identity =
      database.word("SELECT coalesce((SELECT value FROM meta WHERE key = 'identity'), '')");
  if (!identity) return fail(identity);
  const auto lost_first =
      database.number("SELECT coalesce((SELECT value FROM counter WHERE name = 'lost_first'), 0)");
  if (!lost_first) return fail(lost_first);
  return Counters{*identity, *incarnation, *last_job, *lost_first};
}

/// Nothing where the store is not there or cannot be read.
std::optional<Counters> counters_in(const std::filesystem::path& store) {
  const auto database = sql::Database::open(store, sql::Access::kRead);
  if (!database) return std::nullopt;
  const auto counters = counters_of(**database);
  if (!counters) return std::nullopt;
  return *counters;
}

Result<> set_counter(sql::Database& database, std::string_view name, std::int64_t value) {
  auto write = database.prepare("INSERT OR REPLACE INTO counter (name, value) VALUES (?, ?)");
  if (!write) return fail(write);
  return write->bind_text(name).bind(value).run();
}

/// Whether `present` is what became of the store after the copy was made, so that it knows all
/// numbers that were given out. A store that was made anew in its place does not.
bool goes_on_from(const Counters& copy, const Counters& present) {
  return !copy.identity.empty() && copy.identity == present.identity &&
         copy.incarnation <= present.incarnation && copy.last_job <= present.last_job;
}

/// As far as numbers may have been given out.
Counters latest(const Counters& copy, const std::optional<Counters>& present) {
  if (present && goes_on_from(copy, *present)) return *present;
  const Counters other = present.value_or(Counters{});
  return {.identity = copy.identity,
          .incarnation = std::max(copy.incarnation, other.incarnation) + kUnknownStarts,
          .last_job = std::max(copy.last_job, other.last_job) + kUnknownJobs};
}

/// The copy's numbers go on above those that were given out after it was made.
Result<Restored> raise_counters(const std::filesystem::path& copy,
                                const std::optional<Counters>& present) {
  const auto database = sql::Database::open(copy, sql::Access::kWrite);
  if (!database) return fail(database);
  const auto before = counters_of(**database);
  if (!before) return fail(before);
  const Counters after = latest(*before, present);
  auto transaction = sql::Transaction::begin(**database, "BEGIN IMMEDIATE");
  if (!transaction) return fail(transaction);
  Restored restored;
  if (auto done = set_counter(**database, "incarnation", after.incarnation); !done)
    return fail(done);
  if (after.last_job > before->last_job) {
    const std::int64_t first = before->lost_first > 0 ? before->lost_first : before->last_job + 1;
    restored.lost_first = static_cast<std::uint64_t>(first);
    restored.lost_last = static_cast<std::uint64_t>(after.last_job);
    for (const auto& [name, value] : {std::pair("last_job", after.last_job),
                                      {"lost_first", first},
                                      {"lost_last", after.last_job}})
      if (auto done = set_counter(**database, name, value); !done) return fail(done);
  }
  if (auto done = transaction->commit(); !done) return fail(done);
  return restored;
}

/// The store first: a start that finds none is refused, while one that finds it without its log
/// would go back in time.
Result<> put_aside(const std::filesystem::path& store, const std::filesystem::path& aside) {
  std::error_code error;
  for (const char* suffix : {"", "-wal"}) {
    const std::filesystem::path from = store.string() + suffix;
    if (!std::filesystem::exists(from, error)) continue;
    if (auto done = move_into_place(from, aside.string() + suffix); !done) return done;
  }
  std::filesystem::remove(store.string() + "-shm", error);
  return {};
}

std::filesystem::path place_aside(const std::filesystem::path& store, Time now) {
  std::string time = format_time(std::chrono::floor<std::chrono::seconds>(now));
  std::erase_if(time, [](char one) { return one == '-' || one == ':'; });
  const std::string place = fmt::format("{}.aside-{}", store.string(), time);
  std::error_code error;
  std::string free = place;
  for (int more = 2; std::filesystem::exists(free, error); ++more)
    free = fmt::format("{}-{}", place, more);
  return free;
}

}  // namespace

Result<Restored> restore_store(const std::filesystem::path& backup,
                               const std::filesystem::path& store, Time now) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(backup, error))
    return fail(ErrorCode::kNotFound, fmt::format("there is no backup {}", backup.string()));
  std::filesystem::create_directories(folder_of(store), error);
  const auto lock = LockFile::take(store.string() + ".lock");
  if (!lock) return fail(lock);
  if (auto done = give_to_owner_of_folder(store.string() + ".lock"); !done) return fail(done);
  if (auto done = verify_store(backup); !done) return fail(done);
  const bool exists = std::filesystem::exists(store, error);
  const auto present = exists ? counters_in(store) : std::nullopt;
  const std::filesystem::path copy = store.string() + ".restored";
  if (auto done = copy_store(backup, copy); !done) return fail(done);
  auto restored = raise_counters(copy, present);
  if (!restored) return restored;
  if (auto done = give_to_owner_of_folder(copy); !done) return fail(done);
  const std::filesystem::path aside = place_aside(store, now);
  if (auto done = put_aside(store, aside); !done) return fail(done);
  if (exists) restored->put_aside = aside;
  if (auto done = move_into_place(copy, store); !done)
    return fail(done.error().code,
                fmt::format("{}; the store from before is {}", done.error().text, aside.string()));
  return restored;
}

}  // namespace artel::ctld
