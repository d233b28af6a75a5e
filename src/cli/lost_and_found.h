// What the controller could not read of its store, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/table.h"

namespace artel::v1 {
class LostAndFoundReply;
}

namespace artel::cli {

std::string lost_and_found_table(const v1::LostAndFoundReply& reply, const Terminal& terminal);
nlohmann::json lost_and_found_json(const v1::LostAndFoundReply& reply);

}  // namespace artel::cli
