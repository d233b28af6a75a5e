#include "noded/os/step_link.h"

#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "noded/os/step_folder.h"
#include "support.h"
#include "wire/step/step_wire.h"

namespace artel::noded {
namespace {

using testing::Folder;
using testing::key_of;
using testing::run_until;

/// The agent's end under test, and a step daemon played by the test on the listening socket.
struct Scene {
  Folder folder;
  StepFolder step = std::move(*StepFolder::open(folder.path()));
  StepFolder::Prepared prepared = std::move(*step.prepare(key_of(5)));
  boost::asio::io_context loop;
  std::vector<FromStep> statuses;
  std::vector<std::string> closed;
  std::shared_ptr<StepLink> link = std::make_shared<StepLink>(
      loop, key_of(5),
      StepLink::Events{.status = [this](const FromStep& status) { statuses.push_back(status); },
                       .closed = [this](const std::string& why) { closed.push_back(why); }});
  Descriptor daemon;

  void accept() { daemon = Descriptor(::accept(prepared.listener.get(), nullptr, nullptr)); }

  void daemon_sends(const std::string& bytes) {
    REQUIRE(::send(daemon.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
  }

  std::vector<ToStep> daemon_reads(std::size_t count) {
    wire::FrameReader reader;
    std::vector<ToStep> out;
    REQUIRE(run_until(loop, [&] {
      std::array<char, 4096> buffer{};
      const ssize_t got = ::recv(daemon.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got > 0) reader.append({buffer.data(), static_cast<std::size_t>(got)});
      while (auto payload = reader.next().value()) {
        out.push_back(wire::decode_to_step(*payload).value());
      }
      return out.size() >= count;
    }));
    return out;
  }
};

FromStep status_of(std::uint64_t job, NodePhase phase) {
  return {.key = key_of(job), .phase = phase, .port = 4711, .started = time_from_ms(1), .end = {}};
}

TEST_CASE("messages given before the connection arrive in order, and statuses come back") {
  Scene scene;
  scene.link->send(StepPrepare{.spec = testing::record_of(5).spec, .directory = "/d"});
  scene.link->send(StepForget{});
  scene.link->connect(scene.step.socket_of(key_of(5)));
  scene.accept();
  const auto messages = scene.daemon_reads(2);
  CHECK(messages ==
        std::vector<ToStep>{StepPrepare{.spec = testing::record_of(5).spec, .directory = "/d"},
                            StepForget{}});
  const std::string bytes = wire::frame(wire::encode(status_of(5, NodePhase::kReady))) +
                            wire::frame(wire::encode(status_of(5, NodePhase::kRunning)));
  scene.daemon_sends(bytes.substr(0, 10));
  scene.daemon_sends(bytes.substr(10));
  REQUIRE(
      run_until(scene.loop, [&] { return scene.statuses.size() == 2 || !scene.closed.empty(); }));
  CHECK(scene.closed.empty());
  REQUIRE(scene.statuses.size() == 2);
  CHECK(scene.statuses[0].port == 4711);
  CHECK(scene.statuses[1].phase == NodePhase::kRunning);
  scene.daemon = Descriptor();
  REQUIRE(run_until(scene.loop, [&] { return !scene.closed.empty(); }));
  CHECK(scene.closed.size() == 1);
}

TEST_CASE("a socket without a daemon, or without a file, is told as closed") {
  Scene scene;
  scene.prepared.listener = Descriptor();
  scene.link->connect(scene.step.socket_of(key_of(5)));
  REQUIRE(run_until(scene.loop, [&] { return !scene.closed.empty(); }));
  CHECK(scene.closed[0].find("Connection refused") != std::string::npos);
}

TEST_CASE("bytes that are no status, or the status of another attempt, end the link") {
  for (const std::string& bytes :
       {wire::frame("nonsense"), wire::frame(wire::encode(status_of(6, NodePhase::kReady))),
        std::string("\xff\xff\xff\xff", 4)}) {
    Scene scene;
    scene.link->connect(scene.step.socket_of(key_of(5)));
    scene.accept();
    scene.daemon_sends(bytes);
    REQUIRE(run_until(scene.loop, [&] { return !scene.closed.empty(); }));
    CHECK(scene.statuses.empty());
  }
}

TEST_CASE("a link that was closed tells nothing more") {
  Scene scene;
  scene.link->connect(scene.step.socket_of(key_of(5)));
  scene.accept();
  scene.daemon_sends(wire::frame(wire::encode(status_of(5, NodePhase::kReady))));
  scene.link->close();
  scene.loop.run_for(std::chrono::milliseconds(20));
  CHECK(scene.statuses.empty());
  CHECK(scene.closed.empty());
}

}  // namespace
}  // namespace artel::noded
