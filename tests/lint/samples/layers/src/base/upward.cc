#include <sqlite3.h>

#include "base/missing.h"
#include "client.pb.h"
#include "model/noun.h"
