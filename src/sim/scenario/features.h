// Expressions over the features of a node (rule N1): words with `&`, `|`, `!` and parentheses; `!`
// binds strongest, then `&`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace artel::scenario {

/// Whether a node with these features satisfies the expression; an empty one holds everywhere.
/// Error kInvalidArgument: it is none.
Result<bool> satisfies(std::string_view expression, const std::vector<std::string>& features);
/// The words of the expression, in their order. Error kInvalidArgument as above.
Result<std::vector<std::string>> feature_words(std::string_view expression);

/// Whether the text is a feature's word: [a-z0-9._-]+
bool is_feature(std::string_view text);

}  // namespace artel::scenario
