// The one object with Catch2's main; compiling it takes long, so all test programs share it.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
