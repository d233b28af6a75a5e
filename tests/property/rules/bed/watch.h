// An engine behind which another works, and which checks all that passes between it and the player.
#pragma once

#include <memory>

#include "property/rules/bed/checks.h"
#include "property/rules/bed/rich.h"

namespace artel::rules {

class Watch : public scenario::Engine {
 public:
  /// Keeps references to the stream and the ledger.
  Watch(Kind kind, const Case& stream, std::unique_ptr<scenario::Engine> inner, Ledger& ledger);

  std::optional<std::string> submit(Minute now, const scenario::Job& job) override;
  void end(Minute now, const std::string& job, scenario::Ending how) override;
  void end_waits(Minute now) override;
  void requeue(Minute now, const std::string& job, scenario::Requeue why) override;
  void checkpoint(Minute now, const std::string& job, Minute at) override;
  void node(Minute now, const std::string& name, bool healthy) override;
  void set_quota(Minute now, const scenario::SetQuota& change) override;
  std::optional<std::string> reserve(Minute now, const scenario::Reservation& reservation) override;
  void waits(Minute now, const std::string& job, scenario::Waits waits) override;
  void throttle(Minute now, const std::string& array, std::int64_t limit) override;
  void features(Minute now, const std::string& node,
                const std::vector<std::string>& features) override;
  void refuse(Minute now, const std::string& job, const std::string& node) override;
  std::optional<scenario::Start> swap(Minute now, const std::string& job,
                                      const std::string& lost) override;
  void end_reservations(Minute now) override;
  std::vector<scenario::Decision> begin_reservations(Minute now) override;
  std::vector<scenario::Decision> pass(Minute now) override;
  std::optional<Minute> next_wake(Minute now) override;
  scenario::Beliefs beliefs(Minute now) override;

  /// All decisions so far, one a line: equal for equal behaviour.
  [[nodiscard]] const std::string& trace() const { return trace_; }

 private:
  void arrive(Minute now);
  Moment moment(const scenario::Beliefs& after) const;
  std::set<std::string> new_claimants(const std::vector<scenario::Decision>& decisions,
                                      std::size_t from, const scenario::Beliefs& after) const;
  void review(const std::vector<scenario::Decision>& decisions, const scenario::Beliefs& after);
  void check_claims(const scenario::Start& start);
  void rest(const scenario::Beliefs& after);
  void check_promises(const scenario::Beliefs& after);
  void check_guarantees();
  void check_bound(const std::string& job);
  void check_reservations(const scenario::Beliefs& after);
  void note(const scenario::Decision& decision);

  Kind kind_;
  const Case& stream_;
  std::unique_ptr<scenario::Engine> inner_;
  Ledger& ledger_;
  Mirror mirror_;
  Rich rich_;
  scenario::Beliefs before_;
  std::string trace_;
  std::map<std::string, Minute> promised_;    // first planned start at the head of the line
  std::map<std::string, Minute> owed_since_;  // heads within their guarantee (I3)
  std::map<std::string, Minute> began_;       // last start on a node
};

}  // namespace artel::rules
