// Gangs that run well: who is started, with what, and where the output goes.
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "fake_agent.h"

using namespace artel;
using namespace artel::test;

namespace {

/// Connects to the first node as a stranger and sends some bytes.
int strange_connection(std::uint16_t port, const std::string& bytes) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  [[maybe_unused]] const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return fd;
}

/// A terminal that nobody reads: it takes a little, then a write to it waits for ever.
class FullTerminal {
 public:
  FullTerminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    REQUIRE(::grantpt(master_) == 0);
    REQUIRE(::unlockpt(master_) == 0);
  }
  ~FullTerminal() { ::close(master_); }
  FullTerminal(const FullTerminal&) = delete;
  FullTerminal& operator=(const FullTerminal&) = delete;
  [[nodiscard]] std::string path() const { return ::ptsname(master_); }

 private:
  int master_;
};

/// Bytes that a process has read so far.
std::uint64_t bytes_read(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/io");
  std::string name;
  std::uint64_t bytes = 0;
  file >> name >> bytes;
  return bytes;
}

}  // namespace

TEST_CASE("an output file that takes nothing holds back the writers, never the end of the gang",
          "[gang]") {
  const FullTerminal terminal;
  FakeGang gang(3);
  const std::string go = gang.folder.file("go");
  gang.shell("case $RANK in 0) sleep 1000;; 1) yes; exit 0;; esac; while [ ! -e " + go +
             " ]; do sleep 0.02; done; exit 7");
  gang.spec.output = terminal.path();
  gang.launch();
  const pid_t writer = gang.nodes[1].pid();
  constexpr std::uint64_t kMuch = 1'000'000;
  std::uint64_t before = 0;
  int still = 0;
  REQUIRE(eventually([&] {
    const std::uint64_t now = bytes_read(writer);
    still = now == before && now > kMuch ? still + 1 : 0;
    before = now;
    return still == 20;
  }));
  std::ofstream(go) << "";
  for (const NodeEnd& end : gang.ends()) {
    CHECK(end.cause.exit_code == 7);
    CHECK(end.cause.node == "hgx03");
  }
}

TEST_CASE("a gang of four nodes runs two ranks on each and ends well everywhere", "[gang]") {
  FakeGang gang(4, 2);
  gang.shell("echo rank $RANK of $WORLD_SIZE on $ARTEL_NODE local $LOCAL_RANK node $NODE_RANK");
  gang.launch();
  for (const NodeEnd& end : gang.ends()) {
    CHECK(end.cause.actor == Actor::kApplication);
    CHECK(end.cause.code == CauseCode::kExit);
    CHECK(end.cause.exit_code == 0);
    CHECK(end.cause.text == "all 8 ranks ended with exit code 0");
    CHECK_FALSE(end.is_origin);
    CHECK(end.started > Time{});
    CHECK(end.ended >= end.started);
    CHECK(end.max_rss.value > 0);
  }
  const std::string output = gang.output();
  for (int rank = 0; rank < 8; ++rank) {
    const std::string line = "rank " + std::to_string(rank) + " of 8 on hgx0" +
                             std::to_string(rank / 2 + 1) + " local " + std::to_string(rank % 2) +
                             " node " + std::to_string(rank / 2) + "\n";
    CHECK(output.find(line) != std::string::npos);
  }
  CHECK(count_lines(output, "rank") == 8);
  for (FakeNode& node : gang.nodes) CHECK(node.forget() == 0);
  CHECK(gang.marked().empty());
}

TEST_CASE("a rank finds the whole environment of its job and nothing of the daemon's", "[gang]") {
  FakeGang gang(2, 2);
  gang.spec.gpus = {0, 3};
  gang.spec.environment = {{"GREETING", "hello there"}, {"RANK", "wrong"}};
  gang.spec.key.attempt = AttemptNo{1};
  gang.shell("[ $RANK = 3 ] && env; exit 0");
  gang.launch();
  gang.ends();
  const std::string output = gang.output();
  const std::string job = std::to_string(gang.spec.key.job.value);
  for (const std::string& line :
       {std::string("RANK=3"), std::string("LOCAL_RANK=1"), std::string("GROUP_RANK=1"),
        std::string("LOCAL_WORLD_SIZE=2"), std::string("NNODES=2"),
        std::string("MASTER_PORT=29500"), std::string("MASTER_ADDR=127.0.0.1"),
        std::string("CUDA_VISIBLE_DEVICES=0,3"), std::string("ARTEL_NODES=hgx[01-02]"),
        std::string("GREETING=hello there"), std::string("HOME=/root"), std::string("USER=root"),
        "ARTEL_JOB_ID=" + job, "ARTEL_ATTEMPT_KEY=" + job + ".0.1",
        std::string("TORCHELASTIC_RESTART_COUNT=0")}) {
    CHECK(('\n' + output).find('\n' + line + '\n') != std::string::npos);
  }
  CHECK(output.find("SLURM_") == std::string::npos);
  CHECK(output.find("wrong") == std::string::npos);
}

TEST_CASE("a rank has only its three standard files, a session of its own and an empty input",
          "[gang]") {
  FakeGang gang(1);
  gang.shell(
      "ls -l /proc/self/fd; cat; [ $(ps -o sid= -p $$) = $$ ] && echo own session; ulimit -c; "
      "[ $(ulimit -l) = $(ulimit -Hl) ] && [ $(ulimit -n) = $(ulimit -Hn) ] && echo raised");
  gang.launch();
  gang.ends();
  const std::string output = gang.output();
  INFO(output);
  CHECK(count_lines(output, "->") == 4);  // and the folder that ls reads
  CHECK(count_lines(output, "/dev/null") == 1);
  CHECK(output.find("own session\n0\nraised\n") != std::string::npos);
}

TEST_CASE("a script runs once, on the first node, without the variables of a rank", "[gang]") {
  FakeGang gang(2, 4);
  gang.spec.launch = LaunchKind::kScript;
  gang.spec.script =
      "#!/bin/sh\necho script on $ARTEL_NODE args $1 $2 rank [$RANK] nodes $NNODES\n";
  gang.spec.argv = {"one", "two"};
  gang.launch();
  const auto ends = gang.ends();
  CHECK(ends[0].cause.text == "the script ended with exit code 0");
  CHECK(ends[1].cause.code == CauseCode::kExit);
  CHECK(gang.output() == "script on hgx01 args one two rank [] nodes 2\n");
}

TEST_CASE("lines of other nodes come whole, in order and complete", "[gang]") {
  constexpr int kLines = 3000;
  FakeGang gang(3, 1);
  gang.shell("i=0; while [ $i -lt " + std::to_string(kLines) +
             " ]; do echo \"<$RANK $i xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx>\"; "
             "i=$((i+1)); done; printf '<%s rest>' $RANK");
  gang.launch();
  gang.ends();
  // "<rank number xxx>": nothing may stand inside of one.
  const std::string output = gang.output();
  std::vector<int> next(3, 0);
  int broken = 0;
  for (std::size_t at = output.find('<'); at != std::string::npos; at = output.find('<', at + 1)) {
    const std::string token = output.substr(at, output.find('>', at) - at);
    unsigned rank = 0;
    int number = -1;
    if (std::sscanf(token.c_str(), "<%u %d x", &rank, &number) != 2) continue;
    if (token.find('\n') != std::string::npos || token.find('<', 1) != std::string::npos) ++broken;
    if (number != next.at(rank)++) ++broken;
  }
  CHECK(broken == 0);
  CHECK(next == std::vector<int>(3, kLines));
  for (const char* rest : {"<0 rest>", "<1 rest>", "<2 rest>"}) {
    CHECK(gang.output().find(rest) != std::string::npos);
  }
}

TEST_CASE("much output of another node waits for the files and arrives in full", "[gang]") {
  FakeGang gang(2, 1);
  gang.shell("[ $RANK = 0 ] || head -c 40000000 /dev/zero | tr '\\0' 'a'");
  gang.launch();
  gang.ends();
  CHECK(std::filesystem::file_size(gang.spec.output) == 40'000'000);
}

TEST_CASE("standard error goes to a file of its own where one is named", "[gang]") {
  FakeGang gang(2, 1);
  gang.spec.error = gang.folder.file("err");
  gang.shell("echo out $RANK; echo err $RANK >&2");
  gang.launch();
  gang.ends();
  CHECK(count_lines(gang.output(), "out") == 2);
  CHECK(count_lines(gang.output(), "err") == 0);
  CHECK(count_lines(gang.folder.text("err"), "err") == 2);
}

TEST_CASE("output of an attached job is spooled on the first node, closed to others", "[gang]") {
  FakeGang gang(2, 1);
  gang.spec.attached = true;
  gang.spec.output.clear();
  gang.shell("echo out $RANK; echo err $RANK >&2");
  gang.launch();
  gang.ends();
  CHECK(count_lines(gang.folder.text("node0/out"), "out") == 2);
  CHECK(count_lines(gang.folder.text("node0/err"), "err") == 2);
  CHECK((std::filesystem::status(gang.folder.file("node0/out")).permissions() &
         std::filesystem::perms::others_read) == std::filesystem::perms::none);
  CHECK_FALSE(std::filesystem::exists(gang.folder.file("node1/out")));
}

TEST_CASE("output is appended to a file that exists", "[gang]") {
  FakeGang gang(1);
  std::ofstream(gang.spec.output) << "before\n";
  gang.shell("echo after");
  gang.launch();
  gang.ends();
  CHECK(gang.output() == "before\nafter\n");
}

TEST_CASE("no rank runs before the start", "[gang]") {
  FakeGang gang(2);
  gang.shell("echo ran");
  gang.prepare();
  gang.get_ready();
  CHECK(gang.marked().empty());
  gang.nodes[0].connect();  // an agent that was restarted
  CHECK(gang.nodes[0].next().phase == NodePhase::kReady);
  CHECK(gang.output().empty());
  gang.start();
  CHECK(gang.ends()[0].cause.code == CauseCode::kExit);
}

TEST_CASE("ranks and their end outlive the agent", "[gang]") {
  FakeGang gang(2);
  gang.shell("echo here; while [ ! -e go ]; do sleep 0.02; done; echo gone");
  gang.launch();
  gang.wait_for_output("here");
  for (FakeNode& node : gang.nodes) node.disconnect();
  std::ofstream(gang.folder.file("go")) << "go";
  CHECK(eventually([&] { return count_lines(gang.output(), "gone") == 2; }));
  for (FakeNode& node : gang.nodes) {
    node.connect();
    const StepStatus status = node.reach(NodePhase::kEnded);
    CHECK(status.end->cause.exit_code == 0);
    CHECK(node.forget() == 0);
  }
}

TEST_CASE("a daemon whose agent's state was removed goes, but not while ranks run", "[gang]") {
  FakeGang gang(1);
  gang.shell("echo here; while [ ! -e go ]; do sleep 0.02; done");
  gang.launch();
  gang.wait_for_output("here");
  FakeNode& node = gang.nodes[0];
  node.disconnect();
  std::filesystem::remove(node.directory() + "/agent.sock");
  CHECK_FALSE(node.exit_code(std::chrono::seconds(6)));
  std::ofstream(gang.folder.file("go")) << "go";
  CHECK(node.exit_code(std::chrono::seconds(15)) == 0);
}

TEST_CASE("a forget before the end is ignored", "[gang]") {
  FakeGang gang(1);
  gang.shell("echo here; while [ ! -e go ]; do sleep 0.02; done");
  gang.launch();
  gang.wait_for_output("here");
  gang.nodes[0].send(StepForget{});
  std::ofstream(gang.folder.file("go")) << "go";
  CHECK(gang.ends()[0].cause.code == CauseCode::kExit);
  CHECK(gang.nodes[0].log().find("a forget is ignored") != std::string::npos);
}

TEST_CASE("strangers at the first node's port change nothing", "[gang]") {
  FakeGang gang(2);
  gang.shell("echo ran $RANK");
  gang.prepare();
  gang.get_ready();
  const std::uint16_t port = gang.peers()[0].port;
  std::vector<int> open;
  open.push_back(strange_connection(port, "GET / HTTP/1.0\r\n\r\n"));
  open.push_back(strange_connection(port, std::string(100'000, '\0')));
  open.push_back(strange_connection(port, ""));
  for (int i = 0; i < 20; ++i) open.push_back(strange_connection(port, std::string(3, '\0')));
  gang.start();
  CHECK(gang.ends()[1].cause.code == CauseCode::kExit);
  CHECK(count_lines(gang.output(), "ran") == 2);
  for (const int fd : open) ::close(fd);
}

TEST_CASE("a node that does not know the attempt's key is kept out and the gang ends", "[gang]") {
  FakeGang gang(2);
  gang.shell("echo here; sleep 100");
  for (std::uint32_t i = 0; i < 2; ++i) {
    LaunchSpec mine = gang.spec;
    mine.node_index = i;
    if (i == 1) mine.step_key = "another key";
    gang.nodes[i].send(StepPrepare{mine, gang.nodes[i].directory(), true, std::nullopt});
  }
  gang.get_ready();
  gang.start();
  const StepStatus status = gang.nodes[1].reach(NodePhase::kEnded, std::chrono::seconds(30));
  REQUIRE(status.end);
  CHECK(status.end->cause.code == CauseCode::kStepLost);
  CHECK(status.end->cause.node == "hgx01");
}
