// The pipes from the ranks of a node that is not the first: read as fast as they come, passed on in
// whole lines, left alone while too much is queued (then the ranks wait).
//
// Thread: the loop's.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <list>
#include <string>

#include "noded/step/fd.h"
#include "noded/step/line_cutter.h"

namespace artel::step {

class RankPipes {
 public:
  /// Whole lines; `is_error` as of add().
  using Sink = std::function<void(bool is_error, std::string bytes)>;

  RankPipes(boost::asio::io_context& loop, Sink sink) : loop_(loop), sink_(std::move(sink)) {}

  /// Takes the reading end, which must not block.
  void add(Fd pipe, bool is_error);
  void pause();
  void resume();
  /// Reads what is in the pipes without waiting, passes on unfinished lines, too, and closes them.
  /// For when all writers are gone.
  void drain();

 private:
  struct Pipe {
    Pipe(boost::asio::io_context& loop, int fd, bool error) : stream(loop, fd), is_error(error) {}
    boost::asio::posix::stream_descriptor stream;
    bool is_error;
    bool waiting = false;
    LineCutter cutter;
  };

  void wait(Pipe& pipe);
  /// One read of at most kChunk; false at the end or where nothing is there.
  bool read_some(Pipe& pipe);

  boost::asio::io_context& loop_;
  Sink sink_;
  std::list<Pipe> pipes_;
  bool paused_ = false;
};

}  // namespace artel::step
