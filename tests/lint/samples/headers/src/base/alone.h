#pragma once
#include <string>
inline std::string hello() { return {}; }
