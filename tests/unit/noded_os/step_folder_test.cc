#include "noded/os/step_folder.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "noded/os/inventory.h"
#include "noded/os/state_lock.h"
#include "support.h"

namespace artel::noded {
namespace {

using testing::Folder;
using testing::key_of;

Time mtime_of(const std::filesystem::path& path) {
  struct stat status{};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return time_from_ms(std::int64_t{status.st_mtim.tv_sec} * 1000);
}

unsigned mode_of(const std::filesystem::path& path) {
  struct stat status{};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777U;
}

TEST_CASE("nobody but root speaks to a step daemon or looks into its folder") {
  const Folder folder;
  const auto step = StepFolder::open(folder.path());
  REQUIRE(step);
  const auto prepared = step->prepare(key_of(1));
  REQUIRE(prepared);
  CHECK(mode_of(step->socket_of(key_of(1))) == 0600);
  CHECK(mode_of(step->directory_of(key_of(1))) == 0711);
  CHECK(mode_of(step->directory_of(key_of(1)) / "stepd.log") == 0600);
  CHECK(mode_of(folder.path() / "step") == 0711);
}

TEST_CASE("an attempt's directory outlives its end for a while and then goes, its socket at once") {
  const Folder folder;
  const auto step = StepFolder::open(folder.path());
  REQUIRE(step);
  for (const auto job : {1, 2}) REQUIRE(step->prepare(key_of(static_cast<unsigned>(job))));
  const auto spool = step->directory_of(key_of(1));
  testing::write_file(spool / "out", "tail");
  step->forget(key_of(1));
  CHECK_FALSE(std::filesystem::exists(step->socket_of(key_of(1))));
  const auto held = [](const AttemptKey& key) { return key == key_of(2); };
  const Time forgotten = mtime_of(spool);
  step->clean(held, forgotten + StepFolder::kKeep);
  CHECK(testing::text_of(spool / "out") == "tail");
  step->clean(held, forgotten + StepFolder::kKeep + std::chrono::seconds(2));
  CHECK_FALSE(std::filesystem::exists(spool));
  CHECK(std::filesystem::exists(step->socket_of(key_of(2))));
  CHECK(std::filesystem::exists(step->directory_of(key_of(2))));
}

TEST_CASE("after an orderly end only a directory with spooled output stays") {
  const Folder folder;
  const auto step = StepFolder::open(folder.path());
  REQUIRE(step);
  REQUIRE(step->prepare(key_of(1)));
  REQUIRE(step->prepare(key_of(2)));
  testing::write_file(step->directory_of(key_of(2)) / kSpooledError, "tail");
  step->discard(key_of(1));
  step->discard(key_of(2));
  CHECK_FALSE(std::filesystem::exists(step->directory_of(key_of(1))));
  CHECK(std::filesystem::exists(step->directory_of(key_of(2)) / kSpooledError));
}

TEST_CASE("cleaning leaves other people's files and does not follow links out of the folder") {
  const Folder folder;
  const auto step = StepFolder::open(folder.path());
  REQUIRE(step);
  REQUIRE(step->prepare(key_of(1)));
  const auto outside = folder.path() / "outside";
  std::filesystem::create_directory(outside);
  testing::write_file(outside / "precious", "keep");
  std::filesystem::create_directory_symlink(outside, step->directory_of(key_of(1)) / "link");
  testing::write_file(folder.path() / "step/README", "keep");
  step->clean([](const AttemptKey&) { return false; },
              mtime_of(step->directory_of(key_of(1))) + std::chrono::hours(1));
  CHECK_FALSE(std::filesystem::exists(step->directory_of(key_of(1))));
  CHECK(testing::text_of(outside / "precious") == "keep");
  CHECK(testing::text_of(folder.path() / "step/README") == "keep");
}

TEST_CASE("a state folder that others may write to, or that is a link, is refused") {
  const Folder folder;
  std::filesystem::create_directory(folder.path() / "real");
  std::filesystem::create_directory_symlink(folder.path() / "real", folder.path() / "step");
  CHECK_FALSE(StepFolder::open(folder.path()));
  std::filesystem::remove(folder.path() / "step");
  std::filesystem::create_directory(folder.path() / "step");
  ::chmod((folder.path() / "step").c_str(), 0777);
  const auto refused = StepFolder::open(folder.path());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kPermissionDenied);
}

TEST_CASE("a path too long for a socket is refused with the way out") {
  const Folder folder;
  const auto deep = folder.path() / std::string(120, 'x');
  std::filesystem::create_directory(deep);
  const auto step = StepFolder::open(deep);
  REQUIRE(step);
  const auto prepared = step->prepare(key_of(1));
  REQUIRE_FALSE(prepared);
  CHECK(prepared.error().text.find("[noded] state") != std::string::npos);
}

TEST_CASE("a second agent of a state folder is refused and told the pid of the first") {
  const Folder folder;
  {
    const auto first = lock_state(folder.path());
    REQUIRE(first);
    const auto second = lock_state(folder.path());
    REQUIRE_FALSE(second);
    CHECK(second.error().code == ErrorCode::kWrongState);
    CHECK(second.error().text.find("pid " + std::to_string(::getpid())) != std::string::npos);
  }
  CHECK(lock_state(folder.path()));
}

TEST_CASE("a simulated node announces what is configured, a real one what the machine has") {
  NodeConfig node{.name = "hgx01", .address = "127.0.0.1", .resources = {}, .simulated = true};
  node.resources = {.cpus = 512, .memory = {1U << 30U}, .gpu_type = "h100", .gpus = 8};
  const auto simulated = take_inventory(node, "1.2.3");
  REQUIRE(simulated);
  CHECK(simulated->resources == node.resources);
  CHECK(simulated->simulated);
  CHECK(simulated->version == "1.2.3");
  CHECK(simulated->boot_id.size() == 36);
  CHECK(simulated->agent_pid == static_cast<std::uint32_t>(::getpid()));
  node.simulated = false;
  const auto real = take_inventory(node, "1.2.3");
  REQUIRE(real);
  CHECK(real->resources.cpus > 0);
  CHECK(real->resources.cpus != 512);
  CHECK(real->resources.memory.value > (1U << 27U));
}

}  // namespace
}  // namespace artel::noded
