// The PMIx server of a step: the library's callbacks turned into events of the daemon, and its
// answers back.
//
// All callbacks run on the library's one progress thread and must not block; they copy, queue and
// return. Answers may be given from any thread. The library keeps its state per process, so there
// is one Server a process, reached by the callbacks through `the_server`. Written for
// OpenPMIx 4.2.2; README.md lists what it expects of a host.
#include <fmt/format.h>
#include <pmix.h>
#include <pmix_server.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "noded/pmix/info_list.h"
#include "noded/pmix/job_map.h"
#include "noded/step/pmix_server.h"

namespace artel::pmix {
namespace {

using step::PmixEvents;
using step::PmixServer;
using step::PmixSetup;

/// A call of the library that waits for its answer.
struct ModexCall {
  pmix_modex_cbfunc_t done = nullptr;
  void* data = nullptr;
};
struct OpCall {
  pmix_op_cbfunc_t done = nullptr;
  void* data = nullptr;
};

bool succeeded(pmix_status_t status) {
  return status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED;
}

std::unexpected<Error> failed(std::string_view call, pmix_status_t status) {
  return fail(ErrorCode::kLaunch, fmt::format("{}: {}", call, PMIx_Error_string(status)));
}

class Server final : public PmixServer {
 public:
  explicit Server(PmixEvents& events) : events_(events) {}

  Result<> start(const PmixSetup& setup) override;
  Result<Environment> rank_environment(std::uint32_t local) override;
  void fence_result(const FencePart& result) override;
  void modex_result(std::uint64_t request, std::int32_t status, const std::string& blob) override;
  void serve_modex(std::uint64_t token, std::uint32_t rank) override;
  void finish_abort(std::uint64_t token) override;
  [[nodiscard]] bool is_connected(std::uint32_t local) const override;
  void stop() override;

  // The library's thread.
  void connected(pmix_rank_t rank);
  void finalized(pmix_rank_t rank);
  pmix_status_t fence(const pmix_proc_t* procs, std::size_t count, const pmix_info_t* info,
                      std::size_t info_count, std::string blob, ModexCall call);
  pmix_status_t modex(pmix_rank_t rank, ModexCall call);
  void served(std::uint64_t token, pmix_status_t status, std::string blob);
  void abort(pmix_rank_t rank, int status, std::string message, OpCall call);

 private:
  Result<> make_folders();
  Result<> init();
  Result<> register_step();
  [[nodiscard]] pmix_proc_t process(pmix_rank_t rank) const;
  [[nodiscard]] std::string signature(const pmix_proc_t* procs, std::size_t count) const;

  PmixEvents& events_;
  PmixSetup setup_;
  std::string server_folder_;
  std::string job_folder_;
  bool initialised_ = false;
  bool registered_ = false;

  mutable std::mutex mutex_;  // guards what follows
  std::set<pmix_rank_t> connected_;
  std::map<std::string, std::uint64_t> sequences_;  // by signature: of the next fence
  std::map<std::pair<std::string, std::uint64_t>, ModexCall> fences_;
  std::map<std::uint64_t, ModexCall> modexes_;
  std::map<std::uint64_t, OpCall> aborts_;
  std::uint64_t next_ = 1;
};

Server* the_server = nullptr;

// Answers -----------------------------------------------------------------------------------

void release(void* data) { std::free(data); }

/// The library reads the data later, on its own thread, and then calls release().
void answer(const ModexCall& call, pmix_status_t status, const std::string& blob) {
  char* copy = nullptr;
  if (!blob.empty()) {
    copy = static_cast<char*>(std::malloc(blob.size()));
    if (copy == nullptr) {
      status = PMIX_ERR_NOMEM;
    } else {
      std::memcpy(copy, blob.data(), blob.size());
    }
  }
  call.done(status, copy, copy == nullptr ? 0 : blob.size(), call.data, release, copy);
}

/// Takes a waiting call out of its table; `done` is null where it is not there any more.
template <typename Map, typename Key>
auto take(std::mutex& mutex, Map& map, const Key& key) {
  const std::lock_guard lock(mutex);
  typename Map::mapped_type call;
  if (const auto found = map.find(key); found != map.end()) {
    call = found->second;
    map.erase(found);
  }
  return call;
}

void Server::fence_result(const FencePart& result) {
  const auto call = take(mutex_, fences_, std::make_pair(result.signature, result.sequence));
  if (call.done != nullptr) answer(call, result.status, result.blob);
}

void Server::modex_result(std::uint64_t request, std::int32_t status, const std::string& blob) {
  const auto call = take(mutex_, modexes_, request);
  if (call.done != nullptr) answer(call, status, blob);
}

void Server::finish_abort(std::uint64_t token) {
  const auto call = take(mutex_, aborts_, token);
  if (call.done != nullptr) call.done(PMIX_SUCCESS, call.data);
}

void Server::serve_modex(std::uint64_t token, std::uint32_t rank) {
  auto* const carried = new std::uint64_t(token);
  const auto response = [](pmix_status_t status, char* data, std::size_t size, void* cbdata) {
    const std::unique_ptr<std::uint64_t> back(static_cast<std::uint64_t*>(cbdata));
    the_server->served(*back, status, data == nullptr ? "" : std::string(data, size));
  };
  const pmix_proc_t proc = process(rank);
  const pmix_status_t status = PMIx_server_dmodex_request(&proc, response, carried);
  if (status == PMIX_SUCCESS) return;
  delete carried;
  served(token, status, "");
}

void Server::served(std::uint64_t token, pmix_status_t status, std::string blob) {
  events_.pmix_served(token, status, std::move(blob));
}

bool Server::is_connected(std::uint32_t local) const {
  const std::lock_guard lock(mutex_);
  return connected_.contains(setup_.node_index * setup_.ranks_per_node + local);
}

// Calls of the library ----------------------------------------------------------------------

void Server::connected(pmix_rank_t rank) {
  const std::lock_guard lock(mutex_);
  connected_.insert(rank);
}

void Server::finalized(pmix_rank_t rank) {
  const std::lock_guard lock(mutex_);
  connected_.erase(rank);
}

/// "*" where everybody of the job takes part, else the ranks; "" for a foreign job.
std::string Server::signature(const pmix_proc_t* procs, std::size_t count) const {
  std::set<pmix_rank_t> ranks;
  for (std::size_t i = 0; i < count; ++i) {
    if (setup_.nspace != procs[i].nspace) return "";
    if (procs[i].rank == PMIX_RANK_WILDCARD) return "*";
    ranks.insert(procs[i].rank);
  }
  if (ranks.size() == setup_.nodes.size() * setup_.ranks_per_node) return "*";
  std::string out;
  for (const pmix_rank_t rank : ranks) out += (out.empty() ? "" : ",") + std::to_string(rank);
  return out;
}

pmix_status_t Server::fence(const pmix_proc_t* procs, std::size_t count, const pmix_info_t* info,
                            std::size_t info_count, std::string blob, ModexCall call) {
  FencePart part{.signature = signature(procs, count), .blob = std::move(blob)};
  if (part.signature.empty()) return PMIX_ERR_NOT_SUPPORTED;
  for (std::size_t i = 0; i < info_count; ++i) {
    // A false value comes as a key that is present.
    if (PMIX_CHECK_KEY(&info[i], PMIX_COLLECT_DATA)) part.collect = PMIX_INFO_TRUE(&info[i]);
  }
  {
    const std::lock_guard lock(mutex_);
    part.sequence = sequences_[part.signature]++;
    fences_.emplace(std::make_pair(part.signature, part.sequence), call);
  }
  events_.pmix_fence(std::move(part));
  return PMIX_SUCCESS;
}

pmix_status_t Server::modex(pmix_rank_t rank, ModexCall call) {
  std::uint64_t request = 0;
  {
    const std::lock_guard lock(mutex_);
    request = next_++;
    modexes_.emplace(request, call);
  }
  events_.pmix_modex(request, rank);
  return PMIX_SUCCESS;
}

void Server::abort(pmix_rank_t rank, int status, std::string message, OpCall call) {
  std::uint64_t token = 0;
  {
    const std::lock_guard lock(mutex_);
    token = next_++;
    aborts_.emplace(token, call);
    connected_.erase(rank);  // it says itself that it leaves
  }
  events_.pmix_abort(token, rank, status, std::move(message));
}

// The module's table ------------------------------------------------------------------------

pmix_status_t on_connected(const pmix_proc_t* proc, void*, pmix_info_t[], std::size_t,
                           pmix_op_cbfunc_t, void*) {
  the_server->connected(proc->rank);
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_finalized(const pmix_proc_t* proc, void*, pmix_op_cbfunc_t, void*) {
  the_server->finalized(proc->rank);
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_abort(const pmix_proc_t* proc, void*, int status, const char message[],
                       pmix_proc_t[], std::size_t, pmix_op_cbfunc_t done, void* data) {
  the_server->abort(proc->rank, status, message == nullptr ? "" : message, {done, data});
  return PMIX_SUCCESS;
}

pmix_status_t on_fence(const pmix_proc_t procs[], std::size_t count, const pmix_info_t info[],
                       std::size_t info_count, char* data, std::size_t size,
                       pmix_modex_cbfunc_t done, void* cbdata) {
  std::string blob = data == nullptr ? "" : std::string(data, size);
  const pmix_status_t status =
      the_server->fence(procs, count, info, info_count, std::move(blob), {done, cbdata});
  if (status == PMIX_SUCCESS) std::free(data);  // ours, whatever the header says
  return status;
}

pmix_status_t on_modex(const pmix_proc_t* proc, const pmix_info_t[], std::size_t,
                       pmix_modex_cbfunc_t done, void* data) {
  return the_server->modex(proc->rank, {done, data});
}

pmix_status_t on_publish(const pmix_proc_t*, const pmix_info_t[], std::size_t, pmix_op_cbfunc_t,
                         void*) {
  return PMIX_ERR_NOT_SUPPORTED;
}

pmix_status_t on_lookup(const pmix_proc_t*, char**, const pmix_info_t[], std::size_t,
                        pmix_lookup_cbfunc_t, void*) {
  return PMIX_ERR_NOT_SUPPORTED;
}

pmix_status_t on_unpublish(const pmix_proc_t*, char**, const pmix_info_t[], std::size_t,
                           pmix_op_cbfunc_t, void*) {
  return PMIX_ERR_NOT_SUPPORTED;
}

pmix_status_t on_spawn(const pmix_proc_t*, const pmix_info_t[], std::size_t, const pmix_app_t[],
                       std::size_t, pmix_spawn_cbfunc_t, void*) {
  return PMIX_ERR_NOT_SUPPORTED;
}

pmix_status_t on_connect(const pmix_proc_t[], std::size_t, const pmix_info_t[], std::size_t,
                         pmix_op_cbfunc_t, void*) {
  return PMIX_ERR_NOT_SUPPORTED;
}

pmix_status_t on_register_events(pmix_status_t*, std::size_t, const pmix_info_t[], std::size_t,
                                 pmix_op_cbfunc_t, void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_deregister_events(pmix_status_t*, std::size_t, pmix_op_cbfunc_t, void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_notify(pmix_status_t, const pmix_proc_t*, pmix_data_range_t, pmix_info_t[],
                        std::size_t, pmix_op_cbfunc_t, void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_query(pmix_proc_t*, pmix_query_t*, std::size_t, pmix_info_cbfunc_t, void*) {
  return PMIX_ERR_NOT_SUPPORTED;
}

/// Ends of ranks are seen by the daemon; the library wants somebody to take its events.
void on_event(std::size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t[], std::size_t,
              pmix_info_t[], std::size_t, pmix_event_notification_cbfunc_fn_t done, void* data) {
  if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
}

/// What is left null the library answers with "not supported". job_control must be null: with it
/// the library takes requests of ranks to delete files, and does so with the daemon's rights.
pmix_server_module_t callbacks() {
  pmix_server_module_t module{};
  module.client_connected2 = on_connected;
  module.client_finalized = on_finalized;
  module.abort = on_abort;
  module.fence_nb = on_fence;
  module.direct_modex = on_modex;
  module.publish = on_publish;
  module.lookup = on_lookup;
  module.unpublish = on_unpublish;
  module.spawn = on_spawn;
  module.connect = on_connect;
  module.disconnect = on_connect;
  module.register_events = on_register_events;
  module.deregister_events = on_deregister_events;
  module.notify_event = on_notify;
  module.query = on_query;
  return module;
}

// Start and stop ----------------------------------------------------------------------------

/// Variables by which another launcher would make the library call that launcher.
void clean_own_environment() {
  for (const char* name : {"PMIX_LAUNCHER_RNDZ_URI", "PMIX_KEEPALIVE_PIPE", "PMIX_SERVER_NAMESPACE",
                           "PMIX_SERVER_RANK", "PMIX_SERVER_TMPDIR", "PMIX_MCA_ptl"}) {
    ::unsetenv(name);
  }
  // Security: the name space is a secret, so the built-in module is enough and needs no daemon.
  // Storage: no files.
  ::setenv("PMIX_MCA_psec", "native", 1);
  ::setenv("PMIX_MCA_gds", "hash", 1);
}

Result<> Server::start(const PmixSetup& setup) {
  setup_ = setup;
  the_server = this;
  clean_own_environment();
  if (Result<> made = make_folders(); !made) return made;
  if (Result<> done = init(); !done) return done;
  return register_step();
}

Result<> Server::make_folders() {
  server_folder_ = setup_.directory + "/pmix";
  job_folder_ = setup_.directory + "/pmix-job";
  for (const std::string& folder : {server_folder_, job_folder_}) {
    if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      return fail(ErrorCode::kLaunch,
                  fmt::format("cannot make folder '{}': {}", folder, std::strerror(errno)));
    }
  }
  if (::lchown(job_folder_.c_str(), setup_.uid, setup_.gid) != 0) {
    return fail(ErrorCode::kLaunch,
                fmt::format("cannot give folder '{}' away: {}", job_folder_, std::strerror(errno)));
  }
  return {};
}

Result<> Server::init() {
  const std::string& node = setup_.nodes.at(setup_.node_index);
  InfoList info;
  info.text(PMIX_SERVER_TMPDIR, server_folder_);
  info.text(PMIX_SYSTEM_TMPDIR, server_folder_);
  info.text(PMIX_SERVER_NSPACE, setup_.nspace + ".server");
  info.rank(PMIX_SERVER_RANK, setup_.node_index);
  info.text(PMIX_HOSTNAME, node);
  info.number(PMIX_USERID, setup_.uid);
  info.number(PMIX_GRPID, setup_.gid);
  static pmix_server_module_t module = callbacks();
  const pmix_status_t status = PMIx_server_init(&module, info.data(), info.size());
  if (status != PMIX_SUCCESS) return failed("PMIx_server_init", status);
  initialised_ = true;
  // The blocking form: this is not the library's thread.
  const pmix_status_t handler =
      PMIx_Register_event_handler(nullptr, 0, nullptr, 0, on_event, nullptr, nullptr);
  return handler < 0 ? Result<>(failed("PMIx_Register_event_handler", handler)) : Result<>();
}

Result<> Server::register_step() {
  InfoList info;
  if (Result<> described = describe_job(setup_, job_folder_, info); !described) return described;
  pmix_status_t status =
      PMIx_server_register_nspace(setup_.nspace.c_str(), static_cast<int>(setup_.ranks_per_node),
                                  info.data(), info.size(), nullptr, nullptr);
  if (!succeeded(status)) return failed("PMIx_server_register_nspace", status);
  registered_ = true;
  for (std::uint32_t local = 0; local < setup_.ranks_per_node; ++local) {
    const pmix_proc_t proc = process(setup_.node_index * setup_.ranks_per_node + local);
    status = PMIx_server_register_client(&proc, setup_.uid, setup_.gid, nullptr, nullptr, nullptr);
    if (!succeeded(status)) return failed("PMIx_server_register_client", status);
  }
  return {};
}

pmix_proc_t Server::process(pmix_rank_t rank) const {
  pmix_proc_t out;
  PMIX_PROC_CONSTRUCT(&out);
  PMIX_LOAD_PROCID(&out, setup_.nspace.c_str(), rank);
  return out;
}

Result<Environment> Server::rank_environment(std::uint32_t local) {
  const pmix_proc_t proc = process(setup_.node_index * setup_.ranks_per_node + local);
  char** variables = nullptr;
  const pmix_status_t status = PMIx_server_setup_fork(&proc, &variables);
  if (status != PMIX_SUCCESS) return failed("PMIx_server_setup_fork", status);
  Environment out{{"PMIX_MCA_psec", "native"}, {"PMIX_MCA_gds", "hash"}};
  for (char** at = variables; at != nullptr && *at != nullptr; ++at) {
    const std::string_view variable = *at;
    const std::size_t equals = std::min(variable.find('='), variable.size());
    out.emplace_back(variable.substr(0, equals),
                     variable.substr(std::min(equals + 1, variable.size())));
    std::free(*at);
  }
  std::free(variables);
  return out;
}

void Server::stop() {
  if (registered_) PMIx_server_deregister_nspace(setup_.nspace.c_str(), nullptr, nullptr);
  registered_ = false;
  if (std::exchange(initialised_, false)) static_cast<void>(PMIx_server_finalize());
  std::error_code ignored;
  for (const std::string& folder : {server_folder_, job_folder_}) {
    if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
  }
}

}  // namespace
}  // namespace artel::pmix

extern "C" __attribute__((visibility("default"))) artel::step::PmixServer* artel_pmix_create(
    artel::step::PmixEvents* events) {
  return new artel::pmix::Server(*events);
}
