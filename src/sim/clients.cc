#include "sim/clients.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "sim/site.h"

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
  JobSpec spec{.name = fmt::format("job{}", index),
               .owner = {.uid = 1000, .gid = 1000, .user = "u1"}};
  ComponentSpec part;
  part.nodes = static_cast<std::uint32_t>(random_.between(1, options_.nodes));
  if (random_.chance(300)) {
    part.per_node = {.whole_node = false, .gpus = GpuMilli{random_.between(1, 8) * 1000}};
  }
  spec.components.push_back(part);
  spec.priority = -static_cast<std::int32_t>(random_.between(0, 3));
  const bool is_long = random_.chance(options_.long_jobs);
  const std::uint64_t runtime =
      is_long ? random_.between(50'000, 250'000) : random_.between(10, 20'000);
  spec.argv = {"run", std::to_string(runtime), random_.chance(150) ? "3" : "0"};
  if (!is_long && random_.chance(500)) spec.time_limit = random_.delay(5'000, 60'000);
  spec.grace = std::chrono::seconds{5};
  spec.working_directory = "/";
  spec.output = "out";
  spec.client_token = fmt::format("token-{}", index);
  choose_line(spec, random_);
  orders_.push_back({.spec = std::move(spec), .acknowledged = std::nullopt});
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
  const auto job = orders_[index].acknowledged;
  if (!job) return;
  const RequestId request = ask({.what = kCancelled, .job = *job, .node = {}});
  controller_.step([&](ctld::Controller& core, Time now) {
    core.cancel(request, {.owner = orders_[index].spec.owner}, {*job}, "", now);
  });
}

void Clients::hold_or_release() {
  const Order& order = orders_[random_.between(0, orders_.size() - 1)];
  if (!order.acknowledged) return;
  const JobId job = *order.acknowledged;
  const ctld::Caller owner{.owner = order.spec.owner};
  const bool holds = random_.chance(600);
  if (!holds) take_back(kHeld, job, {});
  const RequestId request = holds ? ask({.what = kHeld, .job = job, .node = {}}) : next_request();
  controller_.step([&](ctld::Controller& core, Time now) {
    if (holds) return core.hold(request, owner, {job}, "", now);
    core.release(request, owner, {job}, now);
  });
}

void Clients::release_all() {
  std::vector<JobId> jobs;
  for (const auto& [id, job] : controller_.store().jobs()) {
    take_back(kHeld, id, {});
    jobs.push_back(id);
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
  std::vector<JobId> held;
  for (const auto& [id, job] : controller_.store().jobs()) {
    if (job.cause.code != CauseCode::kRetriesSpent) continue;
    take_back(kHeld, id, {});
    held.push_back(id);
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
  const auto [owner, is_new] = owners_.emplace(id, index);
  if (!is_new && owner->second != index) {
    truth_.report(fmt::format("S1: id {} was given to two submissions", id.value));
  }
  order.acknowledged = id;
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

void Clients::check_end() const {
  const auto& jobs = controller_.store().jobs();
  for (const Order& order : orders_) {
    if (!order.acknowledged) {
      truth_.report("a submission was never acknowledged");
      continue;
    }
    const auto it = jobs.find(*order.acknowledged);
    if (it == jobs.end()) {
      truth_.report(fmt::format("S1: acknowledged job {} is lost", order.acknowledged->value));
    } else if (!is_final(it->second.state)) {
      truth_.report(fmt::format("job {} never ended: {} ({})", it->first.value,
                                job_state_name(it->second.state), describe(it->second.wait)));
    }
  }
  if (jobs.size() != orders_.size()) {
    truth_.report(fmt::format("S1: {} submissions made {} jobs", orders_.size(), jobs.size()));
  }
}

std::uint64_t Clients::acknowledged() const {
  std::uint64_t count = 0;
  for (const Order& order : orders_) count += order.acknowledged ? 1 : 0;
  return count;
}

}  // namespace artel::sim
