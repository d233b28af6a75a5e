// Advance reservations: R1 to R6.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "sched/place.h"

namespace artel::sched {

/// Error: kTryAgain (Conflict).
[[nodiscard]] Result<ReservationId> add_reservation(State& state, const ReservationFacts& facts);
[[nodiscard]] Reservation* find_reservation(State& state, ReservationId id);
[[nodiscard]] const Reservation* find_reservation(const State& state, ReservationId id);

/// Those whose end has come; pending jobs that named them are ordinary from now on.
void end_reservations(State& state);
void cancel_reservation(State& state, ReservationId id);
/// Whether the node is dedicated to somebody who is not the reservation's owner (X1).
[[nodiscard]] bool is_others(const State& state, const ReservationFacts& facts, const Node& node);
/// What follows from the nodes of all reservations, after a change of them.
void mark_maintenance(State& state);
/// R5, once an instant.
void replace_failed_nodes(State& state);
/// R4: running jobs that are preemptible, or claims, whose limit passes the start, one grace before
/// it.
[[nodiscard]] std::vector<JobId> jobs_in_the_way(const State& state, Stage stage);
void open_reservations(State& state);

/// The state as it would be without any reservation, for the life of the object (Z1).
class WithoutReservations {
 public:
  explicit WithoutReservations(State& state);
  ~WithoutReservations();
  WithoutReservations(const WithoutReservations&) = delete;
  WithoutReservations& operator=(const WithoutReservations&) = delete;

 private:
  State& state_;
  std::vector<Reservation> reservations_;
  std::vector<JobId> inside_;
};

/// Whether the job may name it.
[[nodiscard]] bool may_enter(const State& state, const Job& job);
/// Where a job runs inside the reservation that it names; nullopt: not now (R3, R6).
[[nodiscard]] std::optional<std::vector<Share>> place_inside(const State& state, const Job& job,
                                                             FlavorId& flavor, std::uint32_t& size);

}  // namespace artel::sched
