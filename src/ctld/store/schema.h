// The tables of the store, made and checked; README.md explains them.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"
#include "ctld/store/sql.h"

namespace artel::ctld {

inline constexpr std::int64_t kSchemaVersion = 3;
/// "ARTL" in the file's header (PRAGMA application_id).
inline constexpr std::int64_t kApplicationId = 0x4152'544C;

/// The highest number of a job ever given out.
inline constexpr std::string_view kLastJob =
    "SELECT max(coalesce((SELECT value FROM counter WHERE name = 'last_job'), 0),"
    " coalesce((SELECT max(id) FROM job), 0))";

/// What a file at the store's place is.
/// kOlder: of an earlier version, which upgrade_schema() brings up to this one.
enum class StoreKind : std::uint8_t { kEmpty, kReady, kOlder };

/// Looks only. Error: kStorage for a file of another program, a schema of a later version or one
/// that is damaged.
Result<StoreKind> check_schema(sql::Database& database);
/// Makes all tables in an empty file as `version` had them, all or none.
Result<> create_schema(sql::Database& database, std::int64_t version = kSchemaVersion);
/// All steps from the file's version to this one, all or none.
Result<> upgrade_schema(sql::Database& database);

/// WAL and synchronous=FULL, each set and read back.
Result<> set_durability(sql::Database& database);

/// "NFS" and the like for a file system type of statfs(2) on which SQLite's locks or shared memory
/// cannot be trusted; empty for others.
std::string_view network_file_system(std::uint64_t type);

}  // namespace artel::ctld
