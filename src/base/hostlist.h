// Host lists: "hgx[01-04,7],login1" folded and unfolded.
//
// Grammar: names separated by commas, spaces or newlines; any number of [..] groups in a name, each
// a list of numbers or ranges; leading zeros set the width; several groups give the Cartesian
// product, the last group fastest; text after a group is kept ("n[1-2]-ib").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace artel {

/// Most names that one list may unfold to.
inline constexpr std::size_t kMaxHosts = 65536;

/// The names in written order, duplicates kept. Error: kInvalidArgument naming the place.
Result<std::vector<std::string>> unfold_hosts(std::string_view text);

/// The shortest list of the names, sorted, duplicates dropped: "hgx[01-04,07]".
std::string fold_hosts(const std::vector<std::string>& names);

}  // namespace artel
