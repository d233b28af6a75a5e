#include "noded/os/contact_file.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "noded/os/files.h"

namespace artel::noded {
namespace {

constexpr std::size_t kMaxBytes = 1U << 20U;

std::filesystem::path file_of(const std::filesystem::path& state) { return state / "contacts"; }

std::optional<Duration> time_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return Duration{value};
}

/// One line: a word, a space, a value. False: it is none of ours.
bool read_line(std::string_view line, KeptContacts& out) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return false;
  const std::string_view word = line.substr(0, space);
  const std::string_view value = line.substr(space + 1);
  if (word == "boot") {
    out.boot_id = value;
    return true;
  }
  if (word == "away") return out.away.emplace(value).second;
  if (word == "told") return out.told.emplace(value).second;
  const auto time = time_of(value);
  if (!time || (word != "contact" && word != "alive")) return false;
  (word == "contact" ? out.contact : out.alive) = *time;
  return true;
}

}  // namespace

Result<std::optional<KeptContacts>> load_contacts(const std::filesystem::path& state) {
  const auto bytes = read_file(file_of(state), kMaxBytes);
  if (!bytes) {
    if (bytes.error().code == ErrorCode::kNotFound) return std::nullopt;
    return fail(bytes);
  }
  KeptContacts out;
  std::string_view rest = *bytes;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos || !read_line(rest.substr(0, end), out)) {
      return fail(ErrorCode::kProtocol,
                  fmt::format("'{}' is no list of contacts; remove it", file_of(state).string()));
    }
    rest.remove_prefix(end + 1);
  }
  return out;
}

Result<> save_contacts(const std::filesystem::path& state, const KeptContacts& contacts,
                       bool sync) {
  std::string out = fmt::format("boot {}\ncontact {}\nalive {}\n", contacts.boot_id,
                                contacts.contact.count(), contacts.alive.count());
  for (const std::string& node : contacts.away) out += fmt::format("away {}\n", node);
  for (const std::string& node : contacts.told) out += fmt::format("told {}\n", node);
  return replace_file(file_of(state), out, sync);
}

ContactWriter::ContactWriter(std::filesystem::path state, std::function<void(const Error&)> trouble)
    : state_(std::move(state)),
      trouble_(std::move(trouble)),
      thread_([this](const std::stop_token& stopping) { run(stopping); }) {}

ContactWriter::~ContactWriter() { stop(); }

void ContactWriter::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void ContactWriter::post(KeptContacts contacts) {
  const std::lock_guard lock(mutex_);
  next_ = std::move(contacts);
  changed_.notify_one();
}

void ContactWriter::run(const std::stop_token& stopping) {
  std::string last;
  std::unique_lock lock(mutex_);
  // What was posted before the stop is still written: wait() tells that it is there.
  while (changed_.wait(lock, stopping, [this] { return next_.has_value(); })) {
    const KeptContacts contacts = *std::exchange(next_, std::nullopt);
    lock.unlock();
    const auto saved = save_contacts(state_, contacts, false);
    std::string now = saved ? std::string() : saved.error().text;
    // Once a second would be too often.
    if (!now.empty() && now != last) trouble_(saved.error());
    last = std::move(now);
    lock.lock();
  }
}

}  // namespace artel::noded
