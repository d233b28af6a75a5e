#include "sim/clients.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace artel::sim {
namespace {

constexpr std::string_view kCancelled = "cancelled";
constexpr std::string_view kHeld = "held";
constexpr std::string_view kDrained = "drained";

ctld::Caller operator_of_site() { return {.owner = {.user = "op"}, .is_operator = true}; }

}  // namespace

void Clients::plan() {
  for (std::uint32_t i = 0; i < options_.jobs; ++i) plan_order(i);
}

void Clients::plan_order(std::uint32_t index) {
  orders_.push_back({.spec = any_job(index, options_, random_), .acknowledged = {}});
  const auto most = static_cast<std::uint64_t>(options_.trouble_for.count()) * 8 / 10;
  events_.after(random_.delay(0, most), [this, index] { submit(index); });
  if (random_.chance(200)) {
    events_.after(random_.delay(most / 10, most), [this, index] { cancel(index); });
  }
  if (random_.chance(150)) {
    events_.after(random_.delay(most / 10, most), [this, index] { requeue(index); });
  }
}

void Clients::submit(std::size_t index) {
  const Order& order = orders_[index];
  // Some clients lose the first answer and ask again although they were heard.
  if (order.acknowledged && !random_.chance(100)) return;
  const RequestId request = next_request();
  requests_[request] = index;
  JobSpec spec = order.spec;
  if (options_.mutation == Mutation::kIgnoreTokens)
    spec.client_token += std::to_string(request.value);
  controller_.step([&](ctld::Controller& core, Time now) {
    core.submit(request, {.owner = spec.owner}, {spec}, now);
  });
  events_.after(random_.delay(500, 5000), [this, index] { submit(index); });
  on_submit();
}

void Clients::cancel(std::size_t index) {
  Order& order = orders_[index];
  if (!order.acknowledged) return;
  order.cancelled = true;
  const ctld::JobTarget target = any_part(order, random_);
  const RequestId request = ask({.what = kCancelled, .job = *order.acknowledged, .node = {}});
  controller_.step([&](ctld::Controller& core, Time now) {
    core.cancel(request, {.owner = order.spec.owner}, {target}, "", now);
  });
}

void Clients::hold_or_release() {
  const Order& order = orders_[random_.between(0, orders_.size() - 1)];
  if (!order.acknowledged) return;
  const JobId job = *order.acknowledged;
  const ctld::Caller owner{.owner = order.spec.owner};
  const bool holds = random_.chance(600);
  const ctld::JobTarget target = holds ? any_part(order, random_) : ctld::JobTarget(job);
  if (!holds) take_back(kHeld, job, {});
  const RequestId request = holds ? ask({.what = kHeld, .job = job, .node = {}}) : next_request();
  controller_.step([&](ctld::Controller& core, Time now) {
    if (holds) return core.hold(request, owner, {target}, "", now);
    core.release(request, owner, {target}, now);
  });
}

void Clients::release_all() {
  std::vector<ctld::JobTarget> jobs;
  for (const auto& [id, job] : controller_.store().jobs()) {
    take_back(kHeld, id, {});
    jobs.emplace_back(id);
  }
  controller_.step([&](ctld::Controller& core, Time now) {
    core.release(next_request(), operator_of_site(), jobs, now);
  });
}

void Clients::requeue(std::size_t index) {
  const auto job = orders_[index].acknowledged;
  if (!job) return;
  controller_.step([&](ctld::Controller& core, Time now) {
    core.requeue(next_request(), {.owner = orders_[index].spec.owner}, {*job}, "", now);
  });
}

void Clients::release_held() {
  std::vector<ctld::JobTarget> held;
  for (const auto& [id, job] : controller_.store().jobs()) {
    if (job.cause.code != CauseCode::kRetriesSpent) continue;
    take_back(kHeld, id, {});
    held.emplace_back(id);
  }
  if (held.empty()) return;
  controller_.step([&](ctld::Controller& core, Time now) {
    core.release(next_request(), operator_of_site(), held, now);
  });
}

void Clients::cancel_some(std::uint64_t per_mille) {
  for (std::size_t i = 0; i < orders_.size(); ++i) {
    if (random_.chance(per_mille)) cancel(i);
  }
}

void Clients::drain_or_resume(const std::string& node) {
  const bool resumes = random_.chance(600);
  const ctld::DrainOrder order{.reason = "trial", .until_reboot = random_.chance(300)};
  if (resumes) return resume({node});
  const RequestId request =
      order.until_reboot ? next_request() : ask({.what = kDrained, .job = {}, .node = node});
  controller_.step([&](ctld::Controller& core, Time now) {
    core.drain(request, operator_of_site(), {node}, order, now);
  });
}

void Clients::resume(const std::vector<std::string>& nodes) {
  for (const std::string& node : nodes) take_back(kDrained, {}, node);
  controller_.step([&](ctld::Controller& core, Time now) {
    core.resume(next_request(), operator_of_site(), nodes, now);
  });
}

void Clients::answered(const ctld::Reply& reply) {
  if (const auto it = requests_.find(reply.request); it != requests_.end()) {
    if (!reply.body)
      return truth_.report("a good submission was refused: " + reply.body.error().text);
    return submitted(it->second, std::get<ctld::Submitted>(*reply.body).jobs.at(0));
  }
  const auto asked = asked_.extract(reply.request);
  if (!asked || !reply.body) return;
  const auto* jobs = std::get_if<ctld::JobOutcomes>(&*reply.body);
  const auto* nodes = std::get_if<ctld::NodeOutcomes>(&*reply.body);
  const bool is_promised =
      (jobs != nullptr && jobs->front().result) || (nodes != nullptr && nodes->front().result);
  if (is_promised) keep(asked.mapped());
}

RequestId Clients::ask(Promise promise) {
  const RequestId request = next_request();
  asked_.emplace(request, std::move(promise));
  return request;
}

void Clients::keep(const Promise& promise) {
  if (promise.what == kDrained) {
    drained_[promise.node] = attempts_on(promise.node);
    return;
  }
  auto& still = still_[promise.job];
  if (still.first == kCancelled) return;
  still = {promise.what, controller_.store().jobs().at(promise.job).last_attempt};
}

void Clients::take_back(std::string_view what, JobId job, const std::string& node) {
  std::erase_if(asked_, [&](const auto& asked) {
    const Promise& promise = asked.second;
    return promise.what == what && promise.job == job && promise.node == node;
  });
  drained_.erase(node);
  const auto still = still_.find(job);
  if (still != still_.end() && still->second.first == what) still_.erase(still);
}

std::set<AttemptKey> Clients::attempts_on(const std::string& node) const {
  std::set<AttemptKey> keys;
  for (const auto& [key, attempt] : controller_.store().attempts()) {
    const bool is_there = std::ranges::any_of(attempt.parts, [&](const NodePart& part) {
      return controller_.name_of(part.share.node) == node;
    });
    if (is_there) keys.insert(key);
  }
  return keys;
}

void Clients::prepared(const LaunchSpec& spec) {
  const std::string& node = spec.nodes[spec.node_index];
  const auto drained = drained_.find(node);
  if (drained != drained_.end() && !drained->second.contains(spec.key)) {
    truth_.report(
        fmt::format("S1: {} was put on {}, which was drained", format_key(spec.key), node));
  }
  const auto still = still_.find(spec.key.job);
  if (still != still_.end() && spec.key.attempt > still->second.second) {
    truth_.report(fmt::format("S1: {} was put on {}, but its job was {}", format_key(spec.key),
                              node, still->second.first));
  }
}

void Clients::submitted(std::size_t index, JobId id) {
  Order& order = orders_[index];
  if (order.acknowledged && *order.acknowledged != id) {
    truth_.report(fmt::format("S1: a repeated submission got jobs {} and {}",
                              order.acknowledged->value, id.value));
  }
  order.acknowledged = id;
  const auto [first, last] = numbers(order);
  for (JobId one = first; one <= last; ++one.value) {
    const auto [owner, is_new] = owners_.emplace(one, index);
    if (!is_new && owner->second != index)
      truth_.report(fmt::format("S1: id {} was given to two submissions", one.value));
  }
  hash_ = (hash_ ^ id.value) * 0x100000001b3;
}

bool Clients::all_final() const {
  for (const Order& order : orders_) {
    if (!order.acknowledged) return false;
    const auto it = controller_.store().jobs().find(*order.acknowledged);
    if (it == controller_.store().jobs().end() || !is_final(it->second.state)) return false;
  }
  return true;
}

void Clients::check_end() const { check_orders(orders_, controller_.store(), truth_); }

std::uint64_t Clients::acknowledged() const {
  std::uint64_t count = 0;
  for (const Order& order : orders_) count += order.acknowledged ? 1 : 0;
  return count;
}

}  // namespace artel::sim
