// The parts of the parser of cases. Each adds to `scenario` what it reads and tells its mistakes.
#pragma once

#include <set>

#include "sim/scenario/fields.h"

namespace artel::scenario {

void read_cluster(Fields& top, Case& scenario);
void read_policy(Fields& top, Case& scenario);
/// Needs the cluster.
void read_tree(Fields& top, Case& scenario);
/// Needs the tree.
void read_first_usage(Fields& top, Case& scenario);
/// Needs the cluster and the tree.
void read_timeline(Fields& top, Case& scenario);
/// Needs all of it.
void read_expectations(Fields& top, Case& scenario);

/// Reads one job. `fields` is ended. `known`: the jobs, tasks and arrays submitted before.
Job read_job(Fields& fields, const Case& scenario, const std::set<std::string>& known);
/// Reads one reservation. `fields` is ended.
Reservation read_reservation(Fields& fields, const Case& scenario);

/// Each tells a mistake at `key` where the name is not known, with the nearest that is.
void check_node(Fields& fields, std::string_view key, const Case& scenario,
                const std::string& node);
void check_quota(Fields& fields, std::string_view key, const Case& scenario,
                 const std::string& path);
void check_class(Fields& fields, std::string_view key, const Case& scenario,
                 const std::string& name);
void check_flavor(Fields& fields, std::string_view key, const Case& scenario,
                  const std::string& flavor);
/// A list of features of a node.
void read_features(Fields& fields, std::string_view key, std::vector<std::string>& out);
void check_amounts(Fields& fields, std::string_view key, const Case& scenario,
                   const std::optional<Amounts>& amounts);

}  // namespace artel::scenario
