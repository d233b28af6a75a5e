// Properties of the scheduling rules over random clusters, trees and streams. A broken one names
// engine, kind and seed of the stream.
#include <catch2/catch.hpp>

#include "property/rules/bed/findings.h"

using namespace artel::rules;

namespace {

/// The rule was put to the test often enough to mean something, and held each time.
void holds(const std::string& rule, std::size_t at_least) {
  INFO(rule << " was tested " << findings().tested(rule) << " times");
  CHECK(findings().broken(rule) == "");
  CHECK(findings().tested(rule) >= at_least);
}

}  // namespace

TEST_CASE("G1: a job starts whole, on different nodes with room, or not at all") {
  holds("G1", 2000);
}
TEST_CASE("G3: a job starts smaller only where it cannot start larger") { holds("G3", 10); }
TEST_CASE("G5: all components of a job start, or none") { holds("G5", 50); }
TEST_CASE("Q2: what is covered below is covered above") { holds("Q2", 200); }
TEST_CASE("Q3, Q4: no start passes a limit, a borrowing limit or what others keep at home") {
  holds("Q3", 2000);
}
TEST_CASE("C2: the covered jobs are those that the rule names") { holds("C2", 2000); }
TEST_CASE("I1: a covered job is never evicted for an outsider") { holds("I1", 100); }
TEST_CASE("I2: what is not preemptible stays inside the guarantee and is never evicted") {
  holds("I2", 300);
}
TEST_CASE("I3: the head of a team within its guarantee starts within the bound") {
  holds("I3", 100);
}
TEST_CASE("O1: work within a guarantee goes before borrowing") { holds("O1", 100); }
TEST_CASE("O2: a borrower does not pass one that starves") { holds("O2", 1); }
TEST_CASE("O3: the team that borrows least goes first") { holds("O3", 20); }
TEST_CASE("O4: of two alike in a pool the one earlier in line starts first") { holds("O4", 500); }
TEST_CASE("F1: entitlements give each what it is owed and waste nothing") { holds("F1", 2000); }
TEST_CASE("F2: scores are the decayed use above the guarantee") { holds("F2", 2000); }
TEST_CASE("F3: a team at its entitlement is no victim of fair-share preemption") {
  holds("F3", 20);
}
TEST_CASE("V1: nobody reclaims beyond its guarantee") { holds("V1", 50); }
TEST_CASE("V2: in its own pool a job evicts lower priority only") { holds("V2", 100); }
TEST_CASE("V3: nobody is evicted without a start that it makes sure") { holds("V3", 100); }
TEST_CASE("V4: of equal borrowers the one that loses least goes") { holds("V4", 5); }
TEST_CASE("V5: no plan contains a victim that can be dropped") { holds("V5", 20); }
TEST_CASE("A1: what is claimed is used by nobody else until the start") { holds("A1", 20); }
TEST_CASE("A2: a signalled job is not signalled again") { holds("A2", 100); }
TEST_CASE("A3: a victim has had its minimum run time") { holds("A3", 100); }
TEST_CASE("A4: a job in its back-off neither borrows nor evicts") { holds("A4", 20); }
TEST_CASE("P1: nobody is evicted for a start that has room") { holds("P1", 20); }
TEST_CASE("P2: a job stays in the domain that it requires, the best one") { holds("P2", 50); }
TEST_CASE("P3: of several nodes the fullest is taken") { holds("P3", 50); }
TEST_CASE("P4: of several leaves the best fitting, then whole ones") { holds("P4", 100); }
TEST_CASE("P5: segments stay whole inside a leaf") { holds("P5", 20); }
TEST_CASE("X2: an exclusive job is alone on its nodes") { holds("X2", 300); }
TEST_CASE("B2: planned starts lie ahead, and a team has no more than it may") { holds("B2", 100); }
TEST_CASE("B3: with one team the head of the line starts by its first planned start") {
  holds("B3", 100);
}
TEST_CASE("R1: reservations of one time share no node") { holds("R1", 20); }
TEST_CASE("R2: nobody runs into a reservation") { holds("R2", 50); }
TEST_CASE("R4: a reservation moves preemptible work only") { holds("R4", 5); }
TEST_CASE("R5: a reservation has no more nodes than it asked for") { holds("R5", 50); }
TEST_CASE("S9: every waiting job has a reason") { holds("S9", 2000); }
TEST_CASE("Z1: a reason of room means that no limit stops the job") { holds("Z1", 500); }
TEST_CASE("Z2: what a reason says is so") { holds("Z2", 2000); }

TEST_CASE("W1: who is not eligible has no planned start") { holds("W1", 50); }
TEST_CASE("W3: no start before the begin time") { holds("W3", 20); }
TEST_CASE("W4: no start too late for the deadline") { holds("W4", 20); }
TEST_CASE("W5: no planned start too late for the deadline") { holds("W5", 1); }
TEST_CASE("W6: no start while held") { holds("W6", 20); }
TEST_CASE("D1: no start while a dependency is not met") { holds("D1", 20); }
TEST_CASE("D3: a job starts after what it waits for") { holds("D3", 20); }
TEST_CASE("J2: no more tasks hold nodes than the throttle allows") { holds("J2", 50); }
TEST_CASE("J3: tasks start by index") { holds("J3", 50); }
TEST_CASE("N3: no job starts on a node that it excludes") { holds("N3", 200); }
TEST_CASE("N4: a node that refused a job is avoided by it") { holds("N4", 1); }
TEST_CASE("N5: missing and failed nodes are told") { holds("N5", 20); }
TEST_CASE("M1: no node gives more than it has") { holds("M1", 200); }
TEST_CASE("U2: no device gives more than it has") { holds("U2", 50); }
TEST_CASE("U3: shares are packed") { holds("U3", 1); }
TEST_CASE("U4: only one user shares a device") { holds("U4", 20); }
TEST_CASE("H1: a job holds its nodes and its spares") { holds("H1", 200); }
TEST_CASE("H2: a job with spares left goes on") { holds("H2", 5); }
TEST_CASE("H3: spares are idle") { holds("H3", 50); }
TEST_CASE("H4: a swap keeps the other nodes") { holds("H4", 1); }
