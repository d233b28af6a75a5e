// What others read of this process in /proc: its arguments and its environment.
//
// They show the memory that the kernel filled when the program was executed, so a child that was
// forked shows another attempt's unless it writes there. The program reserves room by a long
// argument and a long variable. Thread: one, before any other exists.
#pragma once

#include <string>
#include <vector>

namespace artel::noded {

class ProcessMark {
 public:
  /// As main() got them; `argv` needs at least one argument after the name.
  ProcessMark(int argc, char** argv, char** environment);

  /// Replaces all arguments after the name by one, and the environment. False, with nothing
  /// changed, where there is not enough room.
  bool replace(const std::string& argument, const std::vector<std::string>& environment);

 private:
  struct Room {
    char* begin = nullptr;
    char* end = nullptr;
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end - begin); }
  };

  Room arguments_;
  Room environment_;
  std::vector<char*> pointers_;
};

/// An argument and a variable for the program's start that leave room for any attempt's.
std::string reserved_argument();
std::string reserved_variable();

}  // namespace artel::noded
