#pragma once
inline std::string hello() { return {}; }
