// The rows of what leaves the store.
#pragma once

#include "base/result.h"
#include "ctld/store/retention.h"
#include "ctld/store/sql.h"

namespace artel::ctld {

/// Inside a transaction of the writer. Jobs that are not final, or not there, are passed over.
Result<> remove_rows(sql::Database& database, const Purge& purge);

}  // namespace artel::ctld
