// Node keys: files and proofs.
#include "rpc/node_key.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace artel::rpc {
namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "artel-key-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::filesystem::path file() const { return path_ / "n1.key"; }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }
  [[nodiscard]] std::filesystem::path write(const std::string& text, mode_t mode = 0600) const {
    std::ofstream(file()) << text;
    ::chmod(file().c_str(), mode);
    return file();
  }

 private:
  std::filesystem::path path_;
};

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::string kHex = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";

TEST_CASE("a generated key can be read and is closed to others") {
  const Folder folder;
  REQUIRE(generate_key_file(folder.file()));
  CHECK(read_key_file(folder.file()));
  struct stat status{};
  REQUIRE(::stat(folder.file().c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0600);
  CHECK(folder.entries() == 1);
}

TEST_CASE("a key that is there is never replaced") {
  const Folder folder;
  REQUIRE(generate_key_file(folder.file()));
  const std::string before = read(folder.file());
  const auto again = generate_key_file(folder.file());
  REQUIRE_FALSE(again);
  CHECK(again.error().code == ErrorCode::kWrongState);
  CHECK(read(folder.file()) == before);
  CHECK(folder.entries() == 1);
}

TEST_CASE("a key file open to group or others is refused with the way out") {
  const Folder folder;
  for (const mode_t mode : {0640U, 0604U, 0660U, 0601U}) {
    const auto key = read_key_file(folder.write(kHex + "\n", mode));
    INFO("mode " << mode);
    REQUIRE_FALSE(key);
    CHECK(key.error().code == ErrorCode::kConfig);
    CHECK(key.error().text.find("chmod 600") != std::string::npos);
  }
}

TEST_CASE("only 64 hexadecimal digits and one newline are a key") {
  const Folder folder;
  CHECK(read_key_file(folder.write(kHex)));
  CHECK(read_key_file(folder.write(kHex + "\n")));
  for (const std::string& text :
       {std::string(), std::string("\n"), kHex.substr(1), kHex + "0", kHex + "\n\n", kHex + " ",
        " " + kHex.substr(1), "g" + kHex.substr(1), kHex + kHex}) {
    const auto key = read_key_file(folder.write(text));
    INFO("text '" << text << "'");
    REQUIRE_FALSE(key);
    CHECK(key.error().code == ErrorCode::kConfig);
  }
}

TEST_CASE("a missing key is not found, a folder is not a key") {
  const Folder folder;
  CHECK(read_key_file(folder.file()).error().code == ErrorCode::kNotFound);
  std::filesystem::create_directory(folder.file());
  CHECK_FALSE(read_key_file(folder.file()));
}

TEST_CASE("proofs depend on key, side, challenge and node") {
  const NodeKey key(std::array<unsigned char, kKeyBytes>{1});
  const NodeKey other_key(std::array<unsigned char, kKeyBytes>{2});
  const std::string challenge(kChallengeBytes, 'c');
  const std::string proof = agent_proof(key, challenge, "n1");
  CHECK(proof.size() == 32);
  CHECK(same_proof(proof, agent_proof(key, challenge, "n1")));
  CHECK_FALSE(same_proof(proof, agent_proof(other_key, challenge, "n1")));
  CHECK_FALSE(same_proof(proof, controller_proof(key, challenge, "n1")));
  CHECK_FALSE(same_proof(proof, agent_proof(key, std::string(kChallengeBytes, 'd'), "n1")));
  CHECK_FALSE(same_proof(proof, agent_proof(key, challenge, "n2")));
  CHECK_FALSE(same_proof(proof, proof.substr(1)));
  CHECK_FALSE(same_proof(proof, ""));
}

// HMAC-SHA-256 of "agent" || 32 x 'c' || "n1" with the key 00 01 .. 1f, made with Python's hmac
// module.
TEST_CASE("a proof is the HMAC that the protocol names") {
  const Folder folder;
  const auto key = read_key_file(folder.write(kHex));
  REQUIRE(key);
  std::string hex;
  for (const char byte : agent_proof(*key, std::string(kChallengeBytes, 'c'), "n1")) {
    constexpr const char* kDigits = "0123456789abcdef";
    hex += kDigits[static_cast<unsigned char>(byte) >> 4U];
    hex += kDigits[static_cast<unsigned char>(byte) & 15U];
  }
  CHECK(hex == "b8f51d4d161fa6966e51dc92e3188029c5815cfd8dc0a945b7db99355ef49355");
}

TEST_CASE("challenges are long and differ") {
  CHECK(random_challenge().size() == kChallengeBytes);
  CHECK(random_challenge() != random_challenge());
}

}  // namespace
}  // namespace artel::rpc
