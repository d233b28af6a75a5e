#include "fake_agent.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "wire/step/step_wire.h"

namespace artel::test {
namespace {

using Clock = std::chrono::steady_clock;

std::string read_all(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un out{};
  out.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof out.sun_path);
  std::memcpy(out.sun_path, path.c_str(), path.size() + 1);
  return out;
}

int listen_at(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(path);
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(fd, 4) == 0);
  return fd;
}

[[noreturn]] void run_daemon(int listener, const std::string& log, const std::string& key) {
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(null, STDIN_FILENO);
  ::dup2(null, STDOUT_FILENO);
  ::dup2(file, STDERR_FILENO);
  if (listener != 3) ::dup2(listener, 3);
  ::fcntl(3, F_SETFD, 0);
  ::execl(ARTEL_STEPD, "artel-stepd", key.c_str(), nullptr);
  ::_exit(126);
}

/// Unique among tests that run at the same time.
std::uint64_t next_job() {
  static std::atomic<std::uint64_t> count = 0;
  return static_cast<std::uint64_t>(::getpid()) * 1000 + ++count;
}

void kill_hard(pid_t pid) {
  if (pid <= 0) return;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

}  // namespace

TestFolder::TestFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "artel-step-XXXXXX";
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
  ::chmod(pattern.c_str(), 0777);
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TestFolder::text(const std::string& name) const { return read_all(path_ / name); }

// One node ----------------------------------------------------------------------------------

FakeNode::FakeNode(const TestFolder& folder, const AttemptKey& key, std::uint32_t index)
    : directory_(folder.file("node" + std::to_string(index))),
      socket_path_(directory_ + "/agent.sock") {
  REQUIRE(::mkdir(directory_.c_str(), 0700) == 0);
  listener_ = listen_at(socket_path_);
  const std::string text = format_key(key);
  const std::string log = directory_ + "/log";
  pid_ = ::fork();
  if (pid_ == 0) run_daemon(listener_, log, text);
  REQUIRE(pid_ > 0);
  connect();
}

FakeNode::FakeNode(FakeNode&& other) noexcept
    : directory_(std::move(other.directory_)),
      socket_path_(std::move(other.socket_path_)),
      pid_(std::exchange(other.pid_, -1)),
      listener_(std::exchange(other.listener_, -1)),
      connection_(std::exchange(other.connection_, -1)),
      reader_(std::move(other.reader_)) {}

FakeNode::~FakeNode() {
  disconnect();
  if (listener_ >= 0) ::close(listener_);
  kill_hard(pid_);
}

void FakeNode::connect() {
  disconnect();
  connection_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(socket_path_);
  REQUIRE(::connect(connection_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  reader_ = {};
}

void FakeNode::disconnect() {
  if (connection_ >= 0) ::close(std::exchange(connection_, -1));
}

void FakeNode::send(const ToStep& message) {
  const std::string bytes = wire::frame(wire::encode(message));
  REQUIRE(::send(connection_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(bytes.size()));
}

StepStatus FakeNode::next(std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (true) {
    auto payload = reader_.next();
    REQUIRE(payload);
    if (payload->has_value()) {
      auto status = wire::decode_from_step(**payload);
      REQUIRE(status);
      return *status;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd wait{connection_, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0) {
      FAIL("no word from " << directory_ << " in time; its log: " << log());
    }
    char buffer[4096];
    const ssize_t size = ::recv(connection_, buffer, sizeof buffer, 0);
    if (size <= 0) FAIL(directory_ << " closed the connection; its log: " << log());
    reader_.append({buffer, static_cast<std::size_t>(size)});
  }
}

StepStatus FakeNode::reach(NodePhase phase, std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    StepStatus status = next(std::max(left, std::chrono::milliseconds(1)));
    if (status.phase == phase || status.phase == NodePhase::kEnded) return status;
  }
}

int FakeNode::forget() {
  send(StepForget{});
  const auto code = exit_code(kPatience);
  if (!code) FAIL("the daemon did not go; its log: " << log());
  return *code;
}

std::optional<int> FakeNode::exit_code(std::chrono::milliseconds patience) {
  int status = 0;
  if (!eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; }, patience)) {
    return std::nullopt;
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::string FakeNode::log() const { return read_all(directory_ + "/log"); }

// A gang ------------------------------------------------------------------------------------

FakeGang::FakeGang(std::uint32_t count, std::uint32_t ranks_per_node) {
  spec.key = {JobId{next_job()}, TaskIndex{0}, AttemptNo{1}};
  spec.cluster = "test";
  spec.job_name = "job";
  spec.owner = {0, 0, "root"};
  spec.launch = LaunchKind::kPlain;
  spec.ranks_per_node = ranks_per_node;
  spec.working_directory = folder.path();
  spec.output = folder.file("out");
  spec.grace = std::chrono::seconds(5);
  spec.step_key = "a key that only this attempt has";
  spec.master_port = 29500;
  for (std::uint32_t i = 0; i < count; ++i) spec.nodes.push_back("hgx0" + std::to_string(i + 1));
  for (std::uint32_t i = 0; i < count; ++i) nodes.emplace_back(folder, spec.key, i);
}

FakeGang::~FakeGang() {
  nodes.clear();
  // PDEATHSIG takes the ranks with their daemon; what got further is killed here.
  eventually(
      [this] {
        const auto left = marked();
        for (const pid_t pid : left) ::kill(pid, SIGKILL);
        return left.empty();
      },
      std::chrono::seconds(5));
}

void FakeGang::shell(const std::string& script) { spec.argv = {"/bin/sh", "-c", script}; }

void FakeGang::prepare() {
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    LaunchSpec mine = spec;
    mine.node_index = i;
    nodes[i].send(StepPrepare{mine, nodes[i].directory(), true, std::nullopt});
  }
}

void FakeGang::get_ready() {
  ports_.clear();
  for (FakeNode& node : nodes) {
    const StepStatus status = node.reach(NodePhase::kReady);
    if (status.phase != NodePhase::kReady) FAIL("not ready: " << describe(status.end->cause));
    ports_.push_back(status.port);
  }
}

std::vector<StepPeer> FakeGang::peers() const {
  std::vector<StepPeer> out;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    out.push_back({spec.nodes[i], "127.0.0.1", i < ports_.size() ? ports_[i] : std::uint16_t{0}});
  }
  return out;
}

void FakeGang::start() {
  for (FakeNode& node : nodes) node.send(StepStart{peers()});
}

void FakeGang::launch() {
  prepare();
  get_ready();
  start();
}

void FakeGang::stop(const Cause& cause, bool immediately) {
  for (FakeNode& node : nodes) node.send(StepStop{cause, immediately});
}

std::vector<NodeEnd> FakeGang::ends(std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  std::vector<NodeEnd> out;
  for (FakeNode& node : nodes) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    out.push_back(*node.reach(NodePhase::kEnded, left).end);
  }
  return out;
}

std::string FakeGang::output() const { return read_all(spec.output); }

void FakeGang::wait_for_output(const std::string& text, std::chrono::milliseconds patience) {
  if (!eventually([&] { return output().find(text) != std::string::npos; }, patience)) {
    FAIL("no '" << text << "' in the output: " << output());
  }
}

std::vector<pid_t> FakeGang::marked() const {
  const std::string mark = "ARTEL_ATTEMPT_KEY=" + format_key(spec.key);
  std::vector<pid_t> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string environment = '\0' + read_all(entry.path() / "environ");
    if (environment.find('\0' + mark + '\0') != std::string::npos) out.push_back(std::stoi(name));
  }
  return out;
}

bool eventually(const std::function<bool()>& done, std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (!done()) {
    if (Clock::now() >= deadline) return false;
    ::usleep(5000);
  }
  return true;
}

std::size_t count_lines(const std::string& text, const std::string& part) {
  std::istringstream in(text);
  std::size_t count = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.find(part) != std::string::npos) ++count;
  }
  return count;
}

}  // namespace artel::test
