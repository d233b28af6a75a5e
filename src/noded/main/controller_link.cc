#include "noded/main/controller_link.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <boost/asio/post.hpp>
#include <limits>
#include <utility>

#include "base/text.h"
#include "noded/os/files.h"

namespace artel::noded {
namespace {

constexpr auto kRepeatTrouble = std::chrono::minutes(5);

}  // namespace

ControllerLink::ControllerLink(boost::asio::io_context& loop, rpc::AgentStreamOptions options,
                               StepFolder folder, std::filesystem::path incarnation_file,
                               Events events)
    : loop_(loop),
      address_(options.address),
      folder_(std::move(folder)),
      incarnation_file_(std::move(incarnation_file)),
      events_(std::move(events)),
      stream_(std::move(options),
              {.proved =
                   [this](SessionId session, Incarnation incarnation) {
                     boost::asio::post(loop_, [=, this] { proved(session, incarnation); });
                   },
               .command =
                   [this](SessionId session, ToAgent command) {
                     boost::asio::post(loop_, [this, session, command = std::move(command)] {
                       if (session_ == session) events_.command(command);
                     });
                   },
               .output =
                   [this](SessionId session, rpc::OutputQuestion question) {
                     read_output(session, std::move(question));
                   },
               .answered =
                   [this](SessionId, Duration sent) {
                     boost::asio::post(loop_, [this, sent] { events_.answered(sent); });
                   },
               .lost =
                   [this](SessionId session, Error error) {
                     boost::asio::post(loop_, [this, session, error = std::move(error)] {
                       lost(session, error);
                     });
                   }}) {}

Result<> ControllerLink::load() {
  const auto text = read_file(incarnation_file_, 64);
  if (!text) return text.error().code == ErrorCode::kNotFound ? Result<>{} : fail(text);
  const auto number =
      parse_number(fmt::format("the incarnation in '{}'", incarnation_file_.string()), trim(*text),
                   0, std::numeric_limits<std::uint64_t>::max());
  if (!number) return fail(number);
  obeyed_ = Incarnation{*number};
  return {};
}

void ControllerLink::start() { stream_.start(); }

void ControllerLink::stop() {
  stream_.stop();  // asks the reader
  reader_.stop();  // answers through the stream, which is still there
}

void ControllerLink::send(const FromAgent& message) {
  if (session_) stream_.send(*session_, message);
}

void ControllerLink::proved(SessionId session, Incarnation incarnation) {
  if (const auto obeyed = obey(incarnation); !obeyed) {
    return stream_.close(session, obeyed.error());
  }
  session_ = session;
  last_trouble_.clear();
  spdlog::info("in contact with the controller at {} (incarnation {})", address_,
               incarnation.value);
  stream_.open(session, events_.connected());
}

/// A controller that was replaced and does not know it must not be obeyed.
Result<> ControllerLink::obey(Incarnation incarnation) {
  if (incarnation < obeyed_) {
    return fail(ErrorCode::kWrongState,
                fmt::format("its incarnation {} is older than {}, which this node has obeyed; stop "
                            "it, or restore its newest store",
                            incarnation.value, obeyed_.value));
  }
  if (incarnation == obeyed_) return {};
  const auto kept = replace_file(incarnation_file_, fmt::format("{}\n", incarnation.value), true);
  if (kept) obeyed_ = incarnation;
  return kept;
}

void ControllerLink::lost(SessionId session, const Error& error) {
  const bool was_open = session_ == session;
  const auto now = std::chrono::steady_clock::now();
  if (error.text != last_trouble_ || now - trouble_logged_ > kRepeatTrouble) {
    spdlog::warn("{} the controller at {}: {}; trying again until it answers",
                 was_open ? "lost contact with" : "no contact with", address_, error.text);
    last_trouble_ = error.text;
    trouble_logged_ = now;
  }
  if (!was_open) return;
  session_.reset();
  events_.disconnected();
}

void ControllerLink::read_output(SessionId session, rpc::OutputQuestion question) {
  OutputRequest request;
  request.as_root = question.path.empty();
  request.path = request.as_root ? folder_.directory_of(question.key) /
                                       (question.error_stream ? kSpooledError : kSpooledOutput)
                                 : std::filesystem::path(question.path);
  request.owner = std::move(question.owner);
  request.offset = question.offset;
  request.max_bytes = question.max_bytes;
  reader_.read(
      std::move(request), [this, session, id = question.request](Result<OutputPiece> piece) {
        if (!piece) return stream_.send_output(session, id, fail(piece));
        stream_.send_output(
            session, id,
            rpc::OutputAnswer{.data = std::move(piece->data), .file_size = piece->file_size});
      });
}

}  // namespace artel::noded
