// Forwards everything; the mirror learns each fact before the inner engine answers to it.
#include "property/rules/bed/watch.h"

#include <algorithm>

namespace artel::rules {

using namespace scenario;

Watch::Watch(Kind kind, const Case& stream, std::unique_ptr<Engine> inner, Ledger& ledger)
    : kind_(kind),
      stream_(stream),
      inner_(std::move(inner)),
      ledger_(ledger),
      mirror_(stream),
      rich_(stream, ledger) {}

void Watch::arrive(Minute now) { mirror_.advance(now); }

std::optional<std::string> Watch::submit(Minute now, const Job& job) {
  arrive(now);
  auto refused = inner_->submit(now, job);
  mirror_.submit(now, job);
  if (refused) mirror_.end(job.id);
  trace_ += std::to_string(now) + " submit " + job.id + " " + refused.value_or("") + "\n";
  return refused;
}

void Watch::end(Minute now, const std::string& job, scenario::Ending how) {
  arrive(now);
  mirror_.end(job);
  inner_->end(now, job, how);
}

void Watch::end_waits(Minute now) {
  arrive(now);
  inner_->end_waits(now);
}

void Watch::requeue(Minute now, const std::string& job, Requeue why) {
  arrive(now);
  mirror_.requeue(job, why);
  inner_->requeue(now, job, why);
}

void Watch::checkpoint(Minute now, const std::string& job, Minute at) {
  arrive(now);
  mirror_.checkpoint(job, at);
  inner_->checkpoint(now, job, at);
}

void Watch::node(Minute now, const std::string& name, bool healthy) {
  arrive(now);
  mirror_.set_node(name, healthy);
  inner_->node(now, name, healthy);
}

void Watch::set_quota(Minute now, const SetQuota& change) {
  arrive(now);
  mirror_.set_quota(change);
  inner_->set_quota(now, change);
}

std::optional<std::string> Watch::reserve(Minute now, const Reservation& reservation) {
  arrive(now);
  return inner_->reserve(now, reservation);
}

void Watch::waits(Minute now, const std::string& job, Waits waits) {
  arrive(now);
  rich_.waits(job, waits);
  inner_->waits(now, job, waits);
}

void Watch::throttle(Minute now, const std::string& array, std::int64_t limit) {
  arrive(now);
  rich_.throttle(array, limit);
  inner_->throttle(now, array, limit);
}

void Watch::features(Minute now, const std::string& node,
                     const std::vector<std::string>& features) {
  arrive(now);
  rich_.features(node, features);
  inner_->features(now, node, features);
}

void Watch::refuse(Minute now, const std::string& job, const std::string& node) {
  arrive(now);
  rich_.refuse(job, node);
  inner_->refuse(now, job, node);
}

std::optional<Start> Watch::swap(Minute now, const std::string& job, const std::string& lost) {
  arrive(now);
  const Beliefs before = inner_->beliefs(now);
  auto swapped = inner_->swap(now, job, lost);
  rich_.swapped(mirror_, before, job, lost, swapped);
  if (!swapped) return swapped;
  mirror_.swap(job, swapped->shares);
  trace_ += std::to_string(now) + " swap " + job + "\n";
  return swapped;
}

void Watch::end_reservations(Minute now) {
  arrive(now);
  inner_->end_reservations(now);
}

std::vector<Decision> Watch::begin_reservations(Minute now) {
  arrive(now);
  auto decisions = inner_->begin_reservations(now);
  for (const Decision& decision : decisions) {
    note(decision);
    const auto* told = std::get_if<Signal>(&decision);
    if (told == nullptr) continue;
    ledger_.expect("R4", mirror_.job(told->job).spec.preemptible,
                   "minute " + std::to_string(now) + ": " + told->job +
                       " leaves for a reservation though not preemptible");
    mirror_.signal(told->job);
  }
  return decisions;
}

std::vector<Decision> Watch::pass(Minute now) {
  arrive(now);
  auto decisions = inner_->pass(now);
  const Beliefs after = inner_->beliefs(now);
  review(decisions, after);
  mirror_.claims(after);
  if (decisions.empty()) {
    rest(after);
    before_ = after;
  }
  return decisions;
}

std::optional<Minute> Watch::next_wake(Minute now) { return inner_->next_wake(now); }

Beliefs Watch::beliefs(Minute now) {
  arrive(now);
  return inner_->beliefs(now);
}

Moment Watch::moment(const Beliefs& after) const {
  return {.kind = kind_,
          .mirror = mirror_,
          .before = before_,
          .after = after,
          .ledger = ledger_,
          .when = "minute " + std::to_string(mirror_.now())};
}

/// Who may have caused the signals at `from`: whoever has a new claim after the pass, or the job
/// that starts right behind them.
std::set<std::string> Watch::new_claimants(const std::vector<Decision>& decisions, std::size_t from,
                                           const Beliefs& after) const {
  std::set<std::string> found;
  for (const Track& job : mirror_.jobs()) {
    const auto reason = after.reasons.find(job.spec.id);
    const bool claims = job.stage == Stage::kWaiting && !job.claims &&
                        reason != after.reasons.end() && reason->second == "Preempting";
    if (claims) found.insert(job.spec.id);
  }
  while (from < decisions.size() && std::holds_alternative<Signal>(decisions[from])) ++from;
  if (from < decisions.size()) found.insert(std::get<Start>(decisions[from]).job);
  return found;
}

void Watch::review(const std::vector<Decision>& decisions, const Beliefs& after) {
  Moment at = moment(after);
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    note(decisions[i]);
    if (const auto* start = std::get_if<Start>(&decisions[i])) {
      check_start(at, *start);
      if (kind_ == Kind::kRich) rich_.started(mirror_, after, *start, at.signalled);
      check_claims(*start);
      check_bound(start->job);
      const Track& job = mirror_.job(start->job);
      const std::size_t top = top_of(mirror_, job);
      const bool within = mirror_.within(top, mirror_.charge(job, mirror_.largest(job)));
      at.borrower_began = at.borrower_began || (!job.claims && !within);
      mirror_.start(*start);
      for (const Share& share : start->shares) began_[share.node] = mirror_.now();
      continue;
    }
    if (i > 0 && std::holds_alternative<Signal>(decisions[i - 1])) continue;
    std::vector<std::string> victims;
    for (std::size_t k = i; k < decisions.size(); ++k) {
      const auto* told = std::get_if<Signal>(&decisions[k]);
      if (told == nullptr) break;
      victims.push_back(told->job);
    }
    at.claimants = new_claimants(decisions, i, after);
    if (kind_ != Kind::kReserved && kind_ != Kind::kRich) check_victims(at, victims);
    for (const std::string& victim : victims) mirror_.signal(victim);
    at.signalled = true;
    at.borrower_began = false;
  }
}

/// Rule A1: on the nodes of a claim nobody starts between signal and start. Whole-node jobs only.
void Watch::check_claims(const Start& start) {
  const Track& job = mirror_.job(start.job);
  if (!job.claims || (!is_plain(kind_) && kind_ != Kind::kOneTeam)) return;
  for (const Share& share : start.shares) {
    const auto last = began_.find(share.node);
    ledger_.expect("A1", last == began_.end() || last->second <= job.claims_since,
                   "minute " + std::to_string(mirror_.now()) + ": " + share.node +
                       " was used while " + start.job + " had a claim on it");
  }
}

/// Rule I3: it starts within minimum run time and grace, counted from when it was the head of its
/// team and within its guarantee.
void Watch::check_bound(const std::string& job) {
  const auto since = owed_since_.find(job);
  if (since == owed_since_.end() || stream_.policy.reservations_per_team == 0) return;
  const Minute bound = stream_.policy.protect_reclaim + 2 * stream_.policy.grace;
  ledger_.expect("I3", mirror_.now() - since->second <= bound,
                 "minute " + std::to_string(mirror_.now()) + ": " + job +
                     " waits for its guarantee since " + std::to_string(since->second));
}

void Watch::rest(const Beliefs& after) {
  check_rest(moment(after));
  if (kind_ == Kind::kOneTeam) check_promises(after);
  if (is_plain(kind_)) check_guarantees();
  if (kind_ == Kind::kReserved) check_reservations(after);
  if (kind_ == Kind::kRich) rich_.rest(mirror_, after);
}

/// Rule B3 with one team, user and priority: the head of the line starts by its first planned
/// start.
void Watch::check_promises(const Beliefs& after) {
  const Track* head = nullptr;
  for (const Track& job : mirror_.jobs()) {
    if (job.stage != Stage::kWaiting) continue;
    if (head == nullptr || mirror_.precedes(job, *head)) head = &job;
  }
  for (const auto& [id, at] : promised_) {
    ledger_.expect("B3", mirror_.now() <= at || mirror_.job(id).stage != Stage::kWaiting,
                   id + " did not start at its planned start, minute " + std::to_string(at));
  }
  if (head == nullptr) return;
  const auto planned = after.planned.find(head->spec.id);
  if (planned != after.planned.end()) promised_.emplace(head->spec.id, planned->second);
}

/// Rule O4 among equal priorities: of one user by number; of two it depends on what they used.
bool may_precede(const Track& other, const Track& job) {
  return other.spec.user != job.spec.user || other.number < job.number;
}

/// Rule I3: who is the head of its team and within its whole path, and since when.
void Watch::check_guarantees() {
  std::map<std::string, Minute> owed;
  for (const Track& job : mirror_.jobs()) {
    if (job.stage != Stage::kWaiting) continue;
    const bool first = std::ranges::none_of(mirror_.jobs(), [&](const Track& other) {
      return other.stage == Stage::kWaiting && other.number != job.number &&
             top_of(mirror_, other) == top_of(mirror_, job) &&
             (other.spec.priority > job.spec.priority ||
              (other.spec.priority == job.spec.priority && may_precede(other, job)));
    });
    // A claim is use already: it has been within when it was made.
    const std::int64_t charge = job.claims ? 0 : mirror_.charge(job, mirror_.largest(job));
    if (!first || !mirror_.within_path(job, charge)) continue;
    const auto since = owed_since_.find(job.spec.id);
    owed[job.spec.id] = since == owed_since_.end() ? mirror_.now() : since->second;
    check_bound(job.spec.id);
  }
  owed_since_ = owed;
}

/// Rules R1, R5: no node is in two reservations at one time.
void Watch::check_reservations(const Beliefs& after) {
  std::map<std::string, const Reservation*> made;
  for (const Event& event : stream_.timeline) {
    if (const auto* one = std::get_if<Reserve>(&event.fact)) {
      made[one->reservation.name] = &one->reservation;
    }
  }
  for (const auto& [a, nodes_a] : after.reservations) {
    for (const auto& [b, nodes_b] : after.reservations) {
      if (a >= b || made[a]->end <= made[b]->start || made[b]->end <= made[a]->start) continue;
      const bool apart = std::ranges::none_of(nodes_a, [&](const std::string& node) {
        return std::ranges::find(nodes_b, node) != nodes_b.end();
      });
      ledger_.expect(
          "R1", apart,
          "minute " + std::to_string(mirror_.now()) + ": " + a + " and " + b + " share a node");
    }
    const auto count = made[a]->count;
    if (!count) continue;
    ledger_.expect(
        "R5",
        static_cast<std::int64_t>(nodes_a.size()) <= *count && std::ranges::is_sorted(nodes_a),
        a + " has too many nodes");
  }
}

void Watch::note(const Decision& decision) {
  if (std::holds_alternative<scenario::GiveUp>(decision)) return;  // the player reports it
  trace_ += std::to_string(mirror_.now());
  if (const auto* told = std::get_if<Signal>(&decision)) {
    trace_ += " signal " + told->job + "\n";
    return;
  }
  const auto& start = std::get<Start>(decision);
  auto shares = start.shares;
  std::ranges::sort(shares);
  trace_ += " start " + start.job;
  for (const Share& share : shares) trace_ += " " + share.node + ":" + std::to_string(share.gpus);
  trace_ += "\n";
}

}  // namespace artel::rules
