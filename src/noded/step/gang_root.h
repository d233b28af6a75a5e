// The first node's side of the star: listens, admits daemons that know the attempt's key, gathers
// and passes on.
//
// Invariants: I1 nothing but the handshake is read from a connection that has not proved the key.
// I2 the first abort is passed to all, also to those that connect later. I3 GangDone is sent only
// after all nodes sent theirs.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "noded/step/fence_table.h"
#include "noded/step/frame_stream.h"
#include "noded/step/gang.h"

namespace artel::step {

class GangRoot : public Gang {
 public:
  GangRoot(boost::asio::io_context& loop, GangIdentity identity, GangEvents& events);
  ~GangRoot() override;

  /// On any address, on a free port. Error: kIo.
  Result<std::uint16_t> listen();

  void start(const std::vector<StepPeer>& peers) override;
  void fence(FencePart part) override;
  void modex_request(ModexRequest request) override;
  void modex_reply(ModexReply reply) override;
  void output(OutputLines lines) override;
  [[nodiscard]] std::size_t untaken() const override { return 0; }
  void output_taken(std::uint32_t from, std::size_t bytes) override;
  void local_done() override;
  void abort(const Cause& cause) override;
  void local_gone() override {}
  [[nodiscard]] bool settled() const override;

 private:
  /// A connection before its proof.
  struct Guest {
    std::shared_ptr<FrameStream> stream;
    std::string challenge;  // ours, once the hello came
    std::optional<std::uint32_t> node;
    boost::asio::steady_timer deadline;
    bool gone = false;
  };
  using GuestRef = std::shared_ptr<Guest>;
  struct Member {
    std::shared_ptr<FrameStream> stream;  // null: not connected, or gone
    bool was_here = false;
    std::vector<ModexRequest> early;  // came before the node did
    bool done = false;
  };

  void accept();
  void admit_guest(boost::asio::ip::tcp::socket socket);
  void guest_frame(const GuestRef& guest, const std::string& payload);
  bool greet(Guest& guest, const PeerMessage& message);
  void promote(const GuestRef& guest);
  void drop(const GuestRef& guest, const std::string& why);
  void member_frame(std::uint32_t node, const std::string& payload);
  void member_message(std::uint32_t node, PeerMessage message);
  void member_gone(std::uint32_t node, const std::string& why);
  void take_part(std::uint32_t node, FencePart part);
  void route(std::uint32_t from, ModexRequest request);
  void route(ModexReply reply);
  void send(std::uint32_t node, const PeerMessage& message);
  void broadcast(const PeerMessage& message);
  void check_done();
  [[nodiscard]] Cause lost(std::uint32_t node, const std::string& why) const;

  boost::asio::io_context& loop_;
  GangIdentity identity_;
  GangEvents& events_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer missing_;
  std::list<GuestRef> guests_;   // oldest first
  std::vector<Member> members_;  // by node index; 0 is this node
  FenceTable fences_;
  std::optional<Cause> aborted_;
  std::uint64_t dropped_ = 0;
  bool all_done_ = false;
};

}  // namespace artel::step
