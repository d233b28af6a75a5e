// Plays the agents of a gang for tests: starts one step daemon a node and speaks the step protocol
// with it.
//
// Every wait has a deadline, at which the test fails with what the daemon said last. At the end of
// its life a node kills what is left.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/step_protocol.h"
#include "wire/step/frame.h"

namespace artel::test {

inline constexpr std::chrono::seconds kPatience{20};

/// A folder that is removed at the end of its life. Passable and readable for everybody.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }
  [[nodiscard]] std::string text(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

/// One step daemon and the connection of its agent.
class FakeNode {
 public:
  FakeNode(const TestFolder& folder, const AttemptKey& key, std::uint32_t index);
  FakeNode(FakeNode&&) noexcept;
  ~FakeNode();

  void connect();
  void disconnect();
  void send(const ToStep& message);
  /// The next status; fails the test where none comes in time.
  StepStatus next(std::chrono::milliseconds patience = kPatience);
  /// Reads on until the daemon is in this phase, or has ended.
  StepStatus reach(NodePhase phase, std::chrono::milliseconds patience = kPatience);
  /// Sends StepForget and waits for the daemon's exit code.
  int forget();
  /// Waits until the daemon ends by itself. nullopt: it is still there.
  std::optional<int> exit_code(std::chrono::milliseconds patience);

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] std::string log() const;

 private:
  std::string directory_;
  std::string socket_path_;
  pid_t pid_ = -1;
  int listener_ = -1;
  int connection_ = -1;
  wire::FrameReader reader_;
};

/// A gang of nodes hgx01, hgx02, ... on this machine.
class FakeGang {
 public:
  explicit FakeGang(std::uint32_t nodes, std::uint32_t ranks_per_node = 1);
  ~FakeGang();

  /// What all nodes are told; node_index is filled in.
  LaunchSpec spec;
  TestFolder folder;
  std::vector<FakeNode> nodes;

  void shell(const std::string& script);
  void prepare();
  /// All ready, else the test fails. Collects the ports.
  void get_ready();
  void start();
  /// prepare, get_ready, start.
  void launch();
  void stop(const Cause& cause, bool immediately = false);
  /// The ends of all nodes, by index.
  std::vector<NodeEnd> ends(std::chrono::milliseconds patience = kPatience);
  [[nodiscard]] std::vector<StepPeer> peers() const;
  [[nodiscard]] std::string output() const;
  /// Waits until the job's output has `text`; fails at the deadline.
  void wait_for_output(const std::string& text, std::chrono::milliseconds patience = kPatience);
  /// Processes that carry this attempt's mark.
  [[nodiscard]] std::vector<pid_t> marked() const;

 private:
  std::vector<std::uint16_t> ports_;
};

/// Polls until `done`; false at the deadline.
bool eventually(const std::function<bool()>& done, std::chrono::milliseconds patience = kPatience);

/// Lines of a text that contain `part`.
std::size_t count_lines(const std::string& text, const std::string& part);

}  // namespace artel::test
