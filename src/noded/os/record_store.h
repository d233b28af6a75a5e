// The agent's durable list of attempts: one file an attempt under <state>/records.
//
// A file is replaced whole. One that cannot be read is set aside as *.bad and named, never a reason
// to stop. The folder remembers the machine's boot id: records of an earlier boot describe
// processes that are gone and are turned into ends. Thread: one at a time; blocks on the disk.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "model/attempt.h"
#include "noded/core/effects.h"

namespace artel::noded {

class RecordStore {
 public:
  struct Loaded {
    std::vector<AttemptRecord> records;  // by key
    std::vector<std::string> warnings;   // one sentence for each file that was set aside
    bool rebooted{};                     // the records are of an earlier boot
  };

  /// `state` exists.
  RecordStore(std::filesystem::path state, std::string node);

  /// All records. One that cannot be read is set aside and replaced by one that knows only its key
  /// and claims that ranks may run, so that whatever there is of it is adopted or swept. Those of
  /// an earlier boot come as ended at `now` for the reason that the node was rebooted; that is on
  /// the disk before this returns. Error: kStorage, kIo.
  Result<Loaded> load(const std::string& boot_id, Time now);

  /// `sync`: the record survives a loss of power after return. Error: kStorage.
  Result<> save(const AttemptRecord& record, bool sync);

  /// A record that is not there is fine.
  void drop(const AttemptKey& key);

 private:
  [[nodiscard]] std::filesystem::path path_of(const AttemptKey& key) const;
  void load_file(const std::filesystem::path& path, Loaded& loaded);
  Result<> end_all(Loaded& loaded, Time now);

  std::filesystem::path state_;
  std::filesystem::path folder_;
  std::string node_;
};

}  // namespace artel::noded
