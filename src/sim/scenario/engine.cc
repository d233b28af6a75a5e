// Facts that an engine without the rules behind them may ignore.
#include "sim/scenario/engine.h"

namespace artel::scenario {

void Engine::waits(Minute, const std::string&, Waits) {}
void Engine::throttle(Minute, const std::string&, std::int64_t) {}
void Engine::features(Minute, const std::string&, const std::vector<std::string>&) {}
void Engine::refuse(Minute, const std::string&, const std::string&) {}
std::optional<Start> Engine::swap(Minute, const std::string&, const std::string&) {
  return std::nullopt;
}
void Engine::end_waits(Minute) {}

}  // namespace artel::scenario
