#include "noded/step/gang_root.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "noded/step/auth.h"
#include "noded/step/log.h"
#include "noded/step/tcp_options.h"
#include "wire/step/step_wire.h"

namespace artel::step {
namespace {

using boost::asio::ip::tcp;

/// A daemon says hello and proves its key at once; a stranger gets no longer.
constexpr std::chrono::seconds kHandshakeTime{10};
/// All agents are told to start at the same time; one that is reconnecting may be later.
constexpr std::chrono::seconds kMissingTime{60};
constexpr std::size_t kHandshakeFrame = 4096;
constexpr std::uint64_t kMostDropsTold = 20;
/// As a PMIx status: not found.
constexpr std::int32_t kNotFound = -46;

template <typename... Handlers>
struct Overload : Handlers... {
  using Handlers::operator()...;
};

}  // namespace

GangRoot::GangRoot(boost::asio::io_context& loop, GangIdentity identity, GangEvents& events)
    : loop_(loop),
      identity_(std::move(identity)),
      events_(events),
      acceptor_(loop),
      missing_(loop),
      members_(identity_.nodes.size()),
      fences_(static_cast<std::uint32_t>(identity_.nodes.size()), identity_.ranks_per_node) {}

GangRoot::~GangRoot() {
  for (const GuestRef& guest : guests_) guest->stream->close();
  for (Member& member : members_) {
    if (member.stream) member.stream->close();
  }
}

Result<std::uint16_t> GangRoot::listen() {
  boost::system::error_code error;
  acceptor_.open(tcp::v6(), error);
  if (!error) {
    acceptor_.set_option(boost::asio::ip::v6_only(false), error);
    if (!error) acceptor_.bind({tcp::v6(), 0}, error);
  }
  if (error) {  // a machine without IPv6
    acceptor_.close(error);
    acceptor_.open(tcp::v4(), error);
    if (!error) acceptor_.bind({tcp::v4(), 0}, error);
  }
  if (!error) acceptor_.listen(boost::asio::socket_base::max_listen_connections, error);
  if (error) {
    return fail(ErrorCode::kIo, fmt::format("cannot listen for the other nodes on {}: {}",
                                            identity_.nodes.front(), error.message()));
  }
  if (members_.size() > 1) accept();
  return acceptor_.local_endpoint().port();
}

void GangRoot::start(const std::vector<StepPeer>&) {
  if (members_.size() == 1) return;
  missing_.expires_after(kMissingTime);
  missing_.async_wait([this](const boost::system::error_code& error) {
    if (error || aborted_ || all_done_) return;
    for (std::uint32_t node = 1; node < members_.size(); ++node) {
      if (members_[node].was_here) continue;
      return abort(lost(
          node, fmt::format("it made no contact within {} s of the start", kMissingTime.count())));
    }
  });
}

// Strangers ---------------------------------------------------------------------------------

void GangRoot::accept() {
  acceptor_.async_accept([this](const boost::system::error_code& error, tcp::socket socket) {
    if (error == boost::asio::error::operation_aborted) return;
    if (!error) admit_guest(std::move(socket));
    accept();
  });
}

void GangRoot::admit_guest(tcp::socket socket) {
  // A flood of strangers pushes out the oldest of them, never a member.
  if (guests_.size() >= 2 * members_.size()) drop(guests_.front(), "too many connections");
  set_gang_options(socket);
  const auto guest =
      std::make_shared<Guest>(Guest{nullptr, "", std::nullopt, boost::asio::steady_timer(loop_)});
  guests_.push_back(guest);
  FrameStream::Handlers handlers;
  handlers.frame = [this, guest](const std::string& payload) { guest_frame(guest, payload); };
  handlers.closed = [this, guest](const std::string& why) { drop(guest, why); };
  guest->stream =
      std::make_shared<FrameStream>(FrameStream::Socket(std::move(socket)), std::move(handlers));
  guest->stream->limit(kHandshakeFrame);
  guest->deadline.expires_after(kHandshakeTime);
  guest->deadline.async_wait([this, guest](const boost::system::error_code& error) {
    if (!error) drop(guest, "no proof in time");
  });
  guest->stream->start();
}

void GangRoot::guest_frame(const GuestRef& guest, const std::string& payload) {
  const Result<PeerMessage> message = wire::decode_peer_message(payload);
  if (!message) return drop(guest, message.error().text);
  if (!guest->node) {
    if (!greet(*guest, *message)) drop(guest, "a hello for another attempt or node");
    return;
  }
  const auto* proof = std::get_if<PeerProof>(&*message);
  const std::string wanted = peer_proof(identity_.step_key, guest->challenge, *guest->node);
  if (proof == nullptr || !same_proof(proof->proof, wanted)) return drop(guest, "a wrong proof");
  if (members_[*guest->node].was_here) return drop(guest, "a node that was here already");
  promote(guest);
}

bool GangRoot::greet(Guest& guest, const PeerMessage& message) {
  const auto* hello = std::get_if<PeerHello>(&message);
  if (hello == nullptr || hello->version != kStepProtocolVersion || hello->key != identity_.key ||
      hello->node_index == 0 || hello->node_index >= members_.size()) {
    return false;
  }
  guest.node = hello->node_index;
  guest.challenge = make_challenge();
  const PeerWelcome welcome{guest.challenge,
                            root_proof(identity_.step_key, hello->challenge, hello->node_index)};
  guest.stream->send(wire::encode(PeerMessage(welcome)));
  return true;
}

void GangRoot::drop(const GuestRef& guest, const std::string& why) {
  if (std::exchange(guest->gone, true)) return;
  // A flood must not fill the log.
  if (++dropped_ <= kMostDropsTold) {
    log_line(fmt::format("a connection to the gang's port is dropped: {}", why));
  }
  guest->deadline.cancel();
  guest->stream->close();
  guests_.remove(GuestRef(guest));
}

void GangRoot::promote(const GuestRef& guest) {
  const std::uint32_t node = *guest->node;
  Member& member = members_[node];
  member.stream = guest->stream;
  member.was_here = true;
  FrameStream::Handlers handlers;
  handlers.frame = [this, node](const std::string& payload) { member_frame(node, payload); };
  handlers.closed = [this, node](const std::string& why) { member_gone(node, why); };
  member.stream->limit(wire::kMaxFrame);
  member.stream->hand_over(std::move(handlers));
  if (aborted_) send(node, GangAbort{*aborted_});
  for (const ModexRequest& request : std::exchange(member.early, {})) send(node, request);
  guest->gone = true;
  guest->deadline.cancel();
  guests_.remove(GuestRef(guest));
}

// Members -----------------------------------------------------------------------------------

void GangRoot::member_frame(std::uint32_t node, const std::string& payload) {
  Result<PeerMessage> message = wire::decode_peer_message(payload);
  if (message) return member_message(node, std::move(*message));
  members_[node].stream->close();
  member_gone(node, message.error().text);
}

void GangRoot::member_message(std::uint32_t node, PeerMessage message) {
  std::visit(Overload{[&](FencePart& part) { take_part(node, std::move(part)); },
                      [&](ModexRequest& request) { route(node, request); },
                      [&](ModexReply& reply) { route(std::move(reply)); },
                      [&](const GangAbort& told) { abort(told.cause); },
                      [&](const GangDone&) {
                        members_[node].done = true;
                        check_done();
                      },
                      [&](OutputLines& lines) { events_.output_came(node, std::move(lines)); },
                      [&](const auto&) { log_line("a handshake message out of its time"); }},
             message);
}

void GangRoot::member_gone(std::uint32_t node, const std::string& why) {
  Member& member = members_[node];
  member.stream = nullptr;
  if (!member.done && !aborted_ && !all_done_) abort(lost(node, why));
  events_.gang_changed();
}

Cause GangRoot::lost(std::uint32_t node, const std::string& why) const {
  const std::string& name = identity_.nodes[node];
  return {.actor = Actor::kNode,
          .code = CauseCode::kStepLost,
          .node = name,
          .text = fmt::format("the step daemon on {} was lost: {}", name, why)};
}

void GangRoot::send(std::uint32_t node, const PeerMessage& message) {
  if (members_[node].stream) members_[node].stream->send(wire::encode(message));
}

void GangRoot::broadcast(const PeerMessage& message) {
  const std::string bytes = wire::encode(message);
  for (const Member& member : members_) {
    if (member.stream) member.stream->send(bytes);
  }
}

// Collectives -------------------------------------------------------------------------------

void GangRoot::fence(FencePart part) { take_part(0, std::move(part)); }

void GangRoot::take_part(std::uint32_t node, FencePart part) {
  Result<std::optional<FenceTable::Complete>> added = fences_.add(node, std::move(part));
  if (!added) return log_line(added.error().text);
  if (!added->has_value()) return;
  FenceTable::Complete& complete = **added;
  const std::string bytes = wire::encode(PeerMessage(complete.result));
  for (const std::uint32_t member : complete.nodes) {
    if (member != 0 && members_[member].stream) members_[member].stream->send(bytes);
  }
  if (complete.nodes.front() != 0) return;
  boost::asio::post(
      loop_, [this, result = std::move(complete.result)] { events_.fence_complete(result); });
}

void GangRoot::modex_request(ModexRequest request) { route(0, request); }

void GangRoot::route(std::uint32_t from, ModexRequest request) {
  request.from_node = from;
  const std::uint32_t target = request.rank / identity_.ranks_per_node;
  if (target == 0) {
    boost::asio::post(loop_, [this, request] { events_.modex_wanted(request); });
  } else if (target < members_.size() && members_[target].stream) {
    send(target, request);
  } else if (target < members_.size() && !members_[target].was_here) {
    members_[target].early.push_back(request);
  } else {
    route(ModexReply{request.request, from, kNotFound, ""});
  }
}

void GangRoot::modex_reply(ModexReply reply) { route(std::move(reply)); }

void GangRoot::route(ModexReply reply) {
  if (reply.to_node == 0) {
    boost::asio::post(loop_, [this, moved = std::move(reply)] { events_.modex_answered(moved); });
  } else if (reply.to_node < members_.size()) {
    send(reply.to_node, reply);
  }
}

// Output and end ----------------------------------------------------------------------------

void GangRoot::output(OutputLines lines) { events_.output_came(0, std::move(lines)); }

void GangRoot::output_taken(std::uint32_t from, std::size_t bytes) {
  send(from, OutputTaken{bytes});
}

void GangRoot::local_done() {
  members_[0].done = true;
  check_done();
}

void GangRoot::check_done() {
  if (all_done_ || aborted_) return;
  if (!std::all_of(members_.begin(), members_.end(), [](const Member& m) { return m.done; }))
    return;
  all_done_ = true;
  missing_.cancel();
  broadcast(GangDone{0});
  boost::asio::post(loop_, [this] { events_.gang_done(); });
}

void GangRoot::abort(const Cause& cause) {
  if (aborted_ || all_done_) return;
  aborted_ = cause;
  missing_.cancel();
  broadcast(GangAbort{cause});
  events_.gang_aborted(cause);
}

bool GangRoot::settled() const {
  return std::none_of(members_.begin(), members_.end(),
                      [](const Member& member) { return member.stream != nullptr; });
}

}  // namespace artel::step
