// The generator draws small numbers, so that the corner cases of the rules meet each other often.
#include "property/rules/bed/stream.h"

#include <algorithm>
#include <array>
#include <string>

#include "sim/random.h"

namespace artel::rules {

namespace {

using namespace scenario;
using sim::Random;

std::int64_t draw(Random& random, std::int64_t low, std::int64_t high) {
  return static_cast<std::int64_t>(
      random.between(static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high)));
}

Amounts gpus(std::int64_t count) { return {{kDefaultFlavor, count}}; }

std::string numbered(const std::string& prefix, std::int64_t number) {
  return prefix + (number < 10 ? "0" : "") + std::to_string(number);
}

const std::vector<std::string> kExpressions = {"ib",       "!old",      "ib&!old",
                                               "old|fast", "!(ib|old)", "ib&(old|fast)"};

class Maker {
 public:
  Maker(Kind kind, std::uint64_t seed)
      : kind_(kind), random_(seed * 8 + static_cast<std::uint64_t>(kind)) {}

  Case make() {
    case_.id = "seed";
    make_cluster();
    make_policy();
    make_tree();
    make_timeline();
    return case_;
  }

 private:
  [[nodiscard]] bool is(Kind kind) const { return kind_ == kind; }
  bool chance(std::uint64_t per_mille) { return random_.chance(per_mille); }

  void make_cluster() {
    const std::int64_t nodes = draw(random_, 2, 7);
    const std::int64_t width = draw(random_, 2, 4);
    for (std::int64_t i = 0; i < nodes; ++i) {
      Node node{.name = numbered("n", i)};
      if (is(Kind::kMixed)) {
        node.leaf = numbered("L", i / width);
        node.block = numbered("B", i / width / 2);
      }
      if (is(Kind::kRich)) enrich(node, i);
      case_.nodes.push_back(node);
    }
    capacity_ = nodes;
  }

  void enrich(Node& node, std::int64_t number) {
    node.leaf = numbered("L", number / 3);
    node.cpus = chance(800) ? 32 : 0;
    node.memory = chance(800) ? 64 : 0;
    for (const char* word : {"ib", "old", "fast"}) {
      if (chance(500)) node.features.emplace_back(word);
    }
    if (!chance(400)) return;
    node.shared = true;
    node.gpus = draw(random_, 1, 3);
  }

  void make_policy() {
    Policy& policy = case_.policy;
    policy.grace = chance(500) ? 0 : draw(random_, 1, 6);
    policy.protect_reclaim = chance(500) ? 0 : draw(random_, 1, 10);
    policy.protect_priority = chance(500) ? 0 : draw(random_, 1, 10);
    policy.requeue_backoff = chance(600) ? 0 : draw(random_, 1, 10);
    policy.reservations_per_team = is(Kind::kOneTeam) ? 1 : draw(random_, 0, 2);
    policy.half_life = static_cast<double>(draw(random_, 5, 60));
    policy.kappa = chance(300) ? 0 : 1;
    if (is(Kind::kPlain)) {
      policy.protect_reclaim = chance(300) ? 0 : draw(random_, 4, 20);
      policy.grace = chance(700) ? 0 : draw(random_, 1, 6);
      policy.reservations_per_team = 1;
    }
    if (is(Kind::kMixed) && chance(500)) policy.starve_after = draw(random_, 10, 40);
    policy.starving_per_team = 3;
    if (!is(Kind::kFair)) return;
    policy.fair_preemption = true;
    policy.fair_patience = draw(random_, 0, 5);
    policy.protect_fair = draw(random_, 0, 5);
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

  void limit_quota(Quota& quota, std::int64_t guarantee) {
    if (!is(Kind::kMixed)) return;
    if (chance(150))
      quota.limit = gpus(8 * draw(random_, std::max<std::int64_t>(guarantee, 1), capacity_ + 1));
    if (chance(150)) quota.borrow = gpus(8 * draw(random_, 0, 3));
    if (chance(150)) quota.lend = gpus(8 * draw(random_, 0, guarantee));
    if (chance(100)) quota.max_jobs_per_user = draw(random_, 1, 3);
    if (chance(100)) quota.max_gpus_per_user = 8 * draw(random_, 1, 3);
    if (chance(150)) quota.strict_fifo = true;
    if (chance(200)) quota.weight = static_cast<double>(draw(random_, 1, 3));
  }

  void add_children(std::size_t team, std::int64_t guarantee) {
    const bool stating = chance(600);
    std::int64_t left = guarantee;
    for (const char* name : {"q1", "q2"}) {
      const std::size_t child = add_quota(team, name);
      const std::int64_t part = draw(random_, 0, left);
      if (stating) {
        case_.tree[child].guarantee = gpus(8 * part);
        left -= part;
      }
      limit_quota(case_.tree[child], stating ? part : 0);
      queues_.push_back(case_.tree[child].path);
    }
  }

  void make_tree() {
    const std::int64_t teams = is(Kind::kOneTeam) ? 1 : draw(random_, 2, 4);
    std::int64_t left = capacity_;
    for (std::int64_t i = 0; i < teams; ++i) {
      std::int64_t guarantee = draw(random_, 0, std::min<std::int64_t>(left, 4));
      if (is(Kind::kOneTeam)) guarantee = capacity_;
      if (is(Kind::kFair)) guarantee = 0;
      left -= guarantee;
      const std::size_t team = add_quota(0, std::string(1, static_cast<char>('A' + i)));
      case_.tree[team].guarantee = gpus(8 * guarantee);
      if (is(Kind::kFair)) case_.tree[team].weight = static_cast<double>(draw(random_, 1, 3));
      limit_quota(case_.tree[team], guarantee);
      if ((is(Kind::kMixed) || is(Kind::kPlain)) && chance(350)) {
        add_children(team, guarantee);
      } else {
        queues_.push_back(case_.tree[team].path);
      }
    }
  }

  void shape_mixed(Job& job) {
    Component& part = job.components.front();
    if (chance(300)) part.gpus = std::int64_t{1} << draw(random_, 0, 2);
    if (chance(200)) job.topology = Topology::kLeaf;
    if (chance(100)) job.topology = Topology::kBlock;
    if (part.nodes > 1 && chance(350)) job.min_nodes = draw(random_, 1, part.nodes - 1);
    if (part.nodes % 2 == 0 && !job.min_nodes && chance(250)) job.segment = 2;
    if (part.gpus < 8 && chance(200)) job.exclusive = true;
    if (chance(80)) {
      const std::int64_t nodes = draw(random_, 1, 2);
      job.components.push_back({.nodes = nodes, .gpus = 4});
      job.min_nodes.reset();
      job.segment = 1;
      job.exclusive = false;
    }
    if (chance(60)) job.kind = JobKind::kInteractive, job.requeue = false;
    if (chance(100)) job.checkpoint_every = draw(random_, 2, 8);
    if (chance(80)) job.max_wait = draw(random_, 0, 20);
  }

  void shape_rich(Job& job, Minute now) {
    Component& part = job.components.front();
    part.gpus = std::int64_t{1} << draw(random_, 0, 3);
    if (chance(350)) {
      part.gpus = 0;
      part.gpu_milli = 100 * draw(random_, 1, 9);
      part.nodes = 1;
    }
    if (chance(250)) part.cpus = draw(random_, 1, 12);
    if (chance(250)) part.memory = draw(random_, 1, 40);
    if (chance(200)) job.features = kExpressions[random_.between(0, kExpressions.size() - 1)];
    const std::string& some = case_.nodes[random_.between(0, case_.nodes.size() - 1)].name;
    if (chance(100)) job.nodes_avoided = {some};
    if (chance(60) && part.nodes == 1) job.nodes_wanted = {some};
    if (chance(150)) job.begin = now + draw(random_, 0, 30);
    if (chance(150)) {
      job.deadline = std::max(now, job.begin.value_or(0)) + *job.walltime + draw(random_, 0, 40);
    }
    if (chance(100)) job.held = true;
    if (part.gpus == 8 && chance(300)) job.spares = 1;
    if (chance(100)) job.fails = true;
    depend(job);
    if (chance(200)) {
      job.array = draw(random_, 2, 5);
      if (chance(700)) job.throttle = draw(random_, 1, 2);
      arrays_.push_back(job.id);
    }
  }

  void depend(Job& job) {
    if (submitted_.empty() || !chance(250)) return;
    constexpr std::array kKinds = {Depends::kAfter, Depends::kAfterAny, Depends::kAfterOk,
                                   Depends::kAfterNotOk};
    const std::int64_t parts = draw(random_, 1, 2);
    for (std::int64_t i = 0; i < parts; ++i) {
      job.after.push_back({kKinds[random_.between(0, kKinds.size() - 1)],
                           submitted_[random_.between(0, submitted_.size() - 1)]});
    }
    job.any_is_enough = parts > 1 && chance(300);
  }

  void disturb_richly(Minute t, const std::string& node) {
    if (chance(100)) case_.timeline.push_back({t, NodeDown{node}});
    if (chance(200)) case_.timeline.push_back({t, NodeUp{node}});
    if (chance(60)) case_.timeline.push_back({t, SetFeatures{node, {"ib"}}});
    if (!arrays_.empty() && chance(100)) {
      const std::string& array = arrays_[random_.between(0, arrays_.size() - 1)];
      case_.timeline.push_back({t, Throttle{array, draw(random_, 0, 3)}});
    }
    if (submitted_.empty()) return;
    const std::string& job = submitted_[random_.between(0, submitted_.size() - 1)];
    if (chance(100)) case_.timeline.push_back({t, Hold{job}});
    if (chance(300)) case_.timeline.push_back({t, Release{job}});
    if (chance(100)) case_.timeline.push_back({t, NodeRefuses{job, node}});
  }

  void keep_spares() {
    if (!is(Kind::kRich) || !chance(500)) return;
    Reservation one{.name = "SP", .owner = "A", .count = 1};
    one.spare = true;
    case_.timeline.push_back({0, Reserve{one}});
  }

  Job make_job(std::int64_t number, Minute now) {
    Job job;
    job.id = numbered("j", number);
    job.queue = queues_[random_.between(0, queues_.size() - 1)];
    job.user = job.queue.substr(0, 1) + (chance(250) && !is(Kind::kOneTeam) ? "2" : "1");
    job.components.front().nodes =
        is(Kind::kSingles) ? 1 : std::min(capacity_, draw(random_, 1, 3));
    job.duration = draw(random_, 1, 40);
    if (is(Kind::kPlain) && chance(500)) job.duration = draw(random_, 1, 8);
    job.walltime = *job.duration + (chance(300) ? draw(random_, 0, 20) : 0);
    if (!is(Kind::kOneTeam)) {
      job.priority = is(Kind::kSingles) ? 0 : draw(random_, 0, 2);
      job.preemptible = !chance(200);
    }
    if (is(Kind::kMixed)) shape_mixed(job);
    if (is(Kind::kSingles)) {
      job.duration = 30 + draw(random_, 0, 1) * 40;
      job.walltime = job.duration;
      if (chance(300)) job.checkpoint_every = draw(random_, 3, 12);
    }
    if (is(Kind::kReserved) && chance(300)) job.components.front().gpus = 4;
    if (is(Kind::kReserved) && chance(300) && !reservations_.empty()) {
      const Reservation& one = reservations_[random_.between(0, reservations_.size() - 1)];
      if (!one.owner.empty()) {
        job.reservation = one.name;
        job.queue = one.owner;
      }
    }
    if (is(Kind::kRich)) {
      shape_rich(job, now);
      submitted_.push_back(job.id);
    }
    return job;
  }

  Reservation make_reservation(Minute now) {
    Reservation one;
    one.name = "R" + std::to_string(reservations_.size());
    one.start = now + draw(random_, 1, 30);
    one.end = one.start + draw(random_, 5, 30);
    if (chance(300)) {
      one.maintenance = true;
    } else {
      one.owner = queues_[random_.between(0, queues_.size() - 1)];
    }
    if (chance(400)) {
      const std::int64_t first = draw(random_, 0, capacity_ - 1);
      one.nodes.push_back(case_.nodes[static_cast<std::size_t>(first)].name);
    } else {
      one.count = draw(random_, 1, std::min<std::int64_t>(2, capacity_));
    }
    if (!one.maintenance && chance(200)) one.flex = true;
    reservations_.push_back(one);
    return one;
  }

  void add_disturbance(Minute t) {
    const std::string node =
        case_.nodes[static_cast<std::size_t>(draw(random_, 0, capacity_ - 1))].name;
    const std::size_t quota = 1 + random_.between(0, case_.tree.size() - 2);
    const bool failing = is(Kind::kMixed) || is(Kind::kReserved);
    if (is(Kind::kRich)) disturb_richly(t, node);
    if (failing && chance(120)) case_.timeline.push_back({t, NodeDown{node}});
    if (failing && chance(200)) case_.timeline.push_back({t, NodeUp{node}});
    if (is(Kind::kReserved) && chance(250)) {
      case_.timeline.push_back({t, Reserve{make_reservation(t)}});
    }
    if (is(Kind::kMixed) && chance(60) && case_.tree[quota].guarantee &&
        case_.tree[quota].children.empty()) {
      SetQuota change{.quota = case_.tree[quota].path};
      change.guarantee =
          gpus(8 * draw(random_, 0, case_.tree[quota].guarantee->begin()->second / 8));
      case_.timeline.push_back({t, change});
    }
  }

  void make_timeline() {
    const std::int64_t jobs = draw(random_, 6, 26);
    Minute t = 0;
    keep_spares();
    for (std::int64_t i = 0; i < jobs; ++i) {
      if (chance(600)) t += draw(random_, 1, 8);
      add_disturbance(t);
      case_.timeline.push_back({t, Submit{make_job(i, t)}});
      if (!is(Kind::kOneTeam) && chance(60)) {
        case_.timeline.push_back({t, Cancel{numbered("j", draw(random_, 0, i))}});
      }
    }
    for (const Node& node : case_.nodes) case_.timeline.push_back({t + 40, NodeUp{node.name}});
    for (const std::string& job : submitted_) case_.timeline.push_back({t + 40, Release{job}});
    for (const std::string& array : arrays_) case_.timeline.push_back({t + 40, Throttle{array, 2}});
  }

  Kind kind_;
  Random random_;
  Case case_;
  std::int64_t capacity_ = 0;  // nodes of 8 GPUs
  std::vector<std::string> queues_;
  std::vector<Reservation> reservations_;
  std::vector<std::string> submitted_;
  std::vector<std::string> arrays_;
};

}  // namespace

Case random_stream(Kind kind, std::uint64_t seed) { return Maker(kind, seed).make(); }

Minute horizon(const Case& stream) { return stream.timeline.back().t + 250; }

}  // namespace artel::rules
