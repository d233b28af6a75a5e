#include "noded/os/record_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "noded/os/files.h"
#include "wire/step/frame.h"
#include "wire/step/record_wire.h"

namespace artel::noded {
namespace {

constexpr std::size_t kMaxRecord = wire::kMaxFrame + 4;
constexpr std::size_t kMaxBootId = 256;

Result<AttemptRecord> read_record(const std::filesystem::path& path) {
  const auto bytes = read_file(path, kMaxRecord);
  if (!bytes) return fail(bytes);
  auto parts = wire::decode_record(*bytes);
  if (!parts) return fail(parts);
  if (format_key(parts->spec.key) != path.filename().string()) {
    return fail(ErrorCode::kProtocol,
                fmt::format("it is of attempt {}", format_key(parts->spec.key)));
  }
  return AttemptRecord{.spec = std::move(parts->spec),
                       .phase = parts->phase,
                       .end = std::move(parts->end),
                       .refused = parts->refused};
}

void end_by_reboot(AttemptRecord& record, const std::string& node, Time now) {
  record.phase = NodePhase::kEnded;
  record.end = NodeEnd{.started = Time{},
                       .ended = now,
                       .cause = Cause{.actor = Actor::kNode,
                                      .code = CauseCode::kNodeLost,
                                      .node = node,
                                      .text = fmt::format("node {} was rebooted", node)},
                       .is_origin = true};
}

}  // namespace

RecordStore::RecordStore(std::filesystem::path state, std::string node)
    : state_(std::move(state)), folder_(state_ / "records"), node_(std::move(node)) {}

Result<RecordStore::Loaded> RecordStore::load(const std::string& boot_id, Time now) {
  if (auto made = make_folder(folder_, Passage::kOwner); !made) return fail(made);
  Loaded loaded;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder_, error), last; !error && it != last;
       it.increment(error)) {
    load_file(it->path(), loaded);
  }
  if (error) return std::unexpected(io_error("cannot read", folder_, error.value()));
  std::sort(loaded.records.begin(), loaded.records.end(),
            [](const auto& a, const auto& b) { return a.spec.key < b.spec.key; });

  const auto boot_file = state_ / "boot_id";
  const auto known = read_file(boot_file, kMaxBootId);
  if (!known && known.error().code != ErrorCode::kNotFound) return fail(known);
  if (known && trim(*known) == boot_id) return loaded;
  loaded.rebooted = known.has_value();
  if (known) {
    if (auto ended = end_all(loaded, now); !ended) return fail(ended);
  }
  if (auto kept = replace_file(boot_file, boot_id + "\n", true); !kept) return fail(kept);
  return loaded;
}

void RecordStore::load_file(const std::filesystem::path& path, Loaded& loaded) {
  const std::string extension = path.extension().string();
  if (extension == ".bad") return;
  if (extension == ".tmp") {  // a write that was interrupted: the old record is there
    ::unlink(path.c_str());
    return;
  }
  auto record = read_record(path);
  if (record) {
    loaded.records.push_back(std::move(*record));
    return;
  }
  std::filesystem::path aside = path;
  aside += ".bad";
  std::error_code error;
  std::filesystem::rename(path, aside, error);
  // What it was of may still run, and its step daemon knows the rest.
  if (const auto key = parse_key(path.filename().string())) {
    AttemptRecord known_by_name;
    known_by_name.spec.key = *key;
    known_by_name.spec.nodes = {node_};
    known_by_name.spec.launch = LaunchKind::kPlain;
    known_by_name.phase = NodePhase::kStarting;
    if (auto saved = save(known_by_name, true); !saved)
      loaded.warnings.push_back(saved.error().text);
    loaded.records.push_back(std::move(known_by_name));
  }
  loaded.warnings.push_back(fmt::format("record '{}' cannot be used ({}); it is set aside as '{}'",
                                        path.string(), record.error().text, aside.string()));
}

Result<> RecordStore::end_all(Loaded& loaded, Time now) {
  for (AttemptRecord& record : loaded.records) {
    if (record.phase == NodePhase::kEnded) continue;
    end_by_reboot(record, node_, now);
    if (auto saved = save(record, true); !saved) return saved;
  }
  return {};
}

Result<> RecordStore::save(const AttemptRecord& record, bool sync) {
  const std::string bytes = wire::encode_record(
      {.spec = record.spec, .phase = record.phase, .end = record.end, .refused = record.refused});
  return replace_file(path_of(record.spec.key), bytes, sync);
}

void RecordStore::drop(const AttemptKey& key) { ::unlink(path_of(key).c_str()); }

std::filesystem::path RecordStore::path_of(const AttemptKey& key) const {
  return folder_ / format_key(key);
}

}  // namespace artel::noded
