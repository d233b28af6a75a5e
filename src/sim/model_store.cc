#include "sim/model_store.h"

#include <memory>
#include <variant>

namespace artel::sim {
namespace {

template <typename... Handlers>
struct Overload : Handlers... {
  using Handlers::operator()...;
};

}  // namespace

Result<ctld::StoredState> ModelStore::load() {
  incarnation_.value += 1;
  ctld::StoredState out{.incarnation = incarnation_,
                        .last_job = jobs_.empty() ? JobId{} : jobs_.rbegin()->first,
                        .jobs = {},
                        .nodes = {},
                        .tokens = {}};
  for (const auto& [id, job] : jobs_) {
    if (!job.spec->client_token.empty()) {
      out.tokens.push_back({job.spec->owner.uid, job.spec->client_token, id, job.submitted_at});
    }
    if (is_final(job.state)) continue;
    Job copy = job;
    const auto it = attempts_.find({id, TaskIndex{0}, job.last_attempt});
    if (it != attempts_.end()) copy.attempt = std::make_shared<const Attempt>(it->second);
    out.jobs.push_back(std::move(copy));
  }
  for (const auto& [name, row] : nodes_) out.nodes.push_back(row);
  return out;
}

Result<> ModelStore::commit(const std::vector<ctld::StoreWrite>& rows) {
  for (const ctld::StoreWrite& row : rows) {
    std::visit(Overload{[&](const ctld::JobRow& r) { jobs_[r.job.id] = r.job; },
                        [&](const ctld::AttemptRow& r) { attempts_[r.attempt.key] = r.attempt; },
                        [&](const ctld::NodeRow& r) { nodes_[r.name] = r; },
                        [&](const ctld::EventRow&) {}},
               row);
  }
  return {};
}

}  // namespace artel::sim
