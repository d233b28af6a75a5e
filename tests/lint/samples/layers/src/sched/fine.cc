#include <vector>

#include "model/noun.h"
// #include "rpc/commented_out.h"
