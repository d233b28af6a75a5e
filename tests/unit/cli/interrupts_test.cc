#include "cli/interrupts.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>

using namespace artel::cli;

TEST_CASE("a signal that the command was started to ignore stays ignored") {
  struct sigaction before{};
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  REQUIRE(::sigaction(SIGHUP, &ignore, &before) == 0);
  {
    Interrupts interrupts;
    REQUIRE(::kill(::getpid(), SIGHUP) == 0);
    REQUIRE(::kill(::getpid(), SIGINT) == 0);
    for (int i = 0; i < 1000 && interrupts.count() == 0; ++i) {
      interrupts.sleep(std::chrono::milliseconds{10});
    }
    CHECK(interrupts.count() == 1);
    CHECK(interrupts.last() == SIGINT);
  }
  ::sigaction(SIGHUP, &before, nullptr);
}
