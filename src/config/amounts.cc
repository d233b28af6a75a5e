// What a cohort or team is promised and allowed: amounts by GPU type, and cores.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "config/files.h"

namespace artel::config {
namespace {

constexpr std::int64_t kMostAmount = 1'000'000;
constexpr double kMostWeight = 1'000'000;

std::vector<std::string_view> keys_of(const TeamNames& names) {
  std::vector<std::string_view> keys(names.gpu_types->begin(), names.gpu_types->end());
  keys.push_back(kCoresKey);
  return keys;
}

/// One number: of the only GPU type that the cluster has.
void read_number(Section& section, std::string_view key, const TeamNames& names,
                 QuotaAmounts& out) {
  std::uint64_t amount = 0;
  if (!section.number(key, 0, kMostAmount, amount)) return;
  if (names.gpu_types && names.gpu_types->size() != 1) {
    return section.mistake(
        key, names.gpu_types->empty()
                 ? fmt::format("no node has GPUs; write cores, such as {} = {{ cores = {} }}", key,
                               amount)
                 : fmt::format("the cluster has several GPU types; write {} = {{ {} = {} }}", key,
                               names.gpu_types->front(), amount));
  }
  out[names.gpu_types ? names.gpu_types->front() : ""] = static_cast<std::int64_t>(amount);
}

/// 16, or { h100 = 16, cores = 400 }. False where there is nothing.
bool read_amounts(Section& section, std::string_view key, const TeamNames& names,
                  QuotaAmounts& out) {
  const Value* value = section.any(key);
  if (value == nullptr) return false;
  const auto* types = std::get_if<std::vector<Entry>>(&value->content);
  if (types == nullptr) {
    read_number(section, key, names, out);
    return true;
  }
  for (const Entry& type : *types) {
    const auto* amount = std::get_if<std::int64_t>(&type.value.content);
    if (amount == nullptr || *amount < 0 || *amount > kMostAmount) {
      section.mistake(key, fmt::format("the amount of '{}' must be a whole number from 0 to {}",
                                       type.key, kMostAmount));
      continue;
    }
    if (names.gpu_types && type.key != kCoresKey &&
        std::ranges::find(*names.gpu_types, type.key) == names.gpu_types->end()) {
      const auto known = keys_of(names);
      const std::string near = did_you_mean(type.key, known);
      section.mistake(
          key, fmt::format(
                   "no node has GPUs of type '{}'{}", type.key,
                   near.empty() ? fmt::format("; known here: {}", fmt::join(known, ", ")) : near));
      continue;
    }
    out[type.key] = *amount;
  }
  return true;
}

}  // namespace

void read_terms(Section& section, const TeamNames& names, QuotaTerms& terms) {
  QuotaAmounts guarantee;
  if (read_amounts(section, "guarantee", names, guarantee)) terms.guarantee = std::move(guarantee);
  read_amounts(section, "limit", names, terms.limit);
  read_amounts(section, "borrow", names, terms.borrow);
  read_amounts(section, "lend", names, terms.lend);
  section.real("weight", 0, kMostWeight, terms.weight);
}

}  // namespace artel::config
