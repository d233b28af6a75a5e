#include "noded/step/gang_leaf.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "noded/step/auth.h"
#include "noded/step/log.h"
#include "noded/step/tcp_options.h"
#include "wire/step/step_wire.h"

namespace artel::step {
namespace {

using boost::asio::ip::tcp;

/// The first node listens since it was ready, so it is there at once, or the network is not.
constexpr std::chrono::seconds kDialTime{10};
constexpr std::chrono::seconds kOneTry{3};
constexpr std::chrono::milliseconds kFirstBackoff{20};
constexpr std::chrono::milliseconds kLongestBackoff{500};
/// Longest piece of output in one message, so that messages of the other lane do not wait long.
constexpr std::size_t kPiece = 256U << 10U;

}  // namespace

GangLeaf::GangLeaf(boost::asio::io_context& loop, GangIdentity identity, GangEvents& events)
    : loop_(loop),
      identity_(std::move(identity)),
      events_(events),
      dialling_(loop),
      timer_(loop),
      backoff_(kFirstBackoff) {}

GangLeaf::~GangLeaf() {
  if (stream_) stream_->close();
}

void GangLeaf::start(const std::vector<StepPeer>& peers) {
  root_ = peers.front();
  give_up_ = std::chrono::steady_clock::now() + kDialTime;
  state_ = State::kDialling;
  resolve();
}

void GangLeaf::resolve() {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(root_.address, error);
  if (!error) {
    endpoints_ = {{address, root_.port}};
    return dial();
  }
  resolver_ = std::make_unique<tcp::resolver>(loop_);
  resolver_->async_resolve(
      root_.address, std::to_string(root_.port), tcp::resolver::numeric_service,
      [this](const boost::system::error_code& failed, const tcp::resolver::results_type& found) {
        if (state_ != State::kDialling) return;
        if (failed) return retry(failed.message());
        endpoints_.clear();
        for (const auto& entry : found) endpoints_.push_back(entry.endpoint());
        dial();
      });
}

void GangLeaf::dial() {
  const tcp::endpoint endpoint = endpoints_[next_endpoint_++ % endpoints_.size()];
  dialling_ = tcp::socket(loop_);
  timer_.expires_after(kOneTry);
  timer_.async_wait([this](const boost::system::error_code& error) {
    boost::system::error_code ignored;
    if (!error && state_ == State::kDialling) dialling_.close(ignored);
  });
  dialling_.async_connect(endpoint, [this](const boost::system::error_code& error) {
    if (state_ != State::kDialling) return;
    timer_.cancel();
    if (error == boost::asio::error::operation_aborted) return retry("no answer");
    if (error) return retry(error.message());
    greet();
  });
}

void GangLeaf::retry(const std::string& why) {
  state_ = State::kDialling;
  if (std::chrono::steady_clock::now() + backoff_ >= give_up_) {
    return over(fmt::format("no connection to {} port {} within {} s: {}", root_.address,
                            root_.port, kDialTime.count(), why));
  }
  timer_.expires_after(backoff_);
  backoff_ = std::min(backoff_ * 2, kLongestBackoff);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || state_ != State::kDialling) return;
    endpoints_.empty() ? resolve() : dial();
  });
}

void GangLeaf::greet() {
  state_ = State::kGreeting;
  set_gang_options(dialling_);
  FrameStream::Handlers handlers;
  handlers.frame = [this](const std::string& payload) { root_frame(payload); };
  handlers.closed = [this](const std::string& why) { root_gone(why); };
  stream_ =
      std::make_shared<FrameStream>(FrameStream::Socket(std::move(dialling_)), std::move(handlers));
  challenge_ = make_challenge();
  stream_->start();
  stream_->send(wire::encode(PeerMessage(PeerHello{.version = kStepProtocolVersion,
                                                   .key = identity_.key,
                                                   .node_index = identity_.node_index,
                                                   .challenge = challenge_})));
}

void GangLeaf::root_frame(const std::string& payload) {
  const Result<PeerMessage> message = wire::decode_peer_message(payload);
  if (!message) {
    stream_->close();
    return root_gone(message.error().text);
  }
  state_ == State::kGreeting ? welcomed(*message) : root_message(*message);
}

void GangLeaf::welcomed(const PeerMessage& message) {
  const auto* welcome = std::get_if<PeerWelcome>(&message);
  const std::string wanted = root_proof(identity_.step_key, challenge_, identity_.node_index);
  if (welcome == nullptr || !same_proof(welcome->proof, wanted)) {
    stream_->close();
    return over("it does not know the key of the attempt");
  }
  state_ = State::kMember;
  const PeerProof proof{peer_proof(identity_.step_key, welcome->challenge, identity_.node_index)};
  stream_->send(wire::encode(PeerMessage(proof)));
  for (const Waiting& waiting : std::exchange(waiting_, {})) {
    stream_->send(waiting.bytes, waiting.lane);
  }
  if (finishing_) stream_->finish();
}

void GangLeaf::root_message(const PeerMessage& message) {
  if (const auto* part = std::get_if<FencePart>(&message)) return events_.fence_complete(*part);
  if (const auto* request = std::get_if<ModexRequest>(&message)) {
    return events_.modex_wanted(*request);
  }
  if (const auto* reply = std::get_if<ModexReply>(&message)) return events_.modex_answered(*reply);
  if (const auto* told = std::get_if<GangAbort>(&message)) return events_.gang_aborted(told->cause);
  if (std::holds_alternative<GangDone>(message)) {
    done_heard_ = true;
    return events_.gang_done();
  }
  if (const auto* taken = std::get_if<OutputTaken>(&message)) {
    untaken_ -= std::min<std::uint64_t>(taken->bytes, untaken_);
    return events_.gang_changed();
  }
  log_line("a message out of its time from the first node");
}

void GangLeaf::root_gone(const std::string& why) {
  // Before its welcome the root may have had too many strangers at its door.
  if (state_ == State::kGreeting) return retry(why);
  over(why);
}

void GangLeaf::over(const std::string& why) {
  if (std::exchange(state_, State::kOver) == State::kOver) return;
  stream_ = nullptr;
  untaken_ = 0;  // nobody takes it any more, and ranks that end must not wait for that
  if (done_heard_) return;
  const std::string& name = identity_.nodes.front();
  events_.gang_lost({.actor = Actor::kNode,
                     .code = CauseCode::kStepLost,
                     .node = name,
                     .text = fmt::format("the step daemon on {} was lost: {}", name, why)});
  events_.gang_changed();
}

void GangLeaf::modex_request(ModexRequest request) {
  request.from_node = identity_.node_index;
  send(request);
}

void GangLeaf::output(OutputLines lines) {
  if (state_ == State::kOver) return;
  untaken_ += lines.bytes.size();
  while (lines.bytes.size() > kPiece) {
    send(OutputLines{lines.is_error, lines.bytes.substr(0, kPiece)}, FrameStream::Lane::kBulk);
    lines.bytes.erase(0, kPiece);
  }
  send(std::move(lines), FrameStream::Lane::kBulk);
}

void GangLeaf::send(PeerMessage message, FrameStream::Lane lane) {
  if (state_ == State::kOver) return;
  std::string bytes = wire::encode(message);
  if (bytes.size() > wire::kMaxFrame) return log_line("a message over the limit is dropped");
  if (state_ == State::kMember) return stream_->send(bytes, lane);
  waiting_.push_back({std::move(bytes), lane});
}

void GangLeaf::local_done() {
  // Behind the output.
  send(GangDone{identity_.node_index}, FrameStream::Lane::kBulk);
}

void GangLeaf::local_gone() {
  finishing_ = true;
  if (state_ == State::kMember) stream_->finish();
  if (state_ == State::kIdle) state_ = State::kOver;
}

}  // namespace artel::step
