// Small authenticated datagrams between probe peers, once a second in both directions.
//
// A probe is answered by the peer's agent; where no agent listens, the peer's machine says so,
// which is heard as well. What is concluded from it is the core's matter (noded/core/contacts.h).
// An answer counts only for a probe that this process sent a few seconds ago, so old ones may be
// repeated by anybody to no effect. An agent that ends says goodbye, which is another answer to the
// last probe of each peer. Thread: the loop's.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "model/agent_protocol.h"

namespace artel::noded {

class Prober {
 public:
  struct Events {
    /// A probe of this node has come. False: it gets no answer.
    std::function<bool(const std::string& node)> probed;
    /// The node has answered what was sent at this time.
    std::function<void(const std::string& node, Duration sent)> answered;
    /// The node's machine has said that nobody listens there.
    std::function<void(const std::string& node, Duration sent)> refused;
    /// The node's agent ends; it answers what was sent at this time.
    std::function<void(const std::string& node, Duration sent)> left;
  };
  struct Means {
    std::function<std::string(std::string_view key, std::string_view bytes)> seal;  // 32 bytes
    std::function<Duration()> up;  // time since boot
  };

  Prober(boost::asio::io_context& loop, std::string node, Means means, Events events);
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;
  ~Prober();

  /// Listens on the port, 0: on any; gives the port. Error: kIo.
  Result<std::uint16_t> open(std::uint16_t port);
  /// From now on these, and no others.
  void watch(const std::vector<ProbePeer>& peers);
  /// One probe to each peer.
  void probe();
  /// Goodbye to all peers that have probed this node lately; nothing else is sent after it.
  void leave();
  /// probe() every second for as long as the loop runs.
  void start();

 private:
  using Udp = boost::asio::ip::udp;
  struct Peer;
  using Buffer = std::array<char, 512>;

  struct Datagram {
    char kind{};
    Duration sent{};
    std::string from;
  };
  [[nodiscard]] std::string write(const Datagram& datagram, const Peer& to) const;
  /// The sender's peer; null where it is none of ours or has not sealed it.
  [[nodiscard]] std::shared_ptr<Peer> read(std::string_view bytes, Datagram& out) const;
  void listen();
  void heard(std::size_t size);
  void resolve(const std::shared_ptr<Peer>& peer);
  void receive(const std::shared_ptr<Peer>& peer);
  void received(const std::shared_ptr<Peer>& peer, const boost::system::error_code& error,
                std::size_t size);

  boost::asio::io_context& loop_;
  const std::string node_;
  const Means means_;
  const Events events_;
  Udp::socket socket_;
  Udp::endpoint sender_;
  Buffer buffer_{};
  boost::asio::steady_timer timer_;
  std::map<std::string, std::shared_ptr<Peer>> peers_;
};

}  // namespace artel::noded
