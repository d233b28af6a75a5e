// What must fit together between the tables of teams.d: names, the quota tree (Q1), classes (K3).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "config/files.h"

namespace artel::config {
namespace {

std::vector<std::string_view> names_in(const Names& names) {
  std::vector<std::string_view> out;
  for (const auto& [name, place] : names.places()) out.push_back(name);
  return out;
}

class Check {
 public:
  Check(const TeamNames& names, TeamsConfig& teams, Mistakes& mistakes)
      : names_(names), teams_(teams), mistakes_(mistakes) {}

  void run() {
    order_cohorts();
    for (const TeamConfig& team : teams_.teams)
      known("team", "cohort", "cohort", names_.teams.places().at(team.name), team.cohort,
            names_in(names_.cohorts));
    for (const QueueConfig& queue : teams_.queues) check_queue(queue);
    check_guarantees();
    check_classes();
  }

 private:
  /// The name, where one is given, is that of something.
  bool known(std::string_view table, std::string_view key, std::string_view what,
             const std::string& place, const std::string& name,
             const std::vector<std::string_view>& valid) {
    if (name.empty() || std::ranges::find(valid, name) != valid.end()) return true;
    mistakes_.add(fmt::format("{}: {}.{}: there is no {} '{}'{}", place, table, key, what, name,
                              did_you_mean(name, valid)));
    return false;
  }

  /// Parents before children.
  void order_cohorts() {
    std::vector<CohortConfig> ordered;
    std::vector<CohortConfig> left;
    for (CohortConfig& cohort : teams_.cohorts) {
      const std::string& place = names_.cohorts.places().at(cohort.name);
      if (!known("cohort", "parent", "cohort", place, cohort.parent, names_in(names_.cohorts)))
        cohort.parent.clear();
      left.push_back(std::move(cohort));
    }
    while (!left.empty()) {
      const std::size_t before = left.size();
      for (auto at = left.begin(); at != left.end();) {
        const bool is_due =
            at->parent.empty() ||
            std::ranges::find(ordered, at->parent, &CohortConfig::name) != ordered.end();
        if (is_due) ordered.push_back(std::move(*at));
        at = is_due ? left.erase(at) : at + 1;
      }
      if (left.size() == before) break;
    }
    for (const CohortConfig& cohort : left)
      mistakes_.add(fmt::format("{}: cohort.parent: '{}' is below itself",
                                names_.cohorts.places().at(cohort.name), cohort.name));
    teams_.cohorts = std::move(ordered);
  }

  void check_queue(const QueueConfig& queue) {
    const std::string& place = names_.queues.places().at(queue.name);
    known("queue", "team", "team", place, queue.team, names_in(names_.teams));
    std::vector<std::string_view> classes;
    for (const ClassConfig& one : teams_.classes) classes.push_back(one.name);
    known("queue", "class", "class", place, queue.job_class, classes);
    for (const std::string& name : queue.classes)
      known("queue", "classes", "class", place, name, classes);
    const std::string usual =
        queue.job_class.empty() ? std::string(kDefaultClass) : queue.job_class;
    if (queue.classes.empty() || std::ranges::find(queue.classes, usual) != queue.classes.end())
      return;
    mistakes_.add(
        fmt::format("{}: queue.classes: jobs that name no class have '{}', which is not "
                    "among those admitted; add it, or name one of them as class",
                    place, usual));
  }

  // Q1 ------------------------------------------------------------------------------------------

  struct Child {
    std::string_view kind;
    const std::string* name;
    const QuotaTerms* terms;
    const std::string* place;
    bool states;  // a guarantee, its own or one below it
  };

  /// Whether the cohort or something below it states a guarantee.
  [[nodiscard]] bool states(const CohortConfig& cohort) const {
    if (cohort.terms.guarantee) return true;
    return std::ranges::any_of(children_of(cohort.name), &Child::states);
  }

  [[nodiscard]] std::vector<Child> children_of(const std::string& cohort) const {
    std::vector<Child> children;
    for (const CohortConfig& one : teams_.cohorts)
      if (one.parent == cohort)
        children.push_back(
            {"cohort", &one.name, &one.terms, &names_.cohorts.places().at(one.name), states(one)});
    for (const TeamConfig& one : teams_.teams)
      if (one.cohort == cohort)
        children.push_back({"team", &one.name, &one.terms, &names_.teams.places().at(one.name),
                            one.terms.guarantee.has_value()});
    return children;
  }

  /// What the cohort states, else the sum of what is below it.
  [[nodiscard]] QuotaAmounts promised(const Child& child) const {
    if (child.terms->guarantee) return *child.terms->guarantee;
    return child.kind == "cohort" ? sum_below(*child.name) : QuotaAmounts{};
  }

  [[nodiscard]] QuotaAmounts sum_below(const std::string& cohort) const {
    QuotaAmounts sum;
    for (const Child& child : children_of(cohort))
      for (const auto& [type, amount] : promised(child)) sum[type] += amount;
    return sum;
  }

  void check_siblings(const std::string& cohort) {
    const std::vector<Child> children = children_of(cohort);
    const auto stating = std::ranges::find_if(children, &Child::states);
    for (const Child& child : children) {
      if (stating != children.end() && !child.states) {
        mistakes_.add(fmt::format(
            "{}: {}.guarantee: is missing, but {} '{}' beside it has one; siblings all state a "
            "guarantee or none does (rule Q1): write guarantee = {{}} for none",
            *child.place, child.kind, stating->kind, *stating->name));
      }
      // Below the lowest guarantee there is one line, in which no shares are dealt out.
      if (stating == children.end() && child.terms->weight != 1) {
        mistakes_.add(fmt::format(
            "{}: {}.weight: says nothing without guarantees, since all jobs then form one line; "
            "write guarantee = {{}} for this {} and those beside it, so that shares are dealt out",
            *child.place, child.kind, child.kind));
      }
    }
  }

  void check_guarantees() {
    check_siblings("");
    for (const CohortConfig& cohort : teams_.cohorts) {
      check_siblings(cohort.name);
      if (!cohort.terms.guarantee) continue;
      for (const auto& [type, below] : sum_below(cohort.name)) {
        const auto own = cohort.terms.guarantee->find(type);
        const std::int64_t has = own == cohort.terms.guarantee->end() ? 0 : own->second;
        if (below <= has) continue;
        mistakes_.add(fmt::format(
            "{}: cohort.guarantee: {} = {} is less than the {} that '{}' promises below (rule "
            "Q1); raise it, or leave it out for exactly that sum",
            names_.cohorts.places().at(cohort.name), type, has, below, cohort.name));
      }
    }
  }

  // K3 ------------------------------------------------------------------------------------------

  void check_classes() {
    std::vector<ClassConfig> sorted = teams_.classes;
    std::ranges::sort(sorted, {}, &ClassConfig::priority);
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      const ClassConfig& low = sorted[i - 1];
      const ClassConfig& high = sorted[i];
      if (high.priority - low.priority >= kClassDistance) continue;
      const auto& places = names_.classes.places();
      const auto place =
          places.contains(high.name) ? places.find(high.name) : places.find(low.name);
      if (place == places.end()) continue;
      mistakes_.add(fmt::format(
          "{}: class.priority: '{}' has {} and '{}' {}; classes must be {} or more apart, so that "
          "no job's own priority puts it into another class (rule K3)",
          place->second, low.name, low.priority, high.name, high.priority, kClassDistance));
    }
  }

  const TeamNames& names_;
  TeamsConfig& teams_;
  Mistakes& mistakes_;
};

}  // namespace

void check_teams(const TeamNames& names, TeamsConfig& teams, Mistakes& mistakes) {
  Check(names, teams, mistakes).run();
}

void check_owners(const Names& nodes, const TeamNames& names, SiteConfig& config,
                  Mistakes& mistakes) {
  const auto teams = names_in(names.teams);
  const auto hosts = names_in(nodes);
  for (const auto& [node, team] : names.owners) {
    if (nodes.places().contains(node)) continue;
    mistakes.add(fmt::format("{}: team.nodes: there is no node '{}'{}",
                             names.teams.places().at(team), node, did_you_mean(node, hosts)));
  }
  for (NodeConfig& node : config.nodes) {
    const std::string& place = nodes.places().at(node.name);
    const auto owner = names.owners.find(node.name);
    if (owner != names.owners.end()) {
      if (!node.owner.empty() && node.owner != owner->second)
        mistakes.add(fmt::format("{}: node.owner: is '{}', but teams.d gives '{}' to '{}'", place,
                                 node.owner, node.name, owner->second));
      node.owner = owner->second;
    }
    if (!node.owner.empty() && std::ranges::find(teams, node.owner) == teams.end())
      mistakes.add(fmt::format("{}: node.owner: there is no team '{}'{}", place, node.owner,
                               did_you_mean(node.owner, teams)));
  }
}

}  // namespace artel::config
