#include "noded/main/step_daemons.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>

#include <boost/asio/post.hpp>
#include <utility>
#include <vector>

#include "noded/users/user_lookup.h"

namespace artel::noded {
namespace {

// A daemon answers in milliseconds; this long a silence on an overloaded node is still no death.
constexpr auto kFirstStatus = std::chrono::seconds(60);
constexpr auto kToGo = std::chrono::seconds(10);

std::string describe_exit(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  return fmt::format("exited with {}", WEXITSTATUS(status));
}

}  // namespace

StepDaemons::StepDaemons(boost::asio::io_context& loop, StepDaemonsOptions options,
                         StepFolder folder, SpawnServer helper, Events events)
    : loop_(loop),
      options_(std::move(options)),
      folder_(std::move(folder)),
      events_(std::move(events)),
      spawner_(loop, std::move(helper),
               {.exited = [this](pid_t pid, int status) { exited(pid, status); },
                .helper_lost = events_.helper_lost}),
      accounts_([node = options_.node](const Owner& owner) { return look_up(owner, node); }) {}

void StepDaemons::spawn(const LaunchSpec& spec) {
  auto prepared = folder_.prepare(spec.key);
  if (!prepared) return lose(spec.key, prepared.error().text);
  const std::string name = format_key(spec.key);
  auto link = make_link(spec.key);
  link->send(StepPrepare{.spec = spec,
                         .directory = folder_.directory_of(spec.key).string(),
                         .simulated_node = options_.simulated,
                         .account = accounts_.find(spec.owner, Steady::now())});
  SpawnRequest request;
  request.argument = name;
  // The daemon is found by a sweep of its attempt, and so is a rank that has not become its program
  // yet.
  request.environment = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                         "LANG=C.UTF-8", "ARTEL_ATTEMPT_KEY=" + name,
                         "ARTEL_NODE=" + options_.node};
  request.listener = std::move(prepared->listener);
  request.log = std::move(prepared->log);
  spawner_.spawn(std::move(request),
                 [this, key = spec.key, link = std::weak_ptr(link)](Result<pid_t> pid) {
                   spawned(key, link, std::move(pid));
                 });
}

void StepDaemons::spawned(const AttemptKey& key, const std::weak_ptr<StepLink>& link,
                          Result<pid_t> pid) {
  const auto daemon = daemons_.find(key);
  const bool current = daemon != daemons_.end() && daemon->second.link == link.lock();
  if (!pid) {
    if (!current) return;
    daemon->second.link->close();
    daemons_.erase(daemon);
    return lose(key, pid.error().text);
  }
  spdlog::debug("started artel-stepd of {} as pid {}", format_key(key), *pid);
  pids_.emplace(*pid, key);
  if (current) daemon->second.link->connect(folder_.socket_of(key));
}

void StepDaemons::exited(pid_t pid, int status) {
  const auto known = pids_.extract(pid);
  if (known.empty()) return;
  const auto level = status == 0 ? spdlog::level::debug : spdlog::level::err;
  spdlog::log(level, "artel-stepd of {} (pid {}) {}; its log is {}/stepd.log",
              format_key(known.mapped()), pid, describe_exit(status),
              folder_.directory_of(known.mapped()).string());
}

void StepDaemons::adopt(const AttemptKey& key) { make_link(key)->connect(folder_.socket_of(key)); }

std::shared_ptr<StepLink> StepDaemons::make_link(const AttemptKey& key) {
  auto link = std::make_shared<StepLink>(
      loop_, key,
      StepLink::Events{.status = [this](const FromStep& status) { link_status(status); },
                       .closed = [this, key](const std::string& why) { link_closed(key, why); }});
  Daemon& daemon = daemons_[key];
  if (daemon.link) daemon.link->close();
  daemon = Daemon{.link = link, .heard = false, .forgotten = false, .since = Steady::now()};
  return link;
}

void StepDaemons::link_status(const FromStep& status) {
  const auto daemon = daemons_.find(status.key);
  if (daemon == daemons_.end()) return;
  daemon->second.heard = true;
  if (!daemon->second.forgotten) events_.status(status);
}

void StepDaemons::link_closed(const AttemptKey& key, const std::string& why) {
  const auto daemon = daemons_.extract(key);
  if (daemon.empty()) return;
  if (daemon.mapped().forgotten) return folder_.discard(key);
  events_.lost(key, why);
}

void StepDaemons::lose(const AttemptKey& key, const std::string& why) {
  boost::asio::post(loop_, [this, key, why] { events_.lost(key, why); });
}

void StepDaemons::send(const AttemptKey& key, const ToStep& message) {
  const auto daemon = daemons_.find(key);
  if (daemon == daemons_.end()) return;
  if (std::holds_alternative<StepForget>(message)) {
    daemon->second.forgotten = true;
    daemon->second.since = Steady::now();
  }
  daemon->second.link->send(message);
}

void StepDaemons::drop(const AttemptKey& key) { folder_.forget(key); }

void StepDaemons::tick() {
  const auto now = Steady::now();
  std::vector<std::pair<AttemptKey, bool>> late;
  for (const auto& [key, daemon] : daemons_) {
    const bool answers = daemon.heard || now - daemon.since < kFirstStatus;
    const bool going = !daemon.forgotten || now - daemon.since < kToGo;
    if (!answers || !going) late.emplace_back(key, daemon.forgotten);
  }
  for (const auto& [key, forgotten] : late) {
    daemons_.at(key).link->close();
    daemons_.erase(key);
    if (forgotten) {
      events_.stuck(key);
    } else {
      events_.lost(key, fmt::format("it did not answer for {} s", kFirstStatus.count()));
    }
  }
}

}  // namespace artel::noded
