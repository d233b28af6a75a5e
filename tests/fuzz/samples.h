// Model values with every field set, to make valid messages of.
#pragma once

#include "model/agent_protocol.h"
#include "model/job_spec.h"

namespace artel::fuzz {

inline JobSpec full_job() {
  JobSpec spec;
  spec.name = "train";
  spec.owner = {1000, 1001, "alice"};
  spec.shared_with = {"carol", "group:nlp"};
  spec.team = "nlp";
  spec.queue = "main";
  spec.components.emplace_back().nodes = 4;
  spec.licences = {{"matlab", 3}};
  spec.nodes_wanted = {"n1", "n2"};
  spec.time_limit = std::chrono::minutes{90};
  spec.script = "#!/bin/sh\ntrue\n";
  spec.argv = {"train", "--x=1"};
  spec.environment = {{"A", "1"}};
  spec.working_directory = "/home/alice";
  spec.output = "out-%j";
  spec.client_token = "token";
  return spec;
}

inline LaunchSpec full_launch() {
  LaunchSpec spec;
  spec.key = {JobId{17}, TaskIndex{3}, AttemptNo{2}};
  spec.cluster = "artel";
  spec.job_name = "train";
  spec.owner = {1000, 1001, "alice"};
  spec.launch = LaunchKind::kPmix;
  spec.nodes = {"n1", "n2"};
  spec.node_index = 1;
  spec.argv = {"a", "b"};
  spec.environment = {{"A", "1"}};
  spec.working_directory = "/home/alice";
  spec.output = "/home/alice/out";
  spec.time_limit = std::chrono::hours{1};
  spec.gpus = {0, 1, 2, 3};
  spec.cpus = 16;
  spec.master_port = 29400;
  spec.step_key = "secret";
  return spec;
}

inline Cause full_cause() {
  Cause cause;
  cause.actor = Actor::kApplication;
  cause.code = CauseCode::kSignal;
  cause.node = "n1";
  cause.rank = 3;
  cause.signal = 9;
  cause.text = "rank 3 on n1 was killed by signal 9 (KILL)";
  return cause;
}

}  // namespace artel::fuzz
