// The agent's side of AgentService: one stream to the controller, dialled again for ever.
//
// Handshake as in agent.proto: nothing but name and challenge leaves before the controller has
// proved that it holds the node's key. The owner decides on the controller's incarnation and gives
// the full state; only then does the stream carry events, and only those of its own session. Lost
// contact (a closed stream, or silence) is told once; the next try comes after a jittered pause
// that grows.
//
// Threads: one of its own for dialling and clocks, gRPC's for the reactions. Events come from
// either and must not block; all functions may be called from any thread and out of an event,
// except stop().
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "model/agent_protocol.h"

namespace artel::rpc {

struct AgentStreamOptions {
  std::string address;             // "host:port" of the controller
  std::string node;                // whose agent this is
  std::filesystem::path key_file;  // read at each try, so that a new key needs no restart
  std::string version;             // of this program
  Duration beat{std::chrono::seconds{5}};
  Duration silence{std::chrono::seconds{20}};  // without any message: contact is lost
  Duration first_pause{100};
  Duration longest_pause{5000};
};

/// The controller wants a piece of a job's output.
struct OutputQuestion {
  std::uint64_t request{};
  AttemptKey key;
  Owner owner;
  std::string path;     // empty: spooled output of the attempt
  bool error_stream{};  // with an empty path
  std::uint64_t offset{};
  std::uint32_t max_bytes{};
};

struct OutputAnswer {
  std::string data;
  std::uint64_t file_size{};
};

/// CLOCK_BOOTTIME: never jumps, and counts sleep.
Duration time_since_boot();

struct AgentStreamEvents {
  /// The controller proved its identity. The owner answers with open() or close().
  std::function<void(SessionId, Incarnation)> proved;
  std::function<void(SessionId, ToAgent)> command;
  std::function<void(SessionId, OutputQuestion)> output;
  /// The controller has heard the beat that was sent at this time since boot.
  std::function<void(SessionId, Duration)> answered = [](SessionId, Duration) {};
  /// The session is over, opened or not; it is the last event of it.
  std::function<void(SessionId, Error)> lost;
};

class AgentStream {
 public:
  AgentStream(AgentStreamOptions options, AgentStreamEvents events);
  ~AgentStream();
  AgentStream(const AgentStream&) = delete;
  AgentStream& operator=(const AgentStream&) = delete;

  /// Begins to dial.
  void start();
  /// Ends stream and thread; events may come until it returns.
  void stop();

  // All dropped where that session is over.
  void open(SessionId session, const AgentHello& hello);
  void close(SessionId session, const Error& why);
  void send(SessionId session, const FromAgent& message);
  void send_output(SessionId session, std::uint64_t request, Result<OutputAnswer> answer);

 private:
  class Dialler;
  std::unique_ptr<Dialler> dialler_;
};

}  // namespace artel::rpc
