// A small owner of SQLite connections and statements: every failure is a Result with the file's
// name, values only travel as bound parameters.
//
// Thread: a connection and its statements belong to one thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"

namespace artel::ctld::sql {

class Database;

/// A prepared statement in use. Parameters are bound in written order; the end of its life resets
/// it for the next use.
class Statement {
 public:
  Statement(Database& database, sqlite3_stmt* statement);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  Statement& bind(std::int64_t value);
  Statement& bind(std::optional<std::int64_t> value);
  Statement& bind_real(double value);
  Statement& bind_text(std::string_view text);
  Statement& bind_blob(std::string_view bytes);

  /// Goes to the next row; false: there is none.
  Result<bool> step();
  /// Runs a statement without rows, ready to be bound again.
  Result<> run();

  [[nodiscard]] int columns() const { return sqlite3_column_count(statement_); }
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  /// Valid until the next step. Text and blobs.
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string_view text(int column) const;

 private:
  void check(int code);

  Database& database_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
  int bind_error_ = SQLITE_OK;
};

enum class Access : std::uint8_t { kRead, kWrite, kCreate };

class Database {
 public:
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& path, Access access);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Runs statements without parameters and without rows.
  Result<> execute(const char* statements);
  /// `text` must be a literal: it is the key of the cache of prepared statements. A statement is
  /// used by one owner at a time.
  Result<Statement> prepare(std::string_view text);
  /// The first column of the first row of a query.
  Result<std::int64_t> number(std::string_view query);
  Result<std::string> word(std::string_view query);

  /// Statements end with SQLITE_INTERRUPT soon after `asked` says so. It is called often.
  void give_up_when(std::function<bool()> asked);

  /// Rows that the latest statement changed.
  [[nodiscard]] std::int64_t changes() const { return sqlite3_changes64(handle_); }
  [[nodiscard]] std::unexpected<Error> error(int code) const;
  [[nodiscard]] sqlite3* handle() const { return handle_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit Database(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  sqlite3* handle_ = nullptr;
  std::function<bool()> give_up_;
  std::unordered_map<std::string_view, sqlite3_stmt*> statements_;
};

/// Undone at the end of its life unless committed.
class Transaction {
 public:
  /// `begin`: "BEGIN IMMEDIATE" for the writer, "BEGIN" for readers.
  static Result<Transaction> begin(Database& database, const char* begin);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Result<> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace artel::ctld::sql
