// Another node's side of the star: dials the first node, proves the key, and speaks with it until
// the common end.
//
// What is sent before the connection stands waits for it. Thread: the loop's.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>

#include "noded/step/frame_stream.h"
#include "noded/step/gang.h"

namespace artel::step {

class GangLeaf : public Gang {
 public:
  GangLeaf(boost::asio::io_context& loop, GangIdentity identity, GangEvents& events);
  ~GangLeaf() override;

  void start(const std::vector<StepPeer>& peers) override;
  void fence(FencePart part) override { send(std::move(part)); }
  void modex_request(ModexRequest request) override;
  void modex_reply(ModexReply reply) override { send(std::move(reply)); }
  void output(OutputLines lines) override;
  [[nodiscard]] std::size_t untaken() const override { return untaken_; }
  void output_taken(std::uint32_t, std::size_t) override {}
  void local_done() override;
  void abort(const Cause& cause) override { send(GangAbort{cause}); }
  void local_gone() override;
  [[nodiscard]] bool settled() const override { return state_ == State::kOver; }

 private:
  enum class State { kIdle, kDialling, kGreeting, kMember, kOver };
  struct Waiting {
    std::string bytes;
    FrameStream::Lane lane;
  };

  void resolve();
  void dial();
  void retry(const std::string& why);
  void greet();
  void root_frame(const std::string& payload);
  void welcomed(const PeerMessage& message);
  void root_message(const PeerMessage& message);
  void root_gone(const std::string& why);
  void send(PeerMessage message, FrameStream::Lane lane = FrameStream::Lane::kControl);
  void over(const std::string& why);

  boost::asio::io_context& loop_;
  GangIdentity identity_;
  GangEvents& events_;
  State state_ = State::kIdle;
  StepPeer root_;
  std::vector<boost::asio::ip::tcp::endpoint> endpoints_;
  std::size_t next_endpoint_ = 0;
  std::unique_ptr<boost::asio::ip::tcp::resolver> resolver_;  // only for names: it starts a thread
  boost::asio::ip::tcp::socket dialling_;
  boost::asio::steady_timer timer_;
  std::chrono::steady_clock::time_point give_up_;
  std::chrono::milliseconds backoff_;
  std::shared_ptr<FrameStream> stream_;
  std::string challenge_;
  std::vector<Waiting> waiting_;
  std::size_t untaken_ = 0;
  bool finishing_ = false;  // local_gone() before the connection stood
  bool done_heard_ = false;
};

}  // namespace artel::step
