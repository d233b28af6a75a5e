#include <unordered_map>
auto now = std::chrono::system_clock::now();
std::mutex guard;
const char* home = getenv("HOME");
std::set<const Job*> by_address;
int dice = rand();
// std::mutex in a comment, and "std::mutex" in a string, are fine.
const char* text = "std::mutex getenv( system(";
class JobManager {};
