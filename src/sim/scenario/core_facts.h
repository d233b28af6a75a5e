// A case in the words of the scheduling core: names become indexes, GPUs thousandths, minutes
// times.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sched/facts.h"
#include "sim/scenario/case.h"

namespace artel::scenario {

constexpr Time time_of(Minute minute) { return Time{std::chrono::minutes{minute}}; }
constexpr Duration duration_of(Minute minutes) { return std::chrono::minutes{minutes}; }
constexpr Minute minute_of(Time time) {
  return std::chrono::duration_cast<std::chrono::minutes>(time.time_since_epoch()).count();
}

/// The indexes of everything that a case names.
class CoreNames {
 public:
  explicit CoreNames(const Case& scenario);

  [[nodiscard]] const Case& scenario() const { return case_; }
  [[nodiscard]] const std::vector<std::string>& flavors() const { return flavors_; }
  [[nodiscard]] sched::FlavorId flavor(const std::string& name) const;
  [[nodiscard]] NodeId node(const std::string& name) const;
  /// Ascending.
  [[nodiscard]] std::vector<NodeId> nodes(const std::vector<std::string>& names) const;
  [[nodiscard]] sched::QuotaId quota(const std::string& path) const;
  [[nodiscard]] sched::LicenceId licence(const std::string& name) const;
  /// A new number for a name that is met for the first time.
  sched::UserId user(const std::string& name);
  [[nodiscard]] const std::map<std::string, sched::UserId>& users() const { return users_; }
  std::vector<sched::UserId> users(const std::vector<std::string>& names);
  [[nodiscard]] sched::Amounts amounts(const Amounts& amounts) const;
  [[nodiscard]] sched::Bounds bounds(const std::optional<Amounts>& amounts) const;

 private:
  const Case& case_;
  std::vector<std::string> flavors_;
  std::map<std::string, NodeId> nodes_;
  std::map<std::string, sched::QuotaId> quotas_;
  std::map<std::string, sched::LicenceId> licences_;
  std::map<std::string, sched::UserId> users_;
};

sched::Setup setup_of(CoreNames& names);
sched::JobFacts facts_of(CoreNames& names, const Job& job, JobId id);
sched::ReservationFacts facts_of(CoreNames& names, const Reservation& reservation);
sched::QuotaChange change_of(const CoreNames& names, const SetQuota& change);

}  // namespace artel::scenario
