#include "noded/os/output_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <future>

#include "support.h"

namespace artel::noded {
namespace {

using testing::Account;
using testing::Folder;

/// A folder that the account may look into, with a file of its own and one of root's.
struct Scene {
  Folder folder;
  Account account{"artelt2"};
  std::filesystem::path own = folder.path() / "own.out";
  std::filesystem::path secret = folder.path() / "secret";

  Scene() {
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    testing::write_file(own, "hello from rank 0\n");
    testing::write_file(secret, "root's own");
    ::chmod(own.c_str(), 0600);
    ::chmod(secret.c_str(), 0600);
    if (::chown(own.c_str(), account.owner().uid, account.owner().gid) != 0) std::abort();
  }

  [[nodiscard]] OutputRequest request(std::filesystem::path path) const {
    return {.path = std::move(path),
            .as_root = false,
            .owner = account.owner(),
            .offset = 0,
            .max_bytes = kMaxOutputChunk};
  }
};

TEST_CASE("a user's file is read as the user, from any place in it") {
  const Scene scene;
  auto request = scene.request(scene.own);
  auto piece = read_output(request);
  REQUIRE(piece);
  CHECK(piece->data == "hello from rank 0\n");
  CHECK(piece->file_size == 18);
  request.offset = 6;
  request.max_bytes = 4;
  piece = read_output(request);
  REQUIRE(piece);
  CHECK(piece->data == "from");
  request.offset = 18;
  piece = read_output(request);
  REQUIRE(piece);
  CHECK(piece->data.empty());
  CHECK(piece->file_size == 18);
}

TEST_CASE("a file that the user may not read is refused although root reads it") {
  const Scene scene;
  const auto piece = read_output(scene.request(scene.secret));
  REQUIRE_FALSE(piece);
  CHECK(piece.error().code == ErrorCode::kPermissionDenied);
  CHECK(::geteuid() == 0);
  CHECK(testing::text_of(scene.secret) == "root's own");
}

TEST_CASE("a symbolic link is refused, also one to a file that the user may read") {
  const Scene scene;
  const auto link = scene.folder.path() / "link.out";
  for (const auto& target : {scene.secret, scene.own}) {
    std::filesystem::remove(link);
    std::filesystem::create_symlink(target, link);
    const auto piece = read_output(scene.request(link));
    REQUIRE_FALSE(piece);
    CHECK(piece.error().code == ErrorCode::kInvalidArgument);
    CHECK(piece.error().text.find("symbolic link") != std::string::npos);
  }
}

TEST_CASE("a linked folder leads only where the user may go") {
  const Scene scene;
  const auto closed = scene.folder.path() / "closed";
  std::filesystem::create_directory(closed);
  testing::write_file(closed / "out", "root's own");
  ::chmod((closed / "out").c_str(), 0644);
  ::chmod(closed.c_str(), 0700);
  std::filesystem::create_directory_symlink(closed, scene.folder.path() / "door");
  const auto piece = read_output(scene.request(scene.folder.path() / "door/out"));
  REQUIRE_FALSE(piece);
  CHECK(piece.error().code == ErrorCode::kPermissionDenied);
}

TEST_CASE("only regular files are read, and a pipe does not hang the reader") {
  const Scene scene;
  const auto pipe = scene.folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0666) == 0);
  ::chmod(pipe.c_str(), 0666);
  for (const std::filesystem::path& path :
       {pipe, scene.folder.path(), std::filesystem::path("/dev/zero"),
        std::filesystem::path("/proc/self/maps"), std::filesystem::path("/proc/self/status")}) {
    CAPTURE(path);
    const auto piece = read_output(scene.request(path));
    REQUIRE_FALSE(piece);
    CHECK(piece.error().code != ErrorCode::kNotFound);
  }
}

TEST_CASE("a missing file is not found, a relative path is refused") {
  const Scene scene;
  const auto missing = read_output(scene.request(scene.folder.path() / "none"));
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::kNotFound);
  const auto relative = read_output(scene.request("own.out"));
  REQUIRE_FALSE(relative);
  CHECK(relative.error().code == ErrorCode::kInvalidArgument);
}

TEST_CASE("no answer is longer than a chunk may be") {
  const Scene scene;
  std::filesystem::resize_file(scene.own, 3U << 20U);
  auto request = scene.request(scene.own);
  request.max_bytes = 0xffffffff;
  const auto piece = read_output(request);
  REQUIRE(piece);
  CHECK(piece->data.size() == kMaxOutputChunk);
  CHECK(piece->file_size == 3U << 20U);
}

TEST_CASE("the user's groups open what belongs to them") {
  const Scene scene;
  ::chown(scene.secret.c_str(), 0, scene.account.owner().gid);
  ::chmod(scene.secret.c_str(), 0640);
  CHECK(read_output(scene.request(scene.secret)));
}

TEST_CASE("root's groups do not help the user") {
  const Scene scene;
  ::chmod(scene.secret.c_str(), 0040);  // root's group only
  CHECK_FALSE(read_output(scene.request(scene.secret)));
}

TEST_CASE("the reader's threads never lend their identity to others") {
  const Scene scene;
  OutputReader reader;
  std::atomic<int> wrong = 0;
  std::vector<std::future<void>> answers;
  for (int i = 0; i < 16; ++i) {
    for (const bool as_root : {true, false}) {
      auto promise = std::make_shared<std::promise<void>>();
      answers.push_back(promise->get_future());
      auto request = scene.request(scene.secret);
      request.as_root = as_root;
      reader.read(request, [&wrong, as_root, promise](const Result<OutputPiece>& piece) {
        if (piece.has_value() != as_root) ++wrong;
        promise->set_value();
      });
      if (::geteuid() != 0) ++wrong;
    }
  }
  for (auto& answer : answers) answer.get();
  CHECK(wrong == 0);
}

TEST_CASE("after a stop nothing is answered, and what was answered is finished") {
  const Scene scene;
  std::atomic<int> running = 0;
  std::atomic<bool> stopped = false;
  std::atomic<int> late = 0;
  OutputReader reader;
  for (int i = 0; i < 16; ++i) {
    reader.read(scene.request(scene.own), [&](const Result<OutputPiece>&) {
      ++running;
      if (stopped) ++late;
      --running;
    });
  }
  reader.stop();
  stopped = true;
  CHECK(running == 0);
  reader.read(scene.request(scene.own), [&](const Result<OutputPiece>&) { ++late; });
  CHECK(late == 0);
}

}  // namespace
}  // namespace artel::noded
