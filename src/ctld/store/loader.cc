#include "ctld/store/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/hostlist.h"
#include "ctld/store/arrays.h"
#include "ctld/store/attempts.h"
#include "ctld/store/rows.h"
#include "ctld/store/schema.h"

namespace artel::ctld {
namespace {

const Drain kUnreadDrain{.source = DrainSource::kRecord,
                         .reason_class = ReasonClass::kSoftware,
                         .who = "artel-ctld",
                         .text = "its record in the store cannot be read",
                         .since = {}};

/// SQLite found a damaged page, as opposed to a disk that cannot be read.
bool is_damage(const sql::Database& database) {
  constexpr int kPrimary = 0xff;
  return (sqlite3_extended_errcode(database.handle()) & kPrimary) == SQLITE_CORRUPT;
}

/// "a,b"
std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

}  // namespace

Result<StoredState> Loader::load(Duration token_memory, bool count_used) {
  StoredState state;
  auto last = database_.number(kLastJob);
  if (!last) return fail(last);
  state.last_job = JobId{static_cast<std::uint64_t>(*last)};
  if (auto done = load_lost(state); !done) return fail(done);
  if (auto done = tolerate(load_latest(state), "event", "the time of the last event",
                           "the clock is believed as it is");
      !done)
    return fail(done);
  if (auto done = load_jobs(state); !done) return fail(done);
  if (auto done = load_nodes(state); !done) return fail(done);
  if (auto done = tolerate(load_past(state), "past", "use above guarantees",
                           "what could not be read counts as nothing and orders no borrower");
      !done)
    return fail(done);
  if (auto done = tolerate(load_claims(state), "claim", "nodes that are freed for jobs",
                           "those that could not be read are planned again");
      !done)
    return fail(done);
  if (count_used)
    if (auto done = load_used(state); !done) return fail(done);
  if (count_used)
    if (auto done = add_removed_use(state); !done) return fail(done);
  if (auto done = load_tokens(state, token_memory); !done) return fail(done);
  if (!missing_nodes_.empty())
    return fail(ErrorCode::kConfig,
                fmt::format("{} held by jobs that have not ended (attempt {}, for one), but not "
                            "configured; put them back under cluster.d, let or make the jobs end, "
                            "then take the nodes out",
                            fold_hosts(missing_nodes_), missing_example_));
  return state;
}

Result<> Loader::load_lost(StoredState& state) {
  auto first = database_.number("SELECT value FROM counter WHERE name = 'lost_first'");
  if (!first) return fail(first);
  auto last = database_.number("SELECT value FROM counter WHERE name = 'lost_last'");
  if (!last) return fail(last);
  if (*last == 0) return {};
  state.lost_first = JobId{static_cast<std::uint64_t>(*first)};
  state.lost_last = JobId{static_cast<std::uint64_t>(*last)};
  set_aside_.push_back({"job", fmt::format("{}-{}", *first, *last),
                        "numbers that may have been given out after the backup that was restored; "
                        "these jobs are not known, what runs of them on nodes is left alone"});
  return {};
}

Result<> Loader::load_latest(StoredState& state) {
  const auto at =
      database_.number("SELECT coalesce((SELECT at_ms FROM event ORDER BY id DESC LIMIT 1), 0)");
  if (!at) return fail(at);
  state.latest = time_from_ms(*at);
  return {};
}

Result<> Loader::load_jobs(StoredState& state) {
  const auto ids = live_ids();
  if (!ids) return fail(ids);
  // One by one, so that a damaged page costs the jobs on it and no others.
  for (const JobId id : *ids) {
    Job job;
    const auto loaded = load_job(id, job);
    if (!loaded && !is_damage(database_)) return fail(loaded);
    if (loaded && *loaded) {
      state.jobs.push_back(std::move(job));
      continue;
    }
    state.unreadable.push_back(id);
    if (!loaded) set_aside_.push_back({"job", std::to_string(id.value), loaded.error().text});
  }
  return {};
}

Result<std::vector<JobId>> Loader::live_ids() {
  auto ids = ids_by("SELECT id FROM job WHERE final = 0 ORDER BY id");
  if (ids || !is_damage(database_)) return ids;
  set_aside_.push_back({"index", "job_active",
                        ids.error().text + "; the jobs were looked for in their table instead"});
  return ids_by("SELECT id FROM job NOT INDEXED WHERE final = 0 ORDER BY id");
}

Result<std::vector<JobId>> Loader::ids_by(std::string_view query) {
  std::vector<JobId> ids;
  auto statement = database_.prepare(query);
  if (!statement) return fail(statement);
  auto done = for_each_row(*statement, [&](Fields& fields) {
    ids.emplace_back(static_cast<std::uint64_t>(fields.integer()));
  });
  if (!done) return fail(done);
  return ids;
}

Result<bool> Loader::load_job(JobId id, Job& job) {
  std::vector<std::string> excluded;
  std::string complaint;
  {
    auto query = database_.prepare(ARTEL_SELECT_JOB "id = ?");
    if (!query) return fail(query);
    const auto row = query->bind(static_cast<std::int64_t>(id.value)).step();
    if (!row) return fail(row);
    if (!*row) {
      set_aside_.push_back(
          {"job", std::to_string(id.value), "it is in an index, but not in its table"});
      return false;
    }
    complaint = read_whole_job(*query, job, excluded);
  }
  for (const std::string& name : excluded)
    if (const auto node = nodes_.find(name); node != nodes_.end())
      job.excluded.push_back(node->second);
  if (complaint.empty() && is_array(job)) {
    auto tasks = read_array(database_, job);
    if (!tasks) return fail(tasks);
    complaint = std::move(*tasks);
  }
  if (complaint.empty()) {
    auto attempt = load_attempt(job);
    if (!attempt) return fail(attempt);
    complaint = std::move(*attempt);
  }
  if (complaint.empty()) return true;
  set_aside_.push_back({"job", std::to_string(id.value), complaint});
  return false;
}

Result<std::string> Loader::load_attempt(Job& job) {
  if (job.last_attempt.value == 0) return std::string{};
  auto stored = read_attempts(database_, job.id, job.last_attempt);
  if (!stored) return fail(stored);
  if (!stored->complaint.empty()) return stored->complaint;
  if (stored->attempts.empty() || stored->attempts.front().attempt.parts.empty()) {
    if (!is_placed(job.state)) return std::string{};
    return fmt::format("attempt {} or its nodes are missing", job.last_attempt.value);
  }
  auto& [attempt, names] = stored->attempts.front();
  if (map_nodes(attempt, names, is_placed(job.state) || !attempt.ended_at))
    job.attempt = std::make_shared<const Attempt>(std::move(attempt));
  return std::string{};
}

bool Loader::map_nodes(Attempt& attempt, const std::vector<std::string>& names, bool is_open) {
  bool all_known = true;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (const auto node = nodes_.find(names[i]); node != nodes_.end()) {
      attempt.parts[i].share.node = node->second;
      continue;
    }
    all_known = false;
    if (!is_open) continue;
    missing_nodes_.push_back(names[i]);
    missing_example_ = format_key(attempt.key);
  }
  return all_known;
}

Result<> Loader::load_nodes(StoredState& state) {
  Result<> done;
  {
    auto query =
        database_.prepare("SELECT name, boot_id, probe_port, peers FROM node ORDER BY name");
    if (!query) return fail(query);
    done = for_each_row(*query, [&](Fields& fields) {
      const std::string name = fields.text();
      NodeRow& node = node_row(state, name);
      node.boot_id = fields.text();
      node.probe_port = fields.number<std::uint16_t>("probe_port");
      node.peers = words(fields.text());
      if (!fields.complaint().empty()) set_aside_.push_back({"node", name, fields.complaint()});
    });
  }
  done = tolerate(done, "node", "boot ids", "a reboot may not be seen as one");
  if (!done) return done;
  done = load_drains(state);
  if (!done) {
    if (!is_damage(database_)) return done;
    set_aside_.push_back({"node", "", done.error().text + "; nodes without a record are drained"});
    drain_unread(state);
  }
  return tolerate(load_strikes(state), "node", "strikes", "they count from now on");
}

NodeRow& Loader::node_row(StoredState& state, const std::string& name) {
  const auto place = std::ranges::lower_bound(state.nodes, name, {}, &NodeRow::name);
  if (place != state.nodes.end() && place->name == name) return *place;
  NodeRow row;
  row.name = name;
  return *state.nodes.insert(place, std::move(row));
}

Result<> Loader::load_drains(StoredState& state) {
  auto query = database_.prepare(
      "SELECT node, source, reason_class, who, text, since_ms FROM node_drain ORDER BY node, "
      "source");
  if (!query) return fail(query);
  return for_each_row(*query, [&](Fields& fields) { read_drain(fields, state); });
}

// What kept a node out of service and is not known keeps it out until somebody looks.
void Loader::read_drain(Fields& fields, StoredState& state) {
  NodeRow& node = node_row(state, fields.text());
  Drain drain;
  drain.source = fields.word<DrainSource>("source");
  drain.reason_class = fields.word<ReasonClass>("reason_class");
  drain.who = fields.text();
  drain.text = fields.text();
  drain.since = fields.time();
  if (!fields.complaint().empty()) {
    set_aside_.push_back({"node", node.name, fields.complaint()});
    drain = kUnreadDrain;
  }
  if (node.drains.empty() || node.drains.back().source < drain.source)
    node.drains.push_back(std::move(drain));
}

void Loader::drain_unread(StoredState& state) {
  for (const auto& [name, id] : nodes_) {
    NodeRow& node = node_row(state, name);
    if (node.drains.empty()) node.drains.push_back(kUnreadDrain);
  }
}

Result<> Loader::load_strikes(StoredState& state) {
  auto query = database_.prepare("SELECT node, job, at_ms FROM node_strike ORDER BY node, at_ms");
  if (!query) return fail(query);
  return for_each_row(*query, [&](Fields& fields) {
    NodeRow& node = node_row(state, fields.text());
    const JobId job{fields.number<std::uint64_t>("job")};
    const Time at = fields.time();
    if (fields.complaint().empty()) {
      node.strikes.push_back({job, at});
    } else {
      set_aside_.push_back({"node", node.name, fields.complaint()});
    }
  });
}

Result<> Loader::tolerate(Result<> done, std::string_view kind, std::string_view name,
                          std::string_view meaning) {
  if (done || !is_damage(database_)) return done;
  set_aside_.push_back(
      {std::string(kind), std::string(name), fmt::format("{}; {}", done.error().text, meaning)});
  return {};
}

Result<> Loader::load_past(StoredState& state) {
  auto query = database_.prepare("SELECT kind, name, past, at_ms FROM past ORDER BY kind, name");
  if (!query) return fail(query);
  return for_each_row(*query, [&](Fields& fields) {
    PastRow past;
    past.of = fields.integer() == 0 ? PastRow::Of::kQuota : PastRow::Of::kUser;
    past.name = fields.text();
    past.past = fields.real();
    past.at = fields.time();
    // A number that cannot be is as good as none: it only orders borrowers.
    if (past.past >= 0 && past.past <= 1e6) state.past.push_back(std::move(past));
  });
}

Result<> Loader::load_claims(StoredState& state) {
  auto query = database_.prepare(
      "SELECT claim.job, node, number, gpus_milli, cores, memory_bytes, devices FROM claim "
      "JOIN job ON job.id = claim.job WHERE final = 0 ORDER BY claim.job, node");
  if (!query) return fail(query);
  std::optional<JobId> lost;
  return for_each_row(*query, [&](Fields& fields) {
    const JobId job{fields.number<std::uint64_t>("job")};
    const auto node = nodes_.find(fields.text());
    const auto number = fields.number<std::uint64_t>("number");
    const bool goes_on = !state.claims.empty() && state.claims.back().job == job;
    if (node == nodes_.end()) {
      // A claim with a node that is gone is void (E2).
      if (goes_on) state.claims.pop_back();
      lost = job;
      return;
    }
    if (lost == job) return;
    if (!goes_on) state.claims.push_back({job, number, {}});
    sched::Share share{.node = node->second};
    share.gpus = fields.integer();
    share.cores = fields.integer();
    share.memory = fields.integer();
    share.devices = static_cast<std::uint64_t>(fields.integer());
    state.claims.back().shares.push_back(share);
  });
}

// In thousandths of GPUs, as the core counts; parts that came back earlier count until then.
Result<> Loader::load_used(StoredState& state) {
  {
    auto query = database_.prepare(ARTEL_SELECT_USED " GROUP BY job.team");
    if (!query) return fail(query);
    const auto done = for_each_row(*query, [&](Fields& fields) {
      std::string team = fields.text();
      state.used_gpu_ms.emplace(std::move(team), fields.real());
    });
    if (done || !is_damage(database_)) return done;
    set_aside_.push_back({"usage", "budgets",
                          done.error().text + "; attempts on damaged pages do not count in the "
                                              "used part of budgets"});
  }
  state.used_gpu_ms.clear();
  return load_used_by_job(state);
}

Result<> Loader::add_removed_use(StoredState& state) {
  auto query =
      database_.prepare("SELECT substr(name, length('" ARTEL_USED_COUNTER
                        "') + 1), value FROM counter WHERE name GLOB '" ARTEL_USED_COUNTER "*'");
  if (!query) return fail(query);
  return for_each_row(*query, [&](Fields& fields) {
    std::string team = fields.text();
    state.used_gpu_ms[std::move(team)] += static_cast<double>(fields.integer());
  });
}

// A damaged page costs the jobs on it and no others.
Result<> Loader::load_used_by_job(StoredState& state) {
  const auto ids = ids_by("SELECT id FROM job NOT INDEXED ORDER BY id");
  if (!ids) return fail(ids);
  for (const JobId id : *ids) {
    auto query = database_.prepare(ARTEL_SELECT_USED " AND a.job = ? GROUP BY job.team");
    if (!query) return fail(query);
    query->bind(static_cast<std::int64_t>(id.value));
    const auto done = for_each_row(*query, [&](Fields& fields) {
      std::string team = fields.text();
      state.used_gpu_ms[std::move(team)] += fields.real();
    });
    if (!done && !is_damage(database_)) return done;
  }
  return {};
}

// Numbers follow time, so the walk back from the latest job ends at the first that is too old.
Result<> Loader::load_tokens(StoredState& state, Duration memory) {
  auto query = database_.prepare(
      "SELECT owner_uid, client_token, id, submitted_ms FROM job ORDER BY id DESC");
  if (!query) return fail(query);
  std::optional<Time> newest;
  while (true) {
    const auto row = query->step();
    if (!row && is_damage(database_)) {
      set_aside_.push_back(
          {"token", fmt::format("all but the last {}", state.tokens.size()), row.error().text});
      break;
    }
    if (!row) return fail(row);
    if (!*row) break;
    Fields fields(*query);
    StoredState::Token token;
    token.uid = fields.number<std::uint32_t>("owner_uid");
    token.token = fields.text();
    token.job = JobId{fields.number<std::uint64_t>("id")};
    token.at = fields.time();
    if (!fields.complaint().empty()) {
      set_aside_.push_back({"token", token.token, fields.complaint()});
      continue;
    }
    // A time that cannot be true would end the walk before its end.
    if (token.at <= Time{}) {
      set_aside_.push_back(
          {"token", token.token, fmt::format("submitted at {} ms", to_ms(token.at))});
      continue;
    }
    if (!newest) newest = token.at;
    if (token.at < *newest - memory) break;
    if (!token.token.empty()) state.tokens.push_back(std::move(token));
  }
  std::ranges::sort(state.tokens, {}, [](const auto& one) { return std::pair(one.at, one.job); });
  return {};
}

}  // namespace artel::ctld
