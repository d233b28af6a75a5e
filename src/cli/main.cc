// artel: the command line of the cluster.
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "cli/app.h"

int main(int argc, char** argv) {
  // gRPC reads these when it starts. Names of hosts come from the system's resolver, as everywhere
  // else on the host, and its own log lines are no messages for users; both can be overridden for a
  // search for faults.
  ::setenv("GRPC_DNS_RESOLVER", "native", 0);
  ::setenv("GRPC_VERBOSITY", "NONE", 0);
  // Nothing is buffered, and see LeftToExit.
  ::_exit(artel::cli::run_cli(std::vector<std::string>(argv + 1, argv + argc)));
}
