// Probes between two agents on this machine.
#include "noded/os/prober.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

using namespace artel;
using namespace artel::noded;

namespace {

/// Not secret, but it differs with key and text.
std::string seal(std::string_view key, std::string_view bytes) {
  std::string out(32, '\0');
  std::size_t i = 0;
  for (const std::string_view text : {key, bytes})
    for (const char c : text) {
      char& at = out[i++ % out.size()];
      at = static_cast<char>(at * 31 + c);
    }
  return out;
}

/// A prober and what it has heard.
struct Side {
  Side(boost::asio::io_context& loop, const std::string& node)
      : prober(loop, node, {.seal = seal, .up = [this] { return up; }},
               {.probed =
                    [this](const std::string& from) {
                      probed.push_back(from);
                      return answers;
                    },
                .answered = [this](const std::string& by,
                                   Duration sent) { answered.emplace_back(by, sent); },
                .refused = [this](const std::string& by,
                                  Duration sent) { refused.emplace_back(by, sent); },
                .left = [this](const std::string& by,
                               Duration sent) { left.emplace_back(by, sent); }}) {}

  Duration up{1000};
  bool answers = true;
  std::vector<std::string> probed;
  std::vector<std::pair<std::string, Duration>> answered;
  std::vector<std::pair<std::string, Duration>> refused;
  std::vector<std::pair<std::string, Duration>> left;
  Prober prober;
};

/// Until `done`, or nothing more can come within the time of a slow machine.
template <typename Done>
bool run_until(boost::asio::io_context& loop, Done done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (!done() && std::chrono::steady_clock::now() < end) {
    loop.restart();
    loop.run_one_for(std::chrono::milliseconds{50});
  }
  return done();
}

ProbePeer peer(const std::string& node, std::uint16_t port, const std::string& key = "key") {
  return {node, "127.0.0.1", port, key};
}

/// Resolves names first, so that it takes two rounds.
void probe(boost::asio::io_context& loop, Side& side) {
  side.prober.probe();
  for (int i = 0; i < 20; ++i) {
    loop.restart();
    loop.run_one_for(std::chrono::milliseconds{10});
  }
  side.prober.probe();
}

}  // namespace

TEST_CASE("a probe is heard, and its answer is of what was sent") {
  boost::asio::io_context loop;
  Side a(loop, "a");
  Side b(loop, "b");
  const auto port_a = a.prober.open(0);
  const auto port_b = b.prober.open(0);
  REQUIRE(port_a);
  REQUIRE(port_b);
  a.prober.watch({peer("b", *port_b)});
  b.prober.watch({peer("a", *port_a)});
  probe(loop, a);
  REQUIRE(run_until(loop, [&] { return !a.answered.empty(); }));
  CHECK(b.probed[0] == "a");
  CHECK(a.answered[0] == std::pair<std::string, Duration>("b", 1000));
}

TEST_CASE("nobody answers a node that it does not watch, nor one with another key") {
  boost::asio::io_context loop;
  Side a(loop, "a");
  Side b(loop, "b");
  Side c(loop, "c");
  const auto port = b.prober.open(0);
  REQUIRE(port);
  b.prober.watch({peer("a", 1), peer("c", 1, "other key")});
  a.prober.watch({peer("b", *port)});
  c.prober.watch({peer("b", *port)});
  probe(loop, c);
  probe(loop, a);
  REQUIRE(run_until(loop, [&] { return !a.answered.empty(); }));
  CHECK(c.answered.empty());
  CHECK(b.probed == std::vector<std::string>(b.probed.size(), "a"));
}

TEST_CASE("a machine on which no agent listens says so") {
  boost::asio::io_context loop;
  Side a(loop, "a");
  std::uint16_t port = 0;
  {
    Side gone(loop, "b");
    port = gone.prober.open(0).value();
  }
  a.prober.watch({peer("b", port)});
  probe(loop, a);
  a.up = Duration{2000};
  REQUIRE(run_until(loop, [&] { return !a.refused.empty(); }));
  CHECK(a.refused[0] == std::pair<std::string, Duration>("b", 1000));
  CHECK(a.answered.empty());
}

TEST_CASE("an agent that ends says goodbye to those that have probed it") {
  boost::asio::io_context loop;
  Side a(loop, "a");
  Side b(loop, "b");
  const auto port_a = a.prober.open(0);
  const auto port_b = b.prober.open(0);
  REQUIRE(port_a);
  REQUIRE(port_b);
  a.prober.watch({peer("b", *port_b)});
  b.prober.watch({peer("a", *port_a)});
  b.prober.leave();  // nobody has asked: goodbye would prove nothing
  probe(loop, a);
  REQUIRE(run_until(loop, [&] { return !a.answered.empty(); }));
  CHECK(a.left.empty());
  b.prober.leave();
  REQUIRE(run_until(loop, [&] { return !a.left.empty(); }));
  CHECK(a.left[0] == std::pair<std::string, Duration>("b", 1000));
}
