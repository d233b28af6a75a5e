#include "ctld/store/backup.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <system_error>

#include "base/text.h"
#include "ctld/store/files.h"
#include "ctld/store/schema.h"
#include "ctld/store/sql.h"

namespace artel::ctld {
namespace {

void remove_quietly(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
}

Result<> write_copy(const std::filesystem::path& store, const std::filesystem::path& copy,
                    const GiveUp& give_up) {
  const auto database = sql::Database::open(store, sql::Access::kRead);
  if (!database) return fail(database);
  (*database)->give_up_when(give_up);
  auto vacuum = (*database)->prepare("VACUUM INTO ?");
  if (!vacuum) return fail(vacuum);
  if (auto done = vacuum->bind_text(copy.string()).run(); !done)
    return fail(done.error().code,
                fmt::format("cannot copy it to {}: {}", copy.string(), done.error().text));
  return {};
}

/// "state-20261130T120000Z.db": the order of names is that of times.
std::string backup_name(Time now) {
  std::string time = format_time(std::chrono::floor<std::chrono::seconds>(now));
  std::erase_if(time, [](char one) { return one == '-' || one == ':'; });
  return fmt::format("state-{}.db", time);
}

constexpr std::string_view kUnfinished = ".new";

bool is_backup(const std::filesystem::path& path) {
  return path.extension() == ".db" && path.filename().string().starts_with("state-");
}

/// What processes left that were killed while they made one.
void remove_unfinished(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() == kUnfinished && is_backup(path.stem())) remove_quietly(path);
  }
}

Result<> make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  return fail(
      ErrorCode::kStorage,
      fmt::format("cannot make the folder of backups {}: {}; set ctld.backups in artel.toml",
                  folder.string(), error.message()));
}

Result<> make_copy(const std::filesystem::path& store, const std::filesystem::path& copy,
                   const GiveUp& give_up) {
  // SQLite writes into an empty file, which has the owner's rights only from its first byte on.
  if (auto done = create_private_file(copy); !done) return done;
  if (auto done = write_copy(store, copy, give_up); !done) return done;
  if (auto done = sync_file(copy); !done) return done;
  return verify_store(copy, give_up);
}

}  // namespace

Result<> copy_store(const std::filesystem::path& store, const std::filesystem::path& copy,
                    const GiveUp& give_up) {
  const std::filesystem::path unfinished = copy.string() + std::string(kUnfinished);
  remove_quietly(unfinished);
  Result<> done = make_copy(store, unfinished, give_up);
  if (done) done = move_into_place(unfinished, copy);
  if (!done) remove_quietly(unfinished);
  return done;
}

Result<> verify_store(const std::filesystem::path& file, const GiveUp& give_up) {
  const auto database = sql::Database::open(file, sql::Access::kRead);
  if (!database) return fail(database);
  (*database)->give_up_when(give_up);
  const auto kind = check_schema(**database);
  if (!kind) return fail(kind);
  if (*kind == StoreKind::kEmpty)
    return fail(ErrorCode::kStorage, fmt::format("store {}: it is empty", file.string()));
  const auto found = (*database)->word("PRAGMA integrity_check(1)");
  if (!found) return fail(found);
  if (*found == "ok") return {};
  return fail(ErrorCode::kStorage,
              fmt::format("store {}: it is damaged: {}; use another copy", file.string(), *found));
}

std::vector<std::filesystem::path> backups_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (is_backup(entry.path())) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

Result<std::filesystem::path> back_up(const std::filesystem::path& store,
                                      const std::filesystem::path& folder, std::size_t keep,
                                      Time now, const GiveUp& give_up) {
  if (auto made = make_folder(folder); !made) return fail(made);
  remove_unfinished(folder);
  const std::filesystem::path copy = folder / backup_name(now);
  if (auto done = copy_store(store, copy, give_up); !done) return fail(done);
  const auto copies = backups_in(folder);
  for (std::size_t i = 0; i + keep < copies.size(); ++i) remove_quietly(copies[i]);
  return copy;
}

}  // namespace artel::ctld
