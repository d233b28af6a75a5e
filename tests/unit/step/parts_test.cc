// The small parts: lines, proofs, programs, the packet of the preparing child.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "noded/step/auth.h"
#include "noded/step/line_cutter.h"
#include "noded/step/preparation_packet.h"
#include "noded/step/process_tree.h"
#include "noded/step/program.h"

using namespace artel;
using namespace artel::step;

TEST_CASE("whole lines are passed on, the unfinished one is kept", "[step]") {
  LineCutter cutter;
  CHECK(cutter.push("one\ntw") == "one\n");
  CHECK(cutter.push("o").empty());
  CHECK(cutter.push("\nthree\nfo") == "two\nthree\n");
  CHECK(cutter.rest() == "fo");
  CHECK(cutter.rest().empty());
}

TEST_CASE("a carriage return ends a line, too", "[step]") {
  LineCutter cutter;
  CHECK(cutter.push("10%\r20") == "10%\r");
}

TEST_CASE("a line over the limit is passed on in pieces", "[step]") {
  LineCutter cutter;
  CHECK(cutter.push(std::string(LineCutter::kLongest, 'a')).empty());
  CHECK(cutter.push("a").size() == LineCutter::kLongest + 1);
  CHECK(cutter.rest().empty());
}

TEST_CASE("proofs differ by side, challenge, node and key", "[step]") {
  const std::string challenge = make_challenge();
  CHECK(challenge.size() == kChallengeSize);
  CHECK(challenge != make_challenge());
  const std::string proof = root_proof("key", challenge, 1);
  CHECK(proof.size() == 32);
  CHECK(same_proof(proof, root_proof("key", challenge, 1)));
  CHECK_FALSE(same_proof(proof, peer_proof("key", challenge, 1)));
  CHECK_FALSE(same_proof(proof, root_proof("key", challenge, 2)));
  CHECK_FALSE(same_proof(proof, root_proof("Key", challenge, 1)));
  CHECK_FALSE(same_proof(proof, root_proof("key", make_challenge(), 1)));
  CHECK_FALSE(same_proof(proof, proof.substr(1)));
}

TEST_CASE("a proof is HMAC-SHA-256 of side, challenge and index in network order", "[step]") {
  // From Python: hmac.new(b"Jefe", b"root" + b"abc" + bytes([0, 0, 0, 1]), hashlib.sha256)
  std::string hex;
  for (const char byte : root_proof("Jefe", "abc", 1)) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    hex += kDigits[static_cast<unsigned char>(byte) >> 4U];
    hex += kDigits[static_cast<unsigned char>(byte) & 15U];
  }
  CHECK(hex == "d8fc21d389b361622d21cd81d2cef199d0c8c235ec61b27454adbf8a3939ec87");
}

TEST_CASE("the secret of an attempt is the same on all nodes and differs between attempts",
          "[step]") {
  const AttemptKey one{JobId{1}, TaskIndex{0}, AttemptNo{1}};
  const AttemptKey two{JobId{1}, TaskIndex{0}, AttemptNo{2}};
  CHECK(secret_suffix("key", one).size() == 32);
  CHECK(secret_suffix("key", one) == secret_suffix("key", one));
  CHECK(secret_suffix("key", one) != secret_suffix("key", two));
  CHECK(secret_suffix("other", one) != secret_suffix("key", one));
}

TEST_CASE("a program with a slash is not searched for", "[step]") {
  CHECK(program_candidates("./a", "/bin") == std::vector<std::string>{"./a"});
  CHECK(program_candidates("a", "/x:/y") == std::vector<std::string>{"/x/a", "/y/a"});
  CHECK(program_candidates("a", ":/y:") == std::vector<std::string>{"./a", "/y/a", "./a"});
}

TEST_CASE("the search path is the job's last one, or the default", "[step]") {
  CHECK(search_path({}) == kDefaultPath);
  CHECK(search_path({{"PATH", "/a"}, {"PATH", "/b"}}) == "/b");
  CHECK(search_path({{"PATH", ""}}) == kDefaultPath);
}

TEST_CASE("a script whose interpreter has arguments is fine", "[step]") {
  CHECK(check_script("#! /bin/sh -e\necho\n", "n"));
  CHECK(check_script("#!/bin/sh", "n"));
  CHECK_FALSE(check_script("", "n"));
}

TEST_CASE("the account and the files of the preparing child arrive", "[step]") {
  int pair[2] = {-1, -1};
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
  const Fd near(pair[0]);
  const Fd far(pair[1]);
  Prepared sent;
  sent.account = {
      .name = "alice", .home = "/", .shell = "/bin/sh", .uid = 7, .gid = 8, .groups = {8, 9}};
  sent.output = Fd(::open("/dev/null", O_WRONLY));
  const Account account = sent.account;
  send_outcome(far.get(), PreparationOutcome(std::move(sent)));
  const PreparationOutcome outcome = receive_outcome(near.get());
  const auto* got = std::get_if<Prepared>(&outcome);
  REQUIRE(got != nullptr);
  CHECK(got->account == account);
  CHECK(got->output.valid());
  CHECK_FALSE(got->error.valid());
  CHECK((::fcntl(got->output.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("a refusal of the preparing child arrives, and so does its death", "[step]") {
  int pair[2] = {-1, -1};
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
  const Fd near(pair[0]);
  Fd far(pair[1]);
  send_outcome(far.get(), Refusal{CauseCode::kOutputFailed, "no space"});
  PreparationOutcome outcome = receive_outcome(near.get());
  REQUIRE(std::holds_alternative<Refusal>(outcome));
  CHECK(std::get<Refusal>(outcome).code == CauseCode::kOutputFailed);
  CHECK(std::get<Refusal>(outcome).text == "no space");
  far.reset();
  outcome = receive_outcome(near.get());
  REQUIRE(std::holds_alternative<Refusal>(outcome));
  CHECK(std::get<Refusal>(outcome).text.find("without an answer") != std::string::npos);
}

TEST_CASE("descendants of all generations are found", "[step]") {
  int ready[2] = {-1, -1};
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::fork() == 0) ::setsid();
    [[maybe_unused]] const ssize_t written = ::write(ready[1], "x", 1);
    while (true) ::pause();
  }
  char byte = 0;
  for (int i = 0; i < 2; ++i) REQUIRE(::read(ready[0], &byte, 1) == 1);
  const auto found = descendants();
  CHECK(found.size() == 2);
  for (const pid_t pid : found) ::kill(pid, SIGKILL);
  int reaped = 0;
  while (reap([&](const Reaped& process) {
    CHECK(process.pid == child);
    ++reaped;
  })) {
    ::usleep(1000);
  }
  CHECK(reaped == 1);
  ::close(ready[0]);
  ::close(ready[1]);
}
