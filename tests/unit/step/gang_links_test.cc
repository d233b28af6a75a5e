// The star between step daemons, in one process: root and leaves on one loop, over the loopback.
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>

#include "noded/step/auth.h"
#include "noded/step/gang_leaf.h"
#include "noded/step/gang_root.h"
#include "wire/step/step_wire.h"

using namespace artel;
using namespace artel::step;

namespace {

const AttemptKey kKey{JobId{1}, TaskIndex{0}, AttemptNo{1}};

struct Recorder : GangEvents {
  int done = 0;
  std::vector<Cause> aborted;
  std::vector<Cause> lost;
  std::vector<FencePart> fences;
  std::vector<ModexRequest> wanted;
  std::vector<ModexReply> answers;
  std::string output;
  void gang_done() override { ++done; }
  void gang_aborted(const Cause& cause) override { aborted.push_back(cause); }
  void gang_lost(const Cause& cause) override { lost.push_back(cause); }
  void fence_complete(const FencePart& result) override { fences.push_back(result); }
  void modex_wanted(const ModexRequest& request) override { wanted.push_back(request); }
  void modex_answered(const ModexReply& reply) override { answers.push_back(reply); }
  int changes = 0;
  void output_came(std::uint32_t, OutputLines lines) override { output += lines.bytes; }
  void gang_changed() override { ++changes; }
};

struct Star {
  boost::asio::io_context loop;
  std::vector<Recorder> events;
  std::vector<std::unique_ptr<Gang>> members;
  std::uint16_t port = 0;

  explicit Star(std::uint32_t size, const std::string& last_key = "secret") : events(size) {
    std::vector<std::string> nodes;
    for (std::uint32_t i = 0; i < size; ++i) nodes.push_back("n" + std::to_string(i));
    for (std::uint32_t i = 0; i < size; ++i) {
      GangIdentity identity{kKey, i + 1 == size ? last_key : "secret", nodes, i, 2};
      if (i == 0) {
        auto root = std::make_unique<GangRoot>(loop, identity, events[0]);
        port = *root->listen();
        members.push_back(std::move(root));
      } else {
        members.push_back(std::make_unique<GangLeaf>(loop, identity, events[i]));
      }
    }
  }
  void start() {
    const std::vector<StepPeer> peers(members.size(), {"n0", "127.0.0.1", port});
    for (auto& member : members) member->start(peers);
  }
  /// Runs the loop until `done`, 10 s at most.
  bool until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      loop.restart();
      loop.run_for(std::chrono::milliseconds(5));
    }
    return true;
  }
  bool all(const std::function<bool(const Recorder&)>& done) {
    return until([&] { return std::all_of(events.begin(), events.end(), done); });
  }
};

/// A stranger with a plain socket.
struct Stranger {
  boost::asio::ip::tcp::socket socket;
  explicit Stranger(Star& star) : socket(star.loop) {
    socket.connect({boost::asio::ip::address_v4::loopback(), star.port});
  }
  void send(const PeerMessage& message) {
    boost::asio::write(socket, boost::asio::buffer(wire::frame(wire::encode(message))));
  }
  /// Whether the other side hung up; other bytes are read over.
  bool hung_up() {
    socket.non_blocking(true);
    boost::system::error_code error;
    std::array<char, 4096> buffer{};
    do {
      socket.read_some(boost::asio::buffer(buffer), error);
    } while (!error);
    return error != boost::asio::error::would_block;
  }
  std::string receive(Star& star) {
    wire::FrameReader reader;
    std::string out;
    socket.non_blocking(true);
    star.until([&] {
      boost::system::error_code error;
      std::array<char, 4096> buffer{};
      const std::size_t size = socket.read_some(boost::asio::buffer(buffer), error);
      reader.append({buffer.data(), size});
      const auto next = reader.next();
      if (next->has_value()) out = **next;
      return next->has_value();
    });
    return out;
  }
};

}  // namespace

TEST_CASE("the gang is done when all nodes are done, and not before", "[step]") {
  Star star(3);
  star.start();
  star.members[0]->local_done();
  star.members[2]->local_done();
  star.members[2]->fence({.signature = "4", .blob = "heard after the end of node 2"});
  REQUIRE(star.until([&] { return star.events[2].fences.size() == 1; }));
  CHECK(star.events[0].done == 0);
  star.members[1]->local_done();
  CHECK(star.all([](const Recorder& r) { return r.done == 1; }));
}

TEST_CASE("a gang of one is done at once", "[step]") {
  Star star(1);
  star.start();
  star.members[0]->local_done();
  CHECK(star.all([](const Recorder& r) { return r.done == 1; }));
  CHECK(star.members[0]->settled());
}

TEST_CASE("the first abort reaches all nodes, later ones change nothing", "[step]") {
  Star star(3);
  star.start();
  star.members[2]->abort({.text = "first"});
  REQUIRE(star.until([&] { return !star.events[0].aborted.empty(); }));
  star.members[1]->abort({.text = "second"});
  star.members[0]->abort({.text = "third"});
  REQUIRE(star.all([](const Recorder& r) { return !r.aborted.empty(); }));
  for (const Recorder& recorder : star.events) {
    CHECK(recorder.aborted.size() == 1);
    CHECK(recorder.aborted[0].text == "first");
  }
}

TEST_CASE("an abort before a node connected is told to it when it comes", "[step]") {
  Star star(2);
  star.members[0]->start({});
  star.members[0]->abort({.text = "early"});
  star.start();
  REQUIRE(star.until([&] { return !star.events[1].aborted.empty(); }));
  CHECK(star.events[1].aborted[0].text == "early");
}

TEST_CASE("fences go through the root to all who take part", "[step]") {
  Star star(3);
  star.start();
  for (std::uint32_t i = 0; i < 3; ++i) {
    star.members[i]->fence({.signature = "*", .blob = std::string(1, static_cast<char>('a' + i))});
  }
  REQUIRE(star.all([](const Recorder& r) { return r.fences.size() == 1; }));
  for (const Recorder& recorder : star.events) CHECK(recorder.fences[0].blob == "abc");
  star.members[1]->fence({.signature = "2,5", .blob = "x"});
  star.members[2]->fence({.signature = "2,5", .blob = "y"});
  REQUIRE(star.until(
      [&] { return star.events[1].fences.size() == 2 && star.events[2].fences.size() == 2; }));
  CHECK(star.events[0].fences.size() == 1);
}

TEST_CASE("the data of a rank is fetched from its node through the root", "[step]") {
  Star star(3);
  star.start();
  star.members[1]->modex_request({.request = 7, .rank = 4});
  REQUIRE(star.until([&] { return star.events[2].wanted.size() == 1; }));
  const ModexRequest wanted = star.events[2].wanted[0];
  CHECK(wanted.from_node == 1);
  CHECK(wanted.rank == 4);
  star.members[2]->modex_reply({.request = 7, .to_node = wanted.from_node, .blob = "data"});
  REQUIRE(star.until([&] { return star.events[1].answers.size() == 1; }));
  CHECK(star.events[1].answers[0].blob == "data");
}

TEST_CASE("the data of a rank that does not exist is not found", "[step]") {
  Star star(2);
  star.start();
  star.members[1]->modex_request({.request = 7, .rank = 400});
  REQUIRE(star.until([&] { return star.events[1].answers.size() == 1; }));
  CHECK(star.events[1].answers[0].status == -46);
}

TEST_CASE("output reaches the root before the node counts as done", "[step]") {
  Star star(2);
  star.start();
  star.members[1]->output({false, std::string(3'000'000, 'x')});
  star.members[1]->local_done();
  star.members[0]->local_done();
  REQUIRE(star.until([&] { return star.events[0].done == 1; }));
  CHECK(star.events[0].output.size() == 3'000'000);
}

TEST_CASE("an abort overtakes output", "[step]") {
  Star star(2);
  star.start();
  star.members[1]->fence({.signature = "2", .blob = "connected"});
  REQUIRE(star.until([&] { return star.events[1].fences.size() == 1; }));
  star.members[1]->output({false, std::string(30'000'000, 'x')});
  star.members[1]->abort({.text = "now"});
  REQUIRE(star.until([&] { return !star.events[0].aborted.empty(); }));
  CHECK(star.events[0].output.size() < 30'000'000);
}

TEST_CASE("output counts as on its way until the root has taken it", "[step]") {
  Star star(2);
  star.members[1]->output({false, std::string(1000, 'x')});
  star.start();
  REQUIRE(star.until([&] { return star.events[0].output.size() == 1000; }));
  CHECK(star.members[1]->untaken() == 1000);
  star.members[0]->output_taken(1, 400);
  REQUIRE(star.until([&] { return star.events[1].changes == 1; }));
  CHECK(star.members[1]->untaken() == 600);
  star.members[0]->output_taken(1, 5000);  // a root that counts wrongly does no harm
  REQUIRE(star.until([&] { return star.events[1].changes == 2; }));
  CHECK(star.members[1]->untaken() == 0);
}

TEST_CASE("without a root no output is on its way any more", "[step]") {
  Star star(2);
  star.start();
  star.members[1]->output({false, std::string(1000, 'x')});
  REQUIRE(star.until([&] { return star.events[0].output.size() == 1000; }));
  star.members[0].reset();
  REQUIRE(star.until([&] { return !star.events[1].lost.empty(); }));
  CHECK(star.members[1]->untaken() == 0);
}

TEST_CASE("the loss of a node is an abort that names it", "[step]") {
  Star star(3);
  star.start();
  star.members[2]->fence({.signature = "4", .blob = "connected"});
  REQUIRE(star.until([&] { return star.events[2].fences.size() == 1; }));
  star.members[2].reset();
  REQUIRE(star.until(
      [&] { return !star.events[0].aborted.empty() && !star.events[1].aborted.empty(); }));
  CHECK(star.events[1].aborted[0].code == CauseCode::kStepLost);
  CHECK(star.events[1].aborted[0].node == "n2");
}

TEST_CASE("the loss of the root is told to each node", "[step]") {
  Star star(2);
  star.start();
  star.members[1]->fence({.signature = "2", .blob = "connected"});
  REQUIRE(star.until([&] { return star.events[1].fences.size() == 1; }));
  star.members[0].reset();
  REQUIRE(star.until([&] { return !star.events[1].lost.empty(); }));
  CHECK(star.events[1].lost[0].node == "n0");
}

TEST_CASE("a node with another key is not let in and sees that the root is not its own", "[step]") {
  Star star(2, "another secret");
  star.start();
  REQUIRE(star.until([&] { return !star.events[1].lost.empty(); }));
  CHECK(star.events[1].lost[0].text.find("key") != std::string::npos);
  CHECK(star.events[0].aborted.empty());
}

TEST_CASE("a stranger is hung up on at the first wrong word", "[step]") {
  Star star(2);
  star.start();
  const PeerMessage wrong = GENERATE(
      PeerMessage(GangAbort{{.text = "evil"}}), PeerMessage(FencePart{.signature = "*"}),
      PeerMessage(PeerProof{std::string(32, 'p')}),
      PeerMessage(PeerHello{
          .version = 99, .key = kKey, .node_index = 1, .challenge = std::string(32, 'c')}),
      PeerMessage(PeerHello{.key = {}, .node_index = 1, .challenge = std::string(32, 'c')}),
      PeerMessage(PeerHello{.key = kKey, .node_index = 0, .challenge = std::string(32, 'c')}),
      PeerMessage(PeerHello{.key = kKey, .node_index = 2, .challenge = std::string(32, 'c')}));
  Stranger stranger(star);
  stranger.send(wrong);
  CHECK(star.until([&] { return stranger.hung_up(); }));
  CHECK(star.events[0].aborted.empty());
}

TEST_CASE("a stranger who does not know the key gets no further than the welcome", "[step]") {
  Star star(2);
  Stranger stranger(star);
  stranger.send(PeerHello{.key = kKey, .node_index = 1, .challenge = std::string(32, 'c')});
  const auto welcome = wire::decode_peer_message(stranger.receive(star));
  REQUIRE(welcome);
  REQUIRE(std::holds_alternative<PeerWelcome>(*welcome));
  // Mirrored back: what the root says is no proof of a peer.
  stranger.send(PeerProof{std::get<PeerWelcome>(*welcome).proof});
  stranger.send(GangAbort{{.text = "evil"}});
  CHECK(star.until([&] { return stranger.hung_up(); }));
  CHECK(star.events[0].aborted.empty());
  star.start();  // the true node is still welcome
  star.members[0]->local_done();
  star.members[1]->local_done();
  CHECK(star.all([](const Recorder& r) { return r.done == 1; }));
}

TEST_CASE("a frame over the limit of strangers is not waited for", "[step]") {
  Star star(2);
  star.start();
  Stranger stranger(star);
  boost::asio::write(stranger.socket, boost::asio::buffer(std::string("\x00\x10\x00\x00", 4) +
                                                          std::string(5000, 'x')));
  CHECK(star.until([&] { return stranger.hung_up(); }));
}

TEST_CASE("a flood of strangers pushes out strangers, not members", "[step]") {
  Star star(2);
  star.start();
  star.members[1]->fence({.signature = "2", .blob = "connected"});
  REQUIRE(star.until([&] { return star.events[1].fences.size() == 1; }));
  std::vector<std::unique_ptr<Stranger>> crowd;
  for (int i = 0; i < 30; ++i) crowd.push_back(std::make_unique<Stranger>(star));
  CHECK(star.until([&] { return crowd[0]->hung_up(); }));
  star.members[0]->local_done();
  star.members[1]->local_done();
  CHECK(star.all([](const Recorder& r) { return r.done == 1; }));
}

TEST_CASE("a second connection under a member's number is refused", "[step]") {
  Star star(2);
  star.start();
  star.members[1]->fence({.signature = "2", .blob = "connected"});
  REQUIRE(star.until([&] { return star.events[1].fences.size() == 1; }));
  Stranger twin(star);
  twin.send(PeerHello{.key = kKey, .node_index = 1, .challenge = std::string(32, 'c')});
  const auto welcome = wire::decode_peer_message(twin.receive(star));
  REQUIRE(welcome);
  const std::string challenge = std::get<PeerWelcome>(*welcome).challenge;
  twin.send(PeerProof{peer_proof("secret", challenge, 1)});
  CHECK(star.until([&] { return twin.hung_up(); }));
  CHECK(star.events[0].aborted.empty());
}
