#include "sched/quota_change.h"

namespace artel::sched {

void apply(const QuotaChange& change, QuotaFacts& facts) {
  if (change.guarantee) facts.guarantee = change.guarantee;
  if (change.limit) facts.limit = *change.limit;
  if (change.borrow) facts.borrow = *change.borrow;
  if (change.lend) facts.lend = *change.lend;
  if (change.weight) facts.weight = *change.weight;
}

}  // namespace artel::sched
