// The properties of the rules W, D, J, N, M, U and H, stated on what a watcher sees.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "property/rules/bed/ledger.h"
#include "property/rules/bed/mirror.h"

namespace artel::rules {

class Rich {
 public:
  /// Keeps references.
  Rich(const Case& stream, Ledger& ledger);

  // Facts.
  void waits(const std::string& job, scenario::Waits waits) { waits_[job] = waits; }
  void throttle(const std::string& array, std::int64_t limit) { throttles_[array] = limit; }
  void features(const std::string& node, const std::vector<std::string>& features);
  void refuse(const std::string& job, const std::string& node) { refused_[job].insert(node); }

  /// Before the start is made.
  void started(const Mirror& mirror, const scenario::Beliefs& after, const scenario::Start& start,
               bool somebody_left);
  void swapped(const Mirror& mirror, const scenario::Beliefs& before, const std::string& job,
               const std::string& lost, const std::optional<scenario::Start>& swap);
  void rest(const Mirror& mirror, const scenario::Beliefs& after);

 private:
  void expect(const Mirror& mirror, const std::string& rule, bool holds, const Track& job,
              const std::string& what);
  void check_time(const Mirror& mirror, const Track& job);
  void check_dependencies(const Mirror& mirror, const Track& job);
  void check_array(const Mirror& mirror, const Track& job, bool somebody_left);
  void check_nodes(const Mirror& mirror, const Track& job, const scenario::Start& start);
  void check_amounts(const Mirror& mirror, const Track& job, const std::vector<Share>& shares);
  void check_devices(const Mirror& mirror, const Track& job, const Share& share);
  void check_reason(const Mirror& mirror, const scenario::Beliefs& after, const Track& job);
  void check_spares(const Mirror& mirror, const scenario::Beliefs& after);

  [[nodiscard]] bool allows(const Track& job, const scenario::Node& node) const;
  /// Whether the node, empty, could hold one part of the job.
  [[nodiscard]] bool could_hold(const Track& job, const scenario::Node& node) const;
  [[nodiscard]] std::int64_t holding(const Mirror& mirror, const std::string& array) const;
  [[nodiscard]] std::optional<std::int64_t> throttle_of(const Track& job) const;

  const Case& stream_;
  Ledger& ledger_;
  std::map<std::string, scenario::Waits> waits_;
  std::map<std::string, std::int64_t> throttles_;
  std::map<std::string, std::vector<std::string>> features_;
  std::map<std::string, std::set<std::string>> refused_;
};

}  // namespace artel::rules
