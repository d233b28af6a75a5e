#include "ctld/store/backup.h"

#include <fmt/format.h>

#include <string>
#include <system_error>

#include "ctld/store/files.h"
#include "ctld/store/schema.h"
#include "ctld/store/sql.h"

namespace artel::ctld {
namespace {

void remove_quietly(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
}

Result<> write_copy(const std::filesystem::path& store, const std::filesystem::path& copy) {
  const auto database = sql::Database::open(store, sql::Access::kRead);
  if (!database) return fail(database);
  auto vacuum = (*database)->prepare("VACUUM INTO ?");
  if (!vacuum) return fail(vacuum);
  if (auto done = vacuum->bind_text(copy.string()).run(); !done)
    return fail(done.error().code,
                fmt::format("cannot copy it to {}: {}", copy.string(), done.error().text));
  return {};
}

Result<> make_copy(const std::filesystem::path& store, const std::filesystem::path& copy) {
  // SQLite writes into an empty file, which has the owner's rights only from its first byte on.
  if (auto done = create_private_file(copy); !done) return done;
  if (auto done = write_copy(store, copy); !done) return done;
  if (auto done = sync_file(copy); !done) return done;
  return verify_store(copy);
}

}  // namespace

Result<> copy_store(const std::filesystem::path& store, const std::filesystem::path& copy) {
  const std::filesystem::path unfinished = copy.string() + ".new";
  remove_quietly(unfinished);  // of a process that was killed
  Result<> done = make_copy(store, unfinished);
  if (done) done = move_into_place(unfinished, copy);
  if (!done) remove_quietly(unfinished);
  return done;
}

Result<> verify_store(const std::filesystem::path& file) {
  const auto database = sql::Database::open(file, sql::Access::kRead);
  if (!database) return fail(database);
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

}  // namespace artel::ctld
