#include "sim/model_store.h"

#include <algorithm>
#include <memory>
#include <variant>

namespace artel::sim {
namespace {

constexpr double kMilli = 1000;

template <typename... Handlers>
struct Overload : Handlers... {
  using Handlers::operator()...;
};

}  // namespace

Result<ctld::StoredState> ModelStore::load() {
  incarnation_.value += 1;
  ctld::StoredState out{.incarnation = incarnation_,
                        .last_job = last_job_,
                        .jobs = {},
                        .nodes = {},
                        .tokens = {},
                        .latest = latest_};
  for (const auto& [id, job] : jobs_) {
    if (!job.spec->client_token.empty() && !job.task) {
      out.tokens.push_back({job.spec->owner.uid, job.spec->client_token, id, job.submitted_at});
    }
    if (is_final(job.state)) continue;
    Job copy = job;
    const TaskIndex task = job.task ? job.task->index : TaskIndex{0};
    const auto it = attempts_.find({id, task, job.last_attempt});
    if (it != attempts_.end()) copy.attempt = std::make_shared<const Attempt>(it->second);
    if (job.tasks) {
      ArrayTasks tasks = *job.tasks;
      tasks.ended.clear();
      if (const auto ended = ended_.find(id); ended != ended_.end()) tasks.ended = ended->second;
      copy.tasks = std::make_shared<const ArrayTasks>(std::move(tasks));
    }
    out.jobs.push_back(std::move(copy));
  }
  for (const auto& [name, row] : nodes_) out.nodes.push_back(row);
  for (const auto& [key, row] : past_) out.past.push_back(row);
  for (const auto& [job, claim] : claims_) out.claims.push_back(claim);
  for (const auto& [key, attempt] : attempts_) {
    if (!attempt.ended_at) continue;
    double gpus = 0;
    for (const NodePart& part : attempt.parts) gpus += static_cast<double>(part.share.gpus.size());
    const auto held = static_cast<double>((*attempt.ended_at - attempt.allocated_at).count());
    out.used_gpu_ms[jobs_.at(key.job).spec->team] += gpus * kMilli * held;
  }
  return out;
}

void ModelStore::write(const Job& job) {
  const std::uint64_t tasks = job.tasks ? job.spec->array->indexes.size() : 0;
  last_job_ = std::max(last_job_, JobId{job.id.value + tasks});
  jobs_[job.id] = job;
}

Result<> ModelStore::commit(const std::vector<ctld::StoreWrite>& rows) {
  for (const ctld::StoreWrite& row : rows) {
    std::visit(Overload{[&](const ctld::JobRow& r) { write(r.job); },
                        [&](const ctld::AttemptRow& r) { attempts_[r.attempt.key] = r.attempt; },
                        [&](const ctld::NodeRow& r) { nodes_[r.name] = r; },
                        [&](const ctld::EventRow& r) { latest_ = std::max(latest_, r.at); },
                        [&](const ctld::EndedTasksRow& r) {
                          auto& ended = ended_[r.array];
                          ended.resize(std::max<std::size_t>(ended.size(), r.number + 1));
                          ended[r.number] = r.ended;
                        },
                        [&](const ctld::PastRow& r) { past_[{r.of, r.name}] = r; },
                        [&](const ctld::ClaimRow& r) {
                          claims_.erase(r.claim.job);
                          if (!r.claim.shares.empty()) claims_.emplace(r.claim.job, r.claim);
                        }},
               row);
  }
  return {};
}

}  // namespace artel::sim
