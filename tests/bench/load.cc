#include "load.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

namespace artel::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

template <typename T>
T must(Result<T> result, const char* what) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "artel_bench: %s: %s\n", what, result.error().text.c_str());
  std::exit(1);
}

std::string new_token() {
  static const std::string run = std::to_string(std::random_device{}());
  static std::atomic<std::uint64_t> next = 0;
  return "bench-" + run + "-" + std::to_string(++next);
}

void add_job(const Target& target, bool held, bool whole_node, v1::SubmitRequest& request) {
  v1::JobSpec& job = *request.add_jobs();
  job.set_name("bench");
  job.set_held(held);
  job.set_array_size(1);
  v1::Component& part = *job.add_components();
  part.set_nodes(1);
  part.set_ranks_per_node(1);
  part.mutable_per_node()->set_whole_node(whole_node);
  if (!whole_node) part.mutable_per_node()->set_cpus(1);
  if (!whole_node) part.mutable_per_node()->set_memory_bytes(1U << 20U);
  job.add_argv("/bin/true");
  job.set_working_directory(target.working_directory);
  job.set_output("/dev/null");
  job.set_client_token(new_token());
}

void cancel(rpc::Client& client, const std::vector<std::uint64_t>& jobs) {
  constexpr std::size_t kPerCall = 1000;
  for (std::size_t at = 0; at < jobs.size(); at += kPerCall) {
    v1::CancelRequest request;
    for (std::size_t i = at; i < std::min(at + kPerCall, jobs.size()); ++i)
      request.add_jobs(jobs[i]);
    must(client.cancel(request), "cancel");
  }
}

std::vector<std::uint64_t> submit(rpc::Client& client, const v1::SubmitRequest& request) {
  const v1::SubmitReply reply = must(client.submit(request), "submit");
  return {reply.jobs().begin(), reply.jobs().end()};
}

}  // namespace

double refused_calls_per_second(const Target& target, double seconds) {
  rpc::Client client(target.client);
  must(client.login(), "login");
  const auto begin = Clock::now();
  std::uint64_t calls = 0;
  while (seconds_since(begin) < seconds) {
    if (client.cancel({})) std::exit(1);  // names no job: must be refused
    ++calls;
  }
  return static_cast<double>(calls) / seconds_since(begin);
}

double submits_per_second(const Target& target, int clients, double seconds) {
  std::atomic<std::uint64_t> acknowledged = 0;
  std::vector<std::vector<std::uint64_t>> jobs(static_cast<std::size_t>(clients));
  std::vector<std::thread> threads;
  std::atomic<int> ready = 0;
  std::atomic<bool> go = false;
  std::atomic<bool> over = false;
  for (auto& mine : jobs) {
    threads.emplace_back([&] {
      rpc::Client client(target.client);
      must(client.login(), "login");
      ++ready;
      while (!go) std::this_thread::yield();
      while (!over) {
        v1::SubmitRequest request;
        add_job(target, true, false, request);
        mine.push_back(submit(client, request).front());
        ++acknowledged;
      }
      cancel(client, mine);
    });
  }
  while (ready < clients) std::this_thread::yield();
  const auto begin = Clock::now();
  go = true;
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const double result = static_cast<double>(acknowledged.load()) / seconds_since(begin);
  over = true;
  for (std::thread& thread : threads) thread.join();
  return result;
}

double bulk_submits_per_second(const Target& target, int jobs) {
  rpc::Client client(target.client);
  must(client.login(), "login");
  v1::SubmitRequest request;
  for (int i = 0; i < jobs; ++i) add_job(target, true, false, request);
  const auto begin = Clock::now();
  const auto ids = submit(client, request);
  const double seconds = seconds_since(begin);
  cancel(client, ids);
  return jobs / seconds;
}

double noop_jobs_per_second(const Target& target, int jobs, bool whole_node) {
  rpc::Client client(target.client);
  must(client.login(), "login");
  v1::SubmitRequest request;
  for (int i = 0; i < jobs; ++i) add_job(target, false, whole_node, request);
  const auto begin = Clock::now();
  const auto ids = submit(client, request);
  for (const std::uint64_t id : ids) {
    v1::WaitRequest wait;
    wait.set_job(id);
    wait.set_timeout_ms(60'000);
    const v1::ShowReply reply = must(client.wait(wait), "wait");
    if (reply.job().state() != "COMPLETED") {
      std::fprintf(stderr, "artel_bench: job %llu is %s: %s\n", static_cast<unsigned long long>(id),
                   reply.job().state().c_str(), reply.job().cause().text().c_str());
      std::exit(1);
    }
  }
  return jobs / seconds_since(begin);
}

std::vector<double> start_ms(const Target& target, int times) {
  rpc::Client client(target.client);
  must(client.login(), "login");
  std::vector<double> all;
  for (int i = 0; i < times; ++i) {
    v1::SubmitRequest request;
    add_job(target, false, false, request);
    v1::WaitRequest wait;
    wait.set_job(submit(client, request).front());
    wait.set_timeout_ms(60'000);
    const v1::ShowReply reply = must(client.wait(wait), "wait");
    const v1::JobView& job = reply.job();
    all.push_back(static_cast<double>(job.attempts().rbegin()->started_ms() - job.submitted_ms()));
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace artel::bench
