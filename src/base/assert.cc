#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace artel {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "defect: assertion '%s' failed at %s:%d\n", condition, file, line);
  std::abort();
}

}  // namespace artel
