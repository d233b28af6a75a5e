// A list of pmix_info_t that owns its values.
#pragma once

#include <pmix.h>
#include <pmix_server.h>

#include <cstdint>
#include <string>
#include <vector>

namespace artel::pmix {

/// Values are copied in, so that arguments may go. Not copyable; data() is valid until the next
/// add.
class InfoList {
 public:
  InfoList() = default;
  InfoList(const InfoList&) = delete;
  InfoList& operator=(const InfoList&) = delete;
  ~InfoList() {
    for (pmix_info_t& info : infos_) PMIX_INFO_DESTRUCT(&info);
  }

  void text(const char* key, const std::string& value) { load(key, value.c_str(), PMIX_STRING); }
  void number(const char* key, std::uint32_t value) { load(key, &value, PMIX_UINT32); }
  void small(const char* key, std::uint16_t value) { load(key, &value, PMIX_UINT16); }
  void rank(const char* key, pmix_rank_t value) { load(key, &value, PMIX_PROC_RANK); }
  void flag(const char* key, bool value) { load(key, &value, PMIX_BOOL); }
  /// A compressed list as the library made it; may contain any bytes.
  void regex(const char* key, const char* value) { load(key, value, PMIX_REGEX); }
  void array(const char* key, InfoList& values) {
    pmix_data_array_t array{PMIX_INFO, values.size(), values.data()};
    load(key, &array, PMIX_DATA_ARRAY);
  }
  void load(const char* key, const void* value, pmix_data_type_t type) {
    pmix_info_t& info = infos_.emplace_back();
    PMIX_INFO_CONSTRUCT(&info);
    static_cast<void>(PMIx_Info_load(&info, key, value, type));
  }

  [[nodiscard]] pmix_info_t* data() { return infos_.data(); }
  [[nodiscard]] std::size_t size() const { return infos_.size(); }

 private:
  std::vector<pmix_info_t> infos_;
};

}  // namespace artel::pmix
