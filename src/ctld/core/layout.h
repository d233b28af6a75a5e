// The configuration as the scheduling core sees it: names become numbers, and back for people.
//
// Every team has its own node for each queue that takes its jobs, so a queue of all teams limits
// each team's users by themselves.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/job.h"
#include "model/node.h"
#include "model/teams.h"
#include "sched/facts.h"
#include "sched/reason.h"

namespace artel::ctld {

class Layout {
 public:
  /// `extra`: teams of jobs that are left although the configuration does not know them any more.
  Layout(const std::vector<NodeConfig>& nodes, const TeamsConfig& teams,
         const sched::Policy& policy, const std::vector<std::string>& extra);

  [[nodiscard]] const sched::Setup& setup() const { return setup_; }
  /// For the past of teams that is put in before the core is made.
  [[nodiscard]] sched::Setup& setup() { return setup_; }

  /// Whether the configuration names teams; else all jobs share one place in the tree.
  [[nodiscard]] bool has_teams() const { return has_teams_; }
  /// Where the jobs of this queue of this team are charged.
  [[nodiscard]] sched::QuotaId queue(const std::string& team, const std::string& queue) const;
  /// The accepted types of a request, in the order of preference.
  [[nodiscard]] std::vector<sched::FlavorId> flavors(const NodeRequest& request) const;
  sched::UserId user(const std::string& name);
  [[nodiscard]] const std::map<std::string, sched::UserId>& users() const { return users_; }

  /// nullopt: not configured.
  [[nodiscard]] std::optional<sched::QuotaId> cohort(const std::string& name) const;
  [[nodiscard]] std::optional<sched::QuotaId> team(const std::string& name) const;
  /// Sets all terms of a node to these; a guarantee that is not stated stays.
  [[nodiscard]] sched::QuotaChange change_to(const QuotaTerms& terms) const;
  /// Takes over what the core was told.
  void changed(sched::QuotaId quota, const sched::QuotaChange& change);

  /// "team nlp"
  [[nodiscard]] std::string label(sched::QuotaId quota) const;
  /// The reason for people; `nodes`: how many the job asks for.
  [[nodiscard]] WaitReason reason(const sched::Wait& wait, std::uint32_t nodes) const;

 private:
  sched::QuotaId add(std::string_view kind, const std::string& name, sched::QuotaId parent);
  void add_terms(const QuotaTerms& terms, sched::QuotaFacts& facts) const;
  void add_team(const TeamConfig& team, const std::vector<QueueConfig>& queues);
  void add_nodes(const std::vector<NodeConfig>& nodes);
  [[nodiscard]] WaitNumbers numbers(const sched::Shortage& shortage) const;
  [[nodiscard]] sched::Amounts amounts(const QuotaAmounts& of) const;
  [[nodiscard]] sched::Bounds bounds(const QuotaAmounts& of) const;

  sched::Setup setup_;
  std::vector<std::string> labels_;  // by QuotaId
  std::map<std::string, sched::QuotaId> cohorts_;
  std::map<std::string, sched::QuotaId> teams_;
  std::map<std::pair<std::string, std::string>, sched::QuotaId> queues_;  // team, queue
  std::map<std::string, sched::UserId> users_;
  sched::QuotaId other_;  // of jobs whose team has no node
  bool has_teams_ = false;
  bool states_ = false;     // some guarantee is stated
  bool has_plain_ = false;  // the last flavor is that of nodes without GPUs
};

}  // namespace artel::ctld
