// The quick "certainly no plan of victims", and when it must not be said.
#include "sched/evictable.h"

#include <catch2/catch.hpp>

#include "unit/sched/running.h"

using namespace artel;
using namespace artel::sched;
using namespace artel::sched::bed;

namespace {

/// Four nodes: A (guarantee of two) has none, B (guarantee of one) holds three, one of them
/// covered, and one is free.
struct Borrowed {
  Setup setup = cluster(4);
  QuotaId a = add_team(setup, "A", 16);
  QuotaId b = add_team(setup, "B", 8);
  State state{setup, at_minute(0)};
  Job& covered = running_job(state, with_priority(1, b, 1), {0});
  Job& first = running_job(state, bed::job(2, b, 1, 8), {1});
  Job& second = running_job(state, bed::job(3, b, 1, 8), {2});

  static JobFacts with_priority(std::uint64_t id, QuotaId queue, std::int32_t priority) {
    JobFacts facts = bed::job(id, queue, 1, 8);
    facts.priority = priority;
    return facts;
  }
  bool may(const Evictable& evictable, const JobFacts& facts) {
    const Job& asking = waiting_job(state, facts);
    const bool may = evictable.may_evict(
        asking, charge_of(state, *asking.request, smallest_size(*asking.request), kFlavor));
    state.jobs.erase(facts.id);
    return may;
  }
};

}  // namespace

TEST_CASE("who is within its guarantee may evict what is borrowed", "[evictable]") {
  Borrowed bed;
  const Evictable evictable(bed.state);
  CHECK(bed.may(evictable, job(9, bed.a, 2, 8)));
  CHECK_FALSE(bed.may(evictable, job(9, bed.a, 3, 8)));  // beyond its guarantee
}

TEST_CASE("nodes that are free and those of borrowers are all there is", "[evictable]") {
  Borrowed bed;
  bed.state.at(bed.a).guarantee[0] = 32 * kGpu;
  const Evictable evictable(bed.state);
  CHECK(bed.may(evictable, job(9, bed.a, 3, 8)));
  CHECK_FALSE(bed.may(evictable, job(9, bed.a, 4, 8)));  // one is covered
}

TEST_CASE("a job of higher priority may evict uncovered work of its own pool", "[evictable]") {
  Borrowed bed;
  const Evictable evictable(bed.state);
  CHECK(bed.may(evictable, Borrowed::with_priority(9, bed.b, 1)));
  CHECK_FALSE(bed.may(evictable, Borrowed::with_priority(9, bed.b, 0)));
}

TEST_CASE("what is signalled is nobody's victim, but its nodes count as free", "[evictable]") {
  Borrowed bed;
  bed.state.at(bed.a).guarantee[0] = 32 * kGpu;
  Evictable evictable(bed.state);
  for (Job* job : {&bed.first, &bed.second}) {
    evictable.signalled(*job);
    job->grace = std::chrono::minutes{2};
    signal(bed.state, *job);
    CHECK(bed.may(evictable, job == &bed.first ? bed::job(9, bed.a, 3, 8)
                                               : bed::job(9, bed.a, 1, 8)) == (job == &bed.first));
  }
}
