// What is so at an instant, kept by watching an engine, and the quantities of the rules computed
// from it afresh. One GPU type; shares no code with an engine.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/scenario/engine.h"

namespace artel::rules {

using scenario::Case;
using scenario::Minute;
using scenario::Share;

enum class Stage : std::uint8_t { kWaiting, kRunning, kLeaving, kOver };

struct Track {
  scenario::Job spec;
  std::size_t number = 0;
  std::size_t queue = 0;
  Minute submitted = 0;
  Minute waits_since = 0;
  Stage stage = Stage::kWaiting;
  bool claims = false;
  Minute claims_since = 0;
  Minute start = 0;
  Minute saved = 0;
  std::vector<Share> shares;
  Minute signalled = 0;
  std::int64_t evictions = 0;
  bool failed = false;       // lost a node at least once
  bool has_started = false;  // ever
};

class Mirror {
 public:
  explicit Mirror(const Case& stream);

  // Facts and decisions.
  void submit(Minute now, const scenario::Job& job);
  void start(const scenario::Start& decision);
  void signal(const std::string& job);
  void requeue(const std::string& job, scenario::Requeue why);
  void end(const std::string& job);
  void swap(const std::string& job, const std::vector<Share>& shares);
  void checkpoint(const std::string& job, Minute at);
  void claims(const scenario::Beliefs& beliefs);
  void advance(Minute now);
  /// Which claims a failed node ends shows only after the next pass; until then none is known.
  void set_node(const std::string& node, bool healthy);
  void set_quota(const scenario::SetQuota& change);

  // The tree. Index 0 is the root.
  [[nodiscard]] const std::vector<scenario::Quota>& tree() const { return tree_; }
  [[nodiscard]] std::vector<std::size_t> path(std::size_t queue) const;  // queue first, no root
  [[nodiscard]] bool is_below(std::size_t quota, std::size_t ancestor) const;
  [[nodiscard]] std::size_t pool(std::size_t queue) const;
  [[nodiscard]] bool states(std::size_t quota) const { return tree_[quota].guarantee.has_value(); }
  [[nodiscard]] std::int64_t guarantee(std::size_t quota) const;
  /// np of the terms: the child of the pools' lowest common ancestor towards `from`.
  [[nodiscard]] std::optional<std::size_t> child_of_lca(std::size_t from, std::size_t to) const;

  // Jobs.
  [[nodiscard]] const std::vector<Track>& jobs() const { return jobs_; }
  [[nodiscard]] const Track& job(const std::string& id) const { return jobs_[index_.at(id)]; }
  [[nodiscard]] bool knows(const std::string& id) const { return index_.contains(id); }
  [[nodiscard]] std::int64_t charge(const Track& job) const;  // of its run, else its smallest size
  [[nodiscard]] std::int64_t charge(const Track& job, std::int64_t size) const;
  [[nodiscard]] std::int64_t largest(const Track& job) const;
  [[nodiscard]] std::int64_t smallest(const Track& job) const;
  [[nodiscard]] static bool is_active(const Track& job);
  [[nodiscard]] std::int64_t lost_work(const Track& job) const;
  /// Rule O4 without user usage: whether `a` comes before `b` in their pool.
  [[nodiscard]] bool precedes(const Track& a, const Track& b) const;
  [[nodiscard]] bool starves(const Track& job) const;

  // Quantities.
  [[nodiscard]] Minute now() const { return now_; }
  [[nodiscard]] std::int64_t use(std::size_t quota) const;
  [[nodiscard]] std::int64_t fixed_use(std::size_t quota) const;  // of non-preemptible jobs
  [[nodiscard]] std::int64_t use_star(std::size_t quota, std::size_t at, std::int64_t extra) const;
  [[nodiscard]] std::int64_t capacity() const;
  [[nodiscard]] bool within(std::size_t quota, std::int64_t charge) const;
  [[nodiscard]] bool within_path(const Track& job, std::int64_t charge) const;
  /// Rule C2: numbers of the covered jobs.
  [[nodiscard]] std::set<std::size_t> cover(std::size_t quota) const;
  [[nodiscard]] bool borrowed(const Track& job) const;
  [[nodiscard]] double over(std::size_t quota) const;
  [[nodiscard]] double score(std::size_t quota) const;

  // Nodes.
  [[nodiscard]] bool healthy(const std::string& node) const { return healthy_.at(node); }
  [[nodiscard]] std::int64_t free_gpus(const std::string& node) const;
  [[nodiscard]] bool is_empty(const std::string& node) const;
  /// Healthy nodes with room for one part of the job, without regard to claims and plans.
  [[nodiscard]] std::vector<const scenario::Node*> roomy(const Track& job) const;

  [[nodiscard]] const Case& stream() const { return case_; }

 private:
  Track& track(const std::string& id) { return jobs_[index_.at(id)]; }

  const Case& case_;
  std::vector<scenario::Quota> tree_;
  std::map<std::string, bool> healthy_;
  std::vector<Track> jobs_;
  std::map<std::string, std::size_t> index_;
  std::vector<double> past_;  // rule F2, by quota
  Minute now_ = 0;
};

}  // namespace artel::rules
