// The controller's side of a login: who made this MUNGE credential.
//
// munged decodes a credential once and refuses it as replayed afterwards, so a copied one is worth
// nothing. Thread: may be called from any thread; blocks until munged and the name service have
// answered.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/job_spec.h"

namespace artel::rpc {

/// The account that made the credential, by munged at `socket` (empty: MUNGE's default). Error:
/// kUnauthenticated naming the cause: not from this cluster, expired, replayed, made for another
/// purpose, or an account that this host does not know.
Result<Owner> identify(const std::string& credential, const std::string& socket);

/// The names of the groups that the account is in, by the name service. What it does not know is
/// left out.
std::vector<std::string> groups_of(const Owner& owner);

}  // namespace artel::rpc
