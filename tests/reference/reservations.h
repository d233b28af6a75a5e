// Rules R: advance reservations.
#pragma once

#include "reference/placement.h"

namespace artel::reference {

/// R1: accepted, with its nodes; false: Conflict.
bool add_reservation(World& world, const scenario::Reservation& spec);
/// R6: those whose end has come are gone, their pending jobs are ordinary.
void end_reservations(World& world);
/// Opens those whose start has come.
void open_reservations(World& world);
/// R4: running jobs that have to be told to leave now.
std::vector<std::size_t> jobs_in_the_way(const World& world);
/// R4: claims whose limit would pass the start are void at the same instant.
std::vector<std::size_t> claims_in_the_way(const World& world);
/// R5.
void replace_failed_nodes(World& world);
/// H3: spares are filled with idle nodes, as far as there are any.
void fill_spares(World& world);
/// H2, H4: the shares with which the job goes on without the lost node; nullopt: it cannot.
std::optional<std::vector<Share>> swap_shares(World& world, const Job& job,
                                              const std::string& lost);
/// R3: AccessDenied for a job that names one.
bool may_enter(const World& world, const Job& job);
/// R3, R6: where a job that names a reservation can start now.
std::optional<std::vector<Share>> place_inside(const World& world, const Job& job);

}  // namespace artel::reference
