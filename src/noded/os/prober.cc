#include "noded/os/prober.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <deque>
#include <optional>
#include <utility>

namespace artel::noded {
namespace {

constexpr std::string_view kMagic = "AP1";
constexpr std::size_t kSealBytes = 32;
constexpr std::size_t kTimeBytes = 8;
/// Magic, kind, time, length of the name.
constexpr std::size_t kHeadBytes = 3 + 1 + kTimeBytes + 1;
constexpr char kProbe = 'p';
constexpr char kAnswer = 'a';
constexpr char kGoodbye = 'g';
constexpr auto kEvery = std::chrono::seconds(1);
/// Probes whose answer is still believed.
constexpr std::size_t kOutstanding = 5;
constexpr std::size_t kLongestName = 255;

std::string time_bytes(Duration time) {
  std::string out;
  auto value = static_cast<std::uint64_t>(time.count());
  for (std::size_t i = 0; i < kTimeBytes; ++i, value >>= 8U)
    out.push_back(static_cast<char>(value & 0xffU));
  return out;
}

Duration read_time(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = kTimeBytes; i-- > 0;)
    value = value << 8U | static_cast<unsigned char>(bytes[i]);
  return Duration{static_cast<std::int64_t>(value)};
}

bool same(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    difference |= static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]);
  return difference == 0;
}

}  // namespace

struct Prober::Peer {
  Peer(boost::asio::io_context& loop, ProbePeer of)
      : peer(std::move(of)), resolver(loop), socket(loop) {}

  ProbePeer peer;
  Udp::resolver resolver;
  Udp::socket socket;  // connected, so that it hears of refusals
  bool is_resolving = false;
  bool is_gone = false;
  Buffer buffer{};
  std::deque<Duration> outstanding;
  std::deque<Duration> recent;  // with those that were answered: a goodbye may follow
  struct Asked {
    Duration sent;  // by the peer's clock
    Udp::endpoint from;
  };
  std::optional<Asked> asked;  // its last probe
};

Prober::Prober(boost::asio::io_context& loop, std::string node, Means means, Events events)
    : loop_(loop),
      node_(std::move(node)),
      means_(std::move(means)),
      events_(std::move(events)),
      socket_(loop),
      timer_(loop) {}

Prober::~Prober() { watch({}); }

Result<std::uint16_t> Prober::open(std::uint16_t port) {
  boost::system::error_code error;
  socket_.open(Udp::v6(), error);
  if (!error) socket_.set_option(boost::asio::ip::v6_only(false), error);
  if (!error) {
    socket_.bind({Udp::v6(), port}, error);
  } else {  // a machine without IPv6
    if (socket_.is_open()) socket_.close();
    socket_.open(Udp::v4(), error);
    if (!error) socket_.bind({Udp::v4(), port}, error);
  }
  if (!error) socket_.non_blocking(true, error);
  if (error) {
    if (socket_.is_open()) socket_.close();
    return fail(ErrorCode::kIo,
                fmt::format("cannot listen for probes on UDP port {}: {}", port, error.message()));
  }
  listen();
  return socket_.local_endpoint().port();
}

void Prober::watch(const std::vector<ProbePeer>& peers) {
  std::map<std::string, std::shared_ptr<Peer>> next;
  for (const ProbePeer& peer : peers) {
    const auto known = peers_.find(peer.node);
    const bool same_peer = known != peers_.end() && known->second->peer == peer;
    next.emplace(peer.node, same_peer ? known->second : std::make_shared<Peer>(loop_, peer));
  }
  for (const auto& [name, peer] : peers_) {
    const auto kept = next.find(name);
    if (kept != next.end() && kept->second == peer) continue;
    peer->is_gone = true;
    peer->resolver.cancel();
    boost::system::error_code ignored;
    if (peer->socket.is_open()) peer->socket.close(ignored);
  }
  peers_ = std::move(next);
}

void Prober::probe() {
  for (const auto& [name, peer] : peers_) {
    if (!peer->socket.is_open()) {
      resolve(peer);
      continue;
    }
    const Duration sent = means_.up();
    peer->outstanding.push_back(sent);
    if (peer->outstanding.size() > kOutstanding) peer->outstanding.pop_front();
    peer->recent.push_back(sent);
    if (peer->recent.size() > kOutstanding) peer->recent.pop_front();
    boost::system::error_code ignored;  // a refusal that came late; the next receive tells it
    peer->socket.send(boost::asio::buffer(write({kProbe, sent, node_}, *peer)), 0, ignored);
  }
}

void Prober::leave() {
  for (const auto& [name, peer] : peers_) {
    if (!peer->asked || !socket_.is_open()) continue;
    const std::string bytes = write({kGoodbye, peer->asked->sent, node_}, *peer);
    boost::system::error_code ignored;  // the peer then takes us for crashed
    socket_.send_to(boost::asio::buffer(bytes), peer->asked->from, 0, ignored);
  }
}

void Prober::start() {
  timer_.expires_after(kEvery);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    probe();
    start();
  });
}

std::string Prober::write(const Datagram& datagram, const Peer& to) const {
  std::string out(kMagic);
  out.push_back(datagram.kind);
  out += time_bytes(datagram.sent);
  const std::string name = node_.substr(0, kLongestName);
  out.push_back(static_cast<char>(static_cast<unsigned char>(name.size())));
  out += name;
  // With the receiver's name in the seal nobody can send it back to its sender.
  return out + means_.seal(to.peer.key, out + to.peer.node);
}

std::shared_ptr<Prober::Peer> Prober::read(std::string_view bytes, Datagram& out) const {
  if (bytes.size() < kHeadBytes + kSealBytes || !bytes.starts_with(kMagic)) return nullptr;
  const std::size_t length = static_cast<unsigned char>(bytes[kHeadBytes - 1]);
  if (bytes.size() != kHeadBytes + length + kSealBytes) return nullptr;
  out.kind = bytes[kMagic.size()];
  if (out.kind != kProbe && out.kind != kAnswer && out.kind != kGoodbye) return nullptr;
  out.sent = read_time(bytes.substr(kMagic.size() + 1));
  out.from = std::string(bytes.substr(kHeadBytes, length));
  const auto peer = peers_.find(out.from);
  if (peer == peers_.end()) return nullptr;
  const std::string text = std::string(bytes.substr(0, kHeadBytes + length)) + node_;
  const std::string_view sealed = bytes.substr(kHeadBytes + length);
  return same(means_.seal(peer->second->peer.key, text), sealed) ? peer->second : nullptr;
}

void Prober::listen() {
  socket_.async_receive_from(boost::asio::buffer(buffer_), sender_,
                             [this](const boost::system::error_code& error, std::size_t size) {
                               if (error == boost::asio::error::operation_aborted) return;
                               if (!error) heard(size);
                               listen();
                             });
}

void Prober::heard(std::size_t size) {
  Datagram datagram;
  const auto peer = read({buffer_.data(), size}, datagram);
  if (!peer || datagram.kind != kProbe || !events_.probed(datagram.from)) return;
  peer->asked = {datagram.sent, sender_};
  boost::system::error_code ignored;  // the next probe will be answered
  socket_.send_to(boost::asio::buffer(write({kAnswer, datagram.sent, node_}, *peer)), sender_, 0,
                  ignored);
}

void Prober::resolve(const std::shared_ptr<Peer>& peer) {
  if (std::exchange(peer->is_resolving, true)) return;
  peer->resolver.async_resolve(
      peer->peer.address, std::to_string(peer->peer.port),
      [this, peer](const boost::system::error_code& error, const Udp::resolver::results_type& all) {
        peer->is_resolving = false;
        if (error || all.empty() || peer->is_gone) return;
        boost::system::error_code failed;
        const Udp::endpoint to = all.begin()->endpoint();
        peer->socket.open(to.protocol(), failed);
        if (!failed) peer->socket.connect(to, failed);
        if (!failed) peer->socket.non_blocking(true, failed);
        if (failed) {
          if (peer->socket.is_open()) peer->socket.close(failed);
          return;
        }
        receive(peer);
      });
}

void Prober::receive(const std::shared_ptr<Peer>& peer) {
  peer->socket.async_receive(
      boost::asio::buffer(peer->buffer),
      [this, peer](const boost::system::error_code& error, std::size_t size) {
        if (error == boost::asio::error::operation_aborted || peer->is_gone) return;
        received(peer, error, size);
        receive(peer);
      });
}

void Prober::received(const std::shared_ptr<Peer>& peer, const boost::system::error_code& error,
                      std::size_t size) {
  if (error) {
    // Which of them was refused is not said; the oldest is on the safe side.
    if (error == boost::asio::error::connection_refused && !peer->outstanding.empty())
      events_.refused(peer->peer.node, peer->outstanding.front());
    return;
  }
  Datagram datagram;
  if (read({peer->buffer.data(), size}, datagram) != peer || datagram.kind == kProbe) return;
  if (datagram.kind == kGoodbye) {
    if (std::ranges::find(peer->recent, datagram.sent) != peer->recent.end())
      events_.left(peer->peer.node, datagram.sent);
    return;
  }
  auto& open = peer->outstanding;
  const auto sent = std::ranges::find(open, datagram.sent);
  if (sent == open.end()) return;
  open.erase(open.begin(), sent + 1);
  events_.answered(peer->peer.node, datagram.sent);
}

}  // namespace artel::noded
