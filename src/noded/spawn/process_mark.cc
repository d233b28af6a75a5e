#include "noded/spawn/process_mark.h"

#include <unistd.h>

#include <cstring>

namespace artel::noded {
namespace {

constexpr std::size_t kArgumentRoom = 100;
/// A few fixed variables, an attempt's key and the longest name of a host.
constexpr std::size_t kVariableRoom = 800;

/// The kernel lays the texts one after the other.
char* end_of(char** texts, char* begin) {
  char* end = begin;
  for (; *texts == end; ++texts) end += std::strlen(*texts) + 1;
  return end;
}

}  // namespace

ProcessMark::ProcessMark(int argc, char** argv, char** environment) {
  if (argc > 1) arguments_ = {argv[1], end_of(argv + 1, argv[1])};
  if (*environment != nullptr) environment_ = {*environment, end_of(environment, *environment)};
}

bool ProcessMark::replace(const std::string& argument,
                          const std::vector<std::string>& environment) {
  std::size_t wanted = 0;
  for (const std::string& entry : environment) wanted += entry.size() + 1;
  if (argument.size() + 1 > arguments_.size() || wanted > environment_.size()) return false;
  std::memset(arguments_.begin, 0, arguments_.size());
  std::memcpy(arguments_.begin, argument.data(), argument.size());
  std::memset(environment_.begin, 0, environment_.size());
  char* at = environment_.begin;
  pointers_.clear();
  for (const std::string& entry : environment) {
    std::memcpy(at, entry.data(), entry.size());
    pointers_.push_back(at);
    at += entry.size() + 1;
  }
  pointers_.push_back(nullptr);
  ::environ = pointers_.data();
  return true;
}

std::string reserved_argument() { return std::string(kArgumentRoom, '-'); }
std::string reserved_variable() { return "ARTEL_STEP_ROOM=" + std::string(kVariableRoom, '-'); }

}  // namespace artel::noded
