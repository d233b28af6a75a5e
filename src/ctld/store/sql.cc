#include "ctld/store/sql.h"

#include <fmt/format.h>

#include <utility>

#include "base/assert.h"

namespace artel::ctld::sql {

Statement::Statement(Database& database, sqlite3_stmt* statement)
    : database_(database), statement_(statement) {}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      bound_(other.bound_),
      bind_error_(other.bind_error_) {}

Statement::~Statement() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void Statement::check(int code) {
  if (code != SQLITE_OK && bind_error_ == SQLITE_OK) bind_error_ = code;
}

Statement& Statement::bind(std::int64_t value) {
  check(sqlite3_bind_int64(statement_, ++bound_, value));
  return *this;
}

Statement& Statement::bind(std::optional<std::int64_t> value) {
  if (value) return bind(*value);
  check(sqlite3_bind_null(statement_, ++bound_));
  return *this;
}

Statement& Statement::bind_real(double value) {
  check(sqlite3_bind_double(statement_, ++bound_, value));
  return *this;
}

Statement& Statement::bind_text(std::string_view text) {
  check(sqlite3_bind_text64(statement_, ++bound_, text.data() == nullptr ? "" : text.data(),
                            text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
  check(sqlite3_bind_blob64(statement_, ++bound_, bytes.data() == nullptr ? "" : bytes.data(),
                            bytes.size(), SQLITE_TRANSIENT));
  return *this;
}

Result<bool> Statement::step() {
  if (bind_error_ != SQLITE_OK) return database_.error(bind_error_);
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_.error(code);
}

Result<> Statement::run() {
  ARTEL_ASSERT(bound_ == sqlite3_bind_parameter_count(statement_));
  const auto row = step();
  if (!row) return fail(row);
  ARTEL_ASSERT(!*row);
  sqlite3_reset(statement_);
  bound_ = 0;
  return {};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }

std::string_view Statement::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (bytes == nullptr || size <= 0) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& path, Access access) {
  std::unique_ptr<Database> database(new Database(path));
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  flags |= access == Access::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (access == Access::kCreate) flags |= SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(path.c_str(), &database->handle_, flags, nullptr);
  if (code != SQLITE_OK) return database->error(code);
  constexpr int kBusyMs =
      5000;  // only for the short moments in which another connection recovers the log
  sqlite3_busy_timeout(database->handle_, kBusyMs);
  sqlite3_db_config(database->handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database->handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (auto done = database->execute("PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;");
      !done)
    return fail(done);
  return database;
}

Database::~Database() {
  for (const auto& [text, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

void Database::give_up_when(std::function<bool()> asked) {
  constexpr int kSteps = 10'000;  // of SQLite's machine: about a millisecond
  give_up_ = std::move(asked);
  if (!give_up_) return;
  sqlite3_progress_handler(
      handle_, kSteps, [](void* self) { return static_cast<Database*>(self)->give_up_() ? 1 : 0; },
      this);
}

Result<> Database::execute(const char* statements) {
  const int code = sqlite3_exec(handle_, statements, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return {};
}

Result<Statement> Database::prepare(std::string_view text) {
  auto& statement = statements_[text];
  if (statement == nullptr) {
    const int code = sqlite3_prepare_v3(handle_, text.data(), static_cast<int>(text.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) return error(code);
  }
  return Statement(*this, statement);
}

Result<std::int64_t> Database::number(std::string_view query) {
  auto statement = prepare(query);
  if (!statement) return fail(statement);
  const auto row = statement->step();
  if (!row) return fail(row);
  return *row ? statement->integer(0) : 0;
}

Result<std::string> Database::word(std::string_view query) {
  auto statement = prepare(query);
  if (!statement) return fail(statement);
  const auto row = statement->step();
  if (!row) return fail(row);
  return *row ? std::string(statement->text(0)) : std::string{};
}

std::unexpected<Error> Database::error(int code) const {
  constexpr int kPrimary = 0xff;
  std::string_view remedy;
  if ((code & kPrimary) == SQLITE_FULL) remedy = "; free space on its file system";
  if ((code & kPrimary) == SQLITE_CORRUPT || (code & kPrimary) == SQLITE_NOTADB)
    remedy = "; it is damaged: put it aside and restore the latest backup";
  const char* what =
      handle_ != nullptr && (sqlite3_extended_errcode(handle_) & kPrimary) == (code & kPrimary)
          ? sqlite3_errmsg(handle_)
          : sqlite3_errstr(code);
  return fail(ErrorCode::kStorage,
              fmt::format("store {}: {} (SQLite {}){}", path_.string(), what, code, remedy));
}

Result<Transaction> Transaction::begin(Database& database, const char* begin) {
  if (auto done = database.execute(begin); !done) return fail(done);
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  if (database_ != nullptr) (void)database_->execute("ROLLBACK");
}

Result<> Transaction::commit() {
  if (auto done = database_->execute("COMMIT"); !done) return fail(done);
  database_ = nullptr;
  return {};
}

}  // namespace artel::ctld::sql
