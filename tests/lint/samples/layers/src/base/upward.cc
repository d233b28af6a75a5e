#include "model/noun.h"
#include "base/missing.h"
#include <sqlite3.h>
#include "client.pb.h"
