// What is kept of contacts comes back as it was.
#include "noded/os/contact_file.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "support.h"

namespace artel::noded {
namespace {

const KeptContacts kKept{.boot_id = "b1",
                         .contact = Duration{12'345},
                         .alive = Duration{23'456},
                         .away = {"n2"},
                         .told = {"n3", "n4"}};

TEST_CASE("kept contacts come back as they were") {
  const testing::Folder folder;
  CHECK_FALSE(load_contacts(folder.path()).value());
  REQUIRE(save_contacts(folder.path(), kKept, true));
  CHECK(load_contacts(folder.path()).value() == kKept);
}

TEST_CASE("a file that holds something else is named") {
  const testing::Folder folder;
  std::ofstream(folder.path() / "contacts") << "boot b1\ncontact soon\n";
  const auto loaded = load_contacts(folder.path());
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().text.find((folder.path() / "contacts").string()) != std::string::npos);
}

TEST_CASE("the writer's last word is what a later process finds") {
  const testing::Folder folder;
  std::string trouble;
  {
    ContactWriter writer(folder.path(), [&](const Error& error) { trouble = error.text; });
    for (int i = 1; i <= 100; ++i) {
      KeptContacts contacts = kKept;
      contacts.alive = Duration{i};
      writer.post(std::move(contacts));
    }
  }
  CHECK(trouble.empty());
  CHECK(load_contacts(folder.path()).value()->alive == Duration{100});
}

}  // namespace
}  // namespace artel::noded
