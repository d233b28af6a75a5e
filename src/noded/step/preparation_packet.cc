#include "noded/step/preparation_packet.h"

#include <sys/socket.h>

#include <array>
#include <charconv>
#include <cstring>
#include <span>
#include <vector>

namespace artel::step {
namespace {

// Fields end with NUL, which none of them contains: refusal: "no" code text; else: "ok" name home
// shell uid gid has-error groups...
constexpr std::size_t kMaxPacket = 128U << 10U;
constexpr std::size_t kMaxFiles = 2;

void add(std::string& out, std::string_view field) {
  out += field;
  out += '\0';
}

std::string encode(const PreparationOutcome& outcome) {
  std::string out;
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    add(out, "no");
    add(out, std::to_string(static_cast<int>(refusal->code)));
    add(out, refusal->text);
    return out;
  }
  const auto& prepared = std::get<Prepared>(outcome);
  add(out, "ok");
  add(out, prepared.account.name);
  add(out, prepared.account.home);
  add(out, prepared.account.shell);
  add(out, std::to_string(prepared.account.uid));
  add(out, std::to_string(prepared.account.gid));
  for (const gid_t group : prepared.account.groups) add(out, std::to_string(group));
  return out;
}

std::uint32_t number(std::string_view text) {
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<std::string_view> fields_of(std::string_view packet) {
  std::vector<std::string_view> out;
  while (!packet.empty()) {
    const std::size_t end = std::min(packet.find('\0'), packet.size());
    out.push_back(packet.substr(0, end));
    packet.remove_prefix(std::min(end + 1, packet.size()));
  }
  return out;
}

PreparationOutcome decode(std::string_view packet, std::array<Fd, kMaxFiles>& files) {
  const auto fields = fields_of(packet);
  if (fields.size() == 3 && fields[0] == "no") {
    return Refusal{static_cast<CauseCode>(number(fields[1])), std::string(fields[2])};
  }
  if (fields.size() < 6 || fields[0] != "ok") {
    return Refusal{CauseCode::kPrepareRefused, "the preparing process ended without an answer"};
  }
  Prepared out;
  out.account = {.name = std::string(fields[1]),
                 .home = std::string(fields[2]),
                 .shell = std::string(fields[3]),
                 .uid = number(fields[4]),
                 .gid = number(fields[5])};
  for (std::size_t i = 6; i < fields.size(); ++i) out.account.groups.push_back(number(fields[i]));
  out.output = std::move(files[0]);
  out.error = std::move(files[1]);
  return out;
}

std::size_t collect_files(const PreparationOutcome& outcome, std::array<int, kMaxFiles>& out) {
  const auto* prepared = std::get_if<Prepared>(&outcome);
  std::size_t count = 0;
  if (prepared != nullptr && prepared->output.valid()) out.at(count++) = prepared->output.get();
  if (prepared != nullptr && prepared->error.valid()) out.at(count++) = prepared->error.get();
  return count;
}

}  // namespace

void send_outcome(int channel, const PreparationOutcome& outcome) {
  std::string bytes = encode(outcome);
  bytes.resize(std::min(bytes.size(), kMaxPacket));
  std::array<int, kMaxFiles> files{};
  const std::size_t count = collect_files(outcome, files);
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof files)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (count > 0) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * count);
    std::memcpy(CMSG_DATA(header), files.data(), sizeof(int) * count);
  }
  [[maybe_unused]] const ssize_t sent = ::sendmsg(channel, &message, MSG_NOSIGNAL);
}

PreparationOutcome receive_outcome(int channel) {
  // No more memory than the packet has: each page that a process touches first costs a fault.
  const ssize_t length = ::recv(channel, nullptr, 0, MSG_PEEK | MSG_TRUNC);
  std::string bytes(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxFiles)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = ::recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
  std::array<Fd, kMaxFiles> files;
  if (cmsghdr* header = CMSG_FIRSTHDR(&message); size > 0 && header != nullptr) {
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < std::min(count, kMaxFiles); ++i) {
      int file = -1;
      std::memcpy(&file, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      files.at(i).reset(file);
    }
  }
  return decode(std::string_view(bytes).substr(0, size > 0 ? static_cast<std::size_t>(size) : 0),
                files);
}

}  // namespace artel::step
