#include "model/teams.h"

#include <algorithm>

namespace artel {
namespace {

template <typename Config>
const Config* find(const std::vector<Config>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Config::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::vector<ClassConfig> default_classes() {
  using std::chrono::minutes;
  using std::chrono::seconds;
  return {{"production", 300, false, minutes{5}},
          {"development", 200, true, seconds{60}},
          {"test", 100, true, seconds{30}},
          {"experiment", 0, true, seconds{60}}};
}

const TeamConfig* TeamsConfig::find_team(std::string_view name) const { return find(teams, name); }
const QueueConfig* TeamsConfig::find_queue(std::string_view name) const {
  return find(queues, name);
}
const ClassConfig* TeamsConfig::find_class(std::string_view name) const {
  return find(classes, name);
}

}  // namespace artel
