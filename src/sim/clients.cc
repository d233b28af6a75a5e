#include "sim/clients.h"

#include <fmt/format.h>

#include "base/text.h"
#include "sim/site.h"

namespace artel::sim {
namespace {

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
  // Some run for longer than a node may be silent before it is given up.
  const bool is_long = random_.chance(150);
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
  controller_.step([&](ctld::Controller& core, Time now) {
    core.cancel(next_request(), {.owner = orders_[index].spec.owner}, {*job}, "", now);
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
  controller_.step([&](ctld::Controller& core, Time now) {
    core.drain(next_request(), operator_of_site(), {node}, order, now);
  });
}

void Clients::resume(const std::vector<std::string>& nodes) {
  controller_.step([&](ctld::Controller& core, Time now) {
    core.resume(next_request(), operator_of_site(), nodes, now);
  });
}

void Clients::answered(const ctld::Reply& reply) {
  const auto it = requests_.find(reply.request);
  if (it == requests_.end()) return;
  if (!reply.body)
    return truth_.report("a good submission was refused: " + reply.body.error().text);
  const auto* submitted = std::get_if<ctld::Submitted>(&*reply.body);
  if (submitted == nullptr) return;
  const JobId id = submitted->jobs.at(0);
  Order& order = orders_[it->second];
  if (order.acknowledged && *order.acknowledged != id) {
    truth_.report(fmt::format("S1: a repeated submission got jobs {} and {}",
                              order.acknowledged->value, id.value));
  }
  const auto [owner, is_new] = owners_.emplace(id, it->second);
  if (!is_new && owner->second != it->second) {
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
