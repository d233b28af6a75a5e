// The generator.
#include "property/agree/random_case.h"

#include <algorithm>
#include <set>

#include "sim/random.h"

namespace artel::agree {

namespace {

using namespace scenario;

class Maker {
 public:
  Maker(Family family, std::uint64_t seed)
      : family_(family), random_(seed * 16 + static_cast<std::uint64_t>(family)) {
    case_.id = "R" + std::to_string(static_cast<int>(family)) + "-" + std::to_string(seed);
    case_.title = "random";
  }

  Case make() {
    make_nodes();
    make_policy();
    make_tree();
    make_timeline();
    return std::move(case_);
  }

 private:
  [[nodiscard]] bool about(Family family) const {
    if (family_ == Family::kLarge)
      return family == Family::kEviction || family == Family::kPlacement;
    return family_ == family || family_ == Family::kMixed;
  }
  [[nodiscard]] bool is_large() const { return family_ == Family::kLarge; }
  std::int64_t pick(std::uint64_t low, std::uint64_t high) {
    return static_cast<std::int64_t>(random_.between(low, high));
  }
  bool chance(std::uint64_t per_mille) { return random_.chance(per_mille); }

  void make_nodes() {
    const std::uint64_t most_leaves = is_large() ? 7 : (about(Family::kPlacement) ? 4 : 2);
    const auto leaves = random_.between(is_large() ? 3 : 1, most_leaves);
    const bool blocks = about(Family::kPlacement) && chance(300);
    const bool two_types = about(Family::kPlacement) && chance(300);
    has_cores_ = about(Family::kPlacement) && chance(200);
    const std::int64_t gpus = chance(300) ? 4 : 8;
    std::uint64_t number = 0;
    for (std::uint64_t leaf = 0; leaf < leaves; ++leaf) {
      const std::uint64_t size = random_.between(1, leaves == 1 ? 6 : 3);
      for (std::uint64_t i = 0; i < size; ++i) {
        Node node;
        node.name = "n" + std::to_string(10 + number++);
        node.gpus = gpus;
        node.cpus = has_cores_ ? 16 : 0;
        node.leaf = "L" + std::to_string(leaf);
        if (blocks) node.block = "B" + std::to_string(leaf / 2);
        if (two_types && leaf % 2 == 1) node.flavor = "old";
        if (about(Family::kShares)) make_amounts(node);
        if (about(Family::kFeatures)) node.features = some_features();
        case_.nodes.push_back(node);
      }
    }
    for (const Node& node : case_.nodes) {
      known_.insert(node.features.begin(), node.features.end());
    }
    if (chance(150)) case_.licenses["sim"] = pick(1, 3);
  }

  std::vector<std::string> some_features() {
    std::vector<std::string> features;
    for (const char* word : {"ib", "nvme", "old"}) {
      if (chance(500)) features.emplace_back(word);
    }
    return features;
  }

  /// One that only names words that some node has.
  std::string some_expression() {
    static constexpr const char* kExpressions[] = {
        "ib", "!old", "ib&nvme", "ib|old", "!(ib|old)", "ib&!old|nvme", "!ib & (old | nvme)"};
    const std::string expression = kExpressions[pick(0, std::size(kExpressions) - 1)];
    for (const char* word : {"ib", "nvme", "old"}) {
      if (expression.find(word) != std::string::npos && !known_.contains(word)) return "";
    }
    return expression;
  }

  std::vector<std::string> some_nodes(std::uint64_t per_mille) {
    std::vector<std::string> names;
    for (const Node& node : case_.nodes) {
      if (chance(per_mille)) names.push_back(node.name);
    }
    return names;
  }

  void make_places(Job& job) {
    if (chance(400)) job.features = some_expression();
    if (chance(200)) job.nodes_wanted = some_nodes(700);
    if (chance(200)) job.nodes_avoided = some_nodes(200);
  }

  /// Cores and memory that do not divide evenly, devices that are open for shares, nodes without
  /// GPUs.
  void make_amounts(Node& node) {
    node.shared = chance(600);
    if (chance(700)) node.cpus = pick(8, 40);
    if (chance(700)) node.memory = pick(30, 200);
    if (node.cpus > 0 && !case_.nodes.empty() && chance(150)) node.gpus = 0;
  }

  std::int64_t all_gpus() const {
    std::int64_t sum = 0;
    for (const Node& node : case_.nodes) sum += node.gpus;
    return sum;
  }

  void make_policy() {
    Policy& policy = case_.policy;
    if ((about(Family::kEviction) || about(Family::kTimes)) && chance(600))
      policy.grace = pick(1, 5);
    if (about(Family::kEviction)) {
      if (chance(300)) policy.protect_reclaim = pick(1, 15);
      if (chance(300)) policy.protect_priority = pick(1, 15);
      if (chance(300)) policy.requeue_backoff = pick(1, 10);
    }
    if (about(Family::kFair)) {
      policy.fair_preemption = chance(700);
      if (chance(400)) policy.fair_patience = pick(1, 20);
      if (chance(300)) policy.protect_fair = pick(1, 20);
      if (chance(500)) policy.half_life = static_cast<double>(pick(10, 1000));
      if (chance(300)) policy.kappa = 0;
    }
    policy.reservations_per_team = chance(700) ? 1 : pick(0, 4);
    if (chance(200)) {
      policy.starve_after = pick(5, 60);
      policy.starving_per_team = policy.starve_after % 4;  // no draw, so that old seeds stay
    }
    if (about(Family::kShares)) policy.share_between = static_cast<ShareBetween>(pick(0, 2));
  }

  std::size_t add_quota(std::size_t parent, const std::string& name) {
    Quota quota;
    quota.parent = parent;
    quota.path = parent == 0 ? name : case_.tree[parent].path + "." + name;
    const std::size_t index = case_.tree.size();
    case_.tree[parent].children.push_back(index);
    case_.tree.push_back(quota);
    return index;
  }

  Amounts some(std::int64_t most) {
    const std::int64_t step = case_.nodes.front().gpus / (chance(200) ? 2 : 1);
    Amounts amounts;
    for (const Node& node : case_.nodes) {
      const std::int64_t value = pick(0, static_cast<std::uint64_t>(most / step)) * step;
      amounts.emplace(node.flavor, value);
    }
    if (has_cores_ && chance(700)) amounts[kCores] = pick(0, 64);
    return amounts;
  }

  void make_team(std::size_t index, bool states) {
    Quota& team = case_.tree[index];
    team.kind = QuotaKind::kTeam;
    if (states) team.guarantee = some(all_gpus() / 2);
    if (about(Family::kQuota)) {
      if (chance(250)) team.limit = some(all_gpus());
      if (chance(250)) team.borrow = some(all_gpus() / 2);
      if (chance(250)) team.lend = some(all_gpus() / 2);
      if (chance(100)) team.budget = static_cast<double>(pick(1, 30));
    }
    if (chance(300)) team.weight = static_cast<double>(pick(0, 3));
    if (chance(100)) team.strict_fifo = true;
    if (about(Family::kQuota) && chance(300)) make_queues(index);
    if (case_.tree[index].children.empty()) queues_.push_back(case_.tree[index].path);
  }

  void make_queues(std::size_t team) {
    for (const char* name : {"q1", "q2"}) {
      const std::size_t index = add_quota(team, name);
      Quota& queue = case_.tree[index];
      if (chance(200)) queue.max_jobs_per_user = pick(1, 3);
      if (chance(200)) queue.max_gpus_per_user = pick(4, 24);
      if (chance(200)) queue.limit = Amounts{{kDefaultFlavor, pick(1, 4) * 8}};
      queue.strict_fifo = chance(200);
      queues_.push_back(queue.path);
    }
  }

  void make_tree() {
    const bool states = !(about(Family::kFair) && chance(150));
    const bool cohorts = states && chance(300);
    const auto tops = random_.between(1, 3);
    for (std::uint64_t i = 0; i < tops; ++i) {
      const std::string name(1, static_cast<char>('A' + i));
      const std::size_t index = add_quota(0, name);
      if (!cohorts || chance(400)) {
        make_team(index, states);
        continue;
      }
      for (const char* team : {"x", "y"}) make_team(add_quota(index, team), true);
      if (chance(400)) make_shared_guarantee(index);
    }
    if (about(Family::kFair)) make_history();
    if (chance(100)) case_.nodes.front().owner = case_.tree[1].path;
  }

  /// More than the sum of the children's.
  void make_shared_guarantee(std::size_t index) {
    Amounts sum;
    for (const std::size_t child : case_.tree[index].children) {
      for (const auto& [resource, value] : *case_.tree[child].guarantee) sum[resource] += value;
    }
    for (auto& [resource, value] : sum) value += pick(0, 2) * 8;
    case_.tree[index].guarantee = sum;
  }

  void make_history() {
    for (std::size_t i = 1; i < case_.tree.size(); ++i) {
      if (chance(300)) case_.team_usage[case_.tree[i].path] = static_cast<double>(pick(0, 8)) / 8;
    }
    if (chance(400)) case_.user_usage["u1"] = static_cast<double>(pick(0, 8)) / 8;
  }

  void make_shape(Job& job) {
    Component& part = job.components.front();
    const std::uint64_t most = is_large() ? 9 : 4;
    part.nodes = chance(600) ? 1 : pick(1, std::min<std::uint64_t>(most, case_.nodes.size()));
    part.gpus = case_.nodes.front().gpus;
    if (chance(about(Family::kPlacement) ? 400 : 150)) {
      part.gpus = pick(1, static_cast<std::uint64_t>(part.gpus));
    }
    if (has_cores_) part.cpus = pick(1, 16);
    if (about(Family::kShares) && chance(750)) make_share(part);
    if (about(Family::kShares)) job.exclusive = chance(80);
    if (part.nodes > 1 && chance(250))
      job.min_nodes = pick(1, static_cast<std::uint64_t>(part.nodes));
    if (!about(Family::kPlacement)) return;
    if (chance(250)) job.topology = chance(700) ? Topology::kLeaf : Topology::kBlock;
    if (part.nodes % 2 == 0 && !job.min_nodes && chance(250)) job.segment = 2;
    job.exclusive = job.exclusive || chance(100);
    if (job.segment == 1 && !job.min_nodes && chance(100)) {
      job.components.push_back({.nodes = is_large() ? pick(1, 3) : 1,
                                .gpus = is_large() ? pick(1, 4) : 2,
                                .cpus = has_cores_ ? (is_large() ? pick(1, 16) : 2) : 0});
    }
  }

  void make_share(Component& part) {
    if (chance(600)) {
      part.gpu_milli = pick(25, 999);
      part.gpus = 0;
    } else {
      part.gpus = pick(0, 4);
    }
    part.cpus = chance(300) || part.gpus + part.gpu_milli == 0 ? pick(1, 16) : 0;
    if (chance(300)) part.memory = pick(1, 60);
  }

  void make_flavors(Job& job) {
    std::vector<std::string> flavors;
    for (const Node& node : case_.nodes) {
      if (std::ranges::find(flavors, node.flavor) == flavors.end()) flavors.push_back(node.flavor);
    }
    if (flavors.size() > 1 && chance(300)) std::swap(flavors[0], flavors[1]);
    if (flavors.size() > 1 && chance(400)) flavors.resize(1);
    job.flavors = flavors;
  }

  Job make_job(std::size_t number) {
    Job job;
    job.id = "j" + std::to_string(10 + number);
    job.queue = queues_[random_.between(0, queues_.size() - 1)];
    job.user = "u" + std::to_string(random_.between(1, 3));
    make_shape(job);
    make_flavors(job);
    if (about(Family::kFeatures)) make_places(job);
    if (about(Family::kTimes)) make_licenses_scarce();
    if (about(Family::kSpares) && job.components.size() == 1 && job.segment == 1 && chance(300)) {
      job.spares = pick(1, 2);
      Component& part = job.components.front();
      part.nodes = std::min(part.nodes, std::int64_t{2});
      if (job.min_nodes) job.min_nodes = std::min(*job.min_nodes, part.nodes);
    }
    job.duration = pick(1, 60);
    job.walltime = chance(700) ? *job.duration : pick(1, 80);
    if (chance(about(Family::kEviction) ? 500 : 200)) job.priority = pick(0, 3);
    if (chance(150)) job.preemptible = false;
    if (chance(50)) make_service(job);
    if (chance(80)) job.max_wait = pick(0, 30);
    if (chance(80)) job.requeue = false;
    if (about(Family::kEviction) && chance(200)) job.grace = pick(0, 8);
    if (about(Family::kEviction) && chance(300)) job.checkpoint_every = pick(1, 10);
    if (!case_.licenses.empty() && chance(400)) job.licenses["sim"] = pick(1, 2);
    if (!reservations_.empty() && chance(400)) {
      job.reservation = reservations_[random_.between(0, reservations_.size() - 1)];
    }
    return job;
  }

  void make_licenses_scarce() {
    if (case_.licenses.empty() && chance(100)) case_.licenses["sim"] = pick(1, 3);
  }

  /// Rules W, D and J.
  void make_times(Job& job, Minute now) {
    job.held = chance(80);
    job.fails = job.duration && chance(250);
    if (chance(200)) job.begin = now + pick(0, 25);
    if (job.walltime && chance(250)) {
      job.deadline = job.begin.value_or(now) + *job.walltime + pick(0, 40) - 2;
    }
    if (chance(350)) job.name = "x";
    if (chance(200)) make_array(job);
    if (chance(150)) job.after.push_back({Depends::kSingleton, ""});
    while (!names_.empty() && chance(300)) {
      job.after.push_back(
          {static_cast<Depends>(pick(0, 3)), names_[random_.between(0, names_.size() - 1)]});
    }
    job.any_is_enough = job.after.size() > 1 && chance(400);
    names_.push_back(job.id);
    if (!job.array) return;
    arrays_.push_back(job.id);
    for (std::int64_t i = 0; i < *job.array; ++i) {
      names_.push_back(job.id + "_" + std::to_string(i));
    }
  }

  void make_array(Job& job) {
    job.array = pick(2, 5);
    if (chance(700)) job.throttle = pick(0, 3);
  }

  void make_time_fact(Minute now) {
    if (names_.empty()) return;
    const std::string& name = names_[random_.between(0, names_.size() - 1)];
    if (chance(150)) add(now, Hold{name});
    if (chance(250)) add(now, Release{name});
    if (chance(60)) add(now, Cancel{name});
    if (arrays_.empty() || !chance(200)) return;
    add(now, Throttle{arrays_[random_.between(0, arrays_.size() - 1)], pick(0, 4)});
  }

  static void make_service(Job& job) {
    job.kind = JobKind::kService;
    job.duration.reset();
    job.walltime.reset();
  }

  Reservation make_reservation(Minute now) {
    Reservation one;
    one.name = "R" + std::to_string(reservations_.size() + 1);
    one.start = now + pick(0, 40);
    one.end = one.start + pick(5, 40);
    one.maintenance = chance(250);
    one.flex = !one.maintenance && chance(300);
    if (!one.maintenance) one.owner = case_.tree[random_.between(1, case_.tree.size() - 1)].path;
    if (chance(500)) {
      one.count = pick(1, std::min<std::uint64_t>(3, case_.nodes.size()));
      one.one_leaf = chance(300);
      one.flavor = case_.nodes.front().flavor;
    } else {
      one.nodes.push_back(case_.nodes[random_.between(0, case_.nodes.size() - 1)].name);
    }
    reservations_.push_back(one.name);
    return one;
  }

  Reservation make_spares() {
    Reservation one;
    one.name = "SP" + std::to_string(++spares_);
    one.owner = case_.tree[random_.between(1, case_.tree.size() - 1)].path;
    one.count = pick(1, 2);
    one.flavor = case_.nodes[random_.between(0, case_.nodes.size() - 1)].flavor;
    one.spare = true;
    return one;
  }

  std::string some_job(std::size_t submitted) {
    return "j" + std::to_string(10 + random_.between(0, submitted - 1));
  }

  void make_other_fact(Minute now, std::size_t submitted) {
    if (about(Family::kReservations) && chance(250)) add(now, Reserve{make_reservation(now)});
    if (submitted > 0 && chance(60)) add(now, Cancel{some_job(submitted)});
    if (submitted > 0 && about(Family::kEviction) && chance(150)) {
      add(now, Checkpoint{some_job(submitted)});
    }
    if (about(Family::kSpares) && chance(submitted < 3 ? 250 : 50)) {
      add(now, Reserve{make_spares()});
    }
    const bool fails =
        about(Family::kFailures) || about(Family::kFeatures) || about(Family::kSpares);
    if (!fails) return;
    const std::string node = case_.nodes[random_.between(0, case_.nodes.size() - 1)].name;
    if (chance(200)) add(now, NodeDown{node});
    if (chance(250)) add(now, NodeUp{node});
    if (about(Family::kSpares) && submitted > 0 && chance(300)) {
      add(now, NodeRefuses{some_job(submitted), node});
    }
    if (about(Family::kFeatures)) {
      if (chance(100)) add(now, SetFeatures{node, some_features()});
      if (submitted > 0 && chance(200)) add(now, NodeRefuses{some_job(submitted), node});
    }
    if (about(Family::kTimes)) make_time_fact(now);
    if (!about(Family::kFailures)) return;
    if (chance(150)) {
      SetQuota change;
      change.quota = case_.tree[1].path;
      if (case_.tree[1].guarantee) change.guarantee = some(all_gpus());
      if (chance(200)) change.weight = static_cast<double>(pick(0, 3));
      if (change.guarantee || change.weight) add(now, change);
    }
  }

  void add(Minute t, Fact fact) { case_.timeline.push_back({t, std::move(fact)}); }

  void make_timeline() {
    const auto jobs = static_cast<std::size_t>(random_.between(2, is_large() ? 40 : 14));
    Minute now = 0;
    for (std::size_t i = 0; i < jobs; ++i) {
      make_other_fact(now, i);
      Job job = make_job(i);
      if (about(Family::kTimes)) make_times(job, now);
      add(now, Submit{std::move(job)});
      if (chance(600)) now += pick(1, 12);
    }
    make_other_fact(now + 5, jobs);
  }

  Family family_;
  sim::Random random_;
  Case case_;
  bool has_cores_ = false;
  std::set<std::string> known_;  // features that some node has at the begin
  std::vector<std::string> queues_;
  std::vector<std::string> reservations_;
  std::vector<std::string> names_;  // of jobs, arrays and tasks
  std::vector<std::string> arrays_;
  int spares_ = 0;
};

}  // namespace

Case random_case(Family family, std::uint64_t seed) { return Maker(family, seed).make(); }

}  // namespace artel::agree
