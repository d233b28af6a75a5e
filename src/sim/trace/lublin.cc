#include "sim/trace/lublin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "sim/random.h"

namespace artel::trace {
namespace {

// Parameters of the paper for jobs of all types. Sizes are powers of two more often than not; the
// logarithm of run times is a mixture of two gamma distributions, the longer one more likely for
// larger jobs; that of gaps between arrivals is a gamma distribution, stretched by the time of day.
constexpr double kSerial = 0.244;
constexpr double kPowerOfTwo = 0.576;
constexpr double kLow = 0.8;        // log2 of the smallest parallel size
constexpr double kMiddleGap = 2.5;  // log2 of the largest size, less the middle one
constexpr double kBelowMiddle = 0.86;
struct Gamma {
  double alpha;
  double beta;
};
constexpr Gamma kShortRun{4.2, 0.94};
constexpr Gamma kLongRun{312, 0.03};
constexpr double kShortSlope = -0.0054;  // of the share of short ones, per unit of size
constexpr double kShortAtZero = 0.78;
constexpr double kLongestRun = 12;  // logarithm of seconds: 45 hours
constexpr Gamma kGap{10.2303 * 1.0225, 0.4871};
constexpr double kLongestGap = 13;
constexpr Gamma kTimeOfDay{8.1737, 3.9631};
constexpr std::size_t kSlots = 48;  // of a day
constexpr double kSlotSeconds = 1800;
constexpr std::size_t kDayBegins =
    11;  // the slot in which the cycle of a day begins: half past five

constexpr std::uint64_t kMostJobs = 10'000'000;
constexpr std::uint64_t kMostUnits = 100'000'000;
constexpr std::uint64_t kUsersOfTeam = 8;

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}

  /// In (0, 1).
  double uniform() {
    constexpr double kScale = 1.0 / 9007199254740992.0;  // 2^-53
    return (static_cast<double>(random_.next() >> 11U) + 0.5) * kScale;
  }
  double between(double low, double high) { return low + uniform() * (high - low); }

  /// Marsaglia and Tsang 2000, for alpha >= 1.
  double gamma(const Gamma& shape) {
    const double d = shape.alpha - 1.0 / 3.0;
    const double c = 1.0 / std::sqrt(9.0 * d);
    while (true) {
      const double x = normal();
      const double v = std::pow(1.0 + c * x, 3);
      if (v <= 0) continue;
      if (std::log(uniform()) < 0.5 * x * x + d - d * v + d * std::log(v))
        return shape.beta * d * v;
    }
  }
  /// The same, not above `most`.
  double gamma_below(const Gamma& shape, double most) {
    double value = gamma(shape);
    while (value > most) value = gamma(shape);
    return value;
  }
  /// 0 with the largest probability, the next half as likely, and so on as 1 / (index + 1).
  std::size_t favoured(std::size_t count) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += 1.0 / static_cast<double>(i + 1);
    double left = uniform() * sum;
    for (std::size_t i = 0; i + 1 < count; ++i) {
      left -= 1.0 / static_cast<double>(i + 1);
      if (left < 0) return i;
    }
    return count - 1;
  }

 private:
  /// Box and Muller 1958.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

  sim::Random random_;
};

/// How busy each half hour of the day is; the mean is 1.
std::array<double, kSlots> day_weights() {
  const auto density = [](double x) {
    return std::pow(x, kTimeOfDay.alpha - 1) * std::exp(-x / kTimeOfDay.beta);
  };
  std::array<double, kSlots> weights{};
  double sum = 0;
  constexpr int kParts = 16;  // Simpson's rule
  for (std::size_t i = kDayBegins; i < kDayBegins + kSlots; ++i) {
    double area = 0;
    for (int part = 0; part <= kParts; ++part) {
      const double factor = part == 0 || part == kParts ? 1 : (part % 2 == 1 ? 4 : 2);
      area += factor * density(static_cast<double>(i) - 0.5 + part / static_cast<double>(kParts));
    }
    weights[(i - 1) % kSlots] = area;
    sum += area;
  }
  for (double& weight : weights) weight *= static_cast<double>(kSlots) / sum;
  return weights;
}

/// Arrivals from midnight on: a gap is work to be done at the pace of the time of day.
class Arrivals {
 public:
  double next(Chance& chance) {
    double gap = std::exp(chance.gamma_below(kGap, kLongestGap)) / kSlotSeconds;
    while (gap > weights_[slot_] * (1 - part_)) {
      gap -= weights_[slot_] * (1 - part_);
      slot_ = (slot_ + 1) % kSlots;
      begin_ += kSlotSeconds;
      part_ = 0;
    }
    part_ += gap / weights_[slot_];
    return begin_ + part_ * kSlotSeconds;
  }

 private:
  std::array<double, kSlots> weights_ = day_weights();
  std::size_t slot_{};
  double begin_{};  // of the slot
  double part_{};   // of the slot that is over
};

std::uint64_t size_of(Chance& chance, const LublinOptions& options) {
  const double high = std::log2(static_cast<double>(options.units));
  const double middle = std::max(high - kMiddleGap, std::min(kLow, high));
  const double kind = chance.uniform();
  std::uint64_t size = 1;
  if (kind > kSerial && options.units > 1) {
    const bool is_small = chance.uniform() <= kBelowMiddle;
    double power =
        is_small ? chance.between(std::min(kLow, middle), middle) : chance.between(middle, high);
    if (kind <= kSerial + kPowerOfTwo) power = std::round(power);
    size = static_cast<std::uint64_t>(std::llround(std::exp2(power)));
  }
  size = std::clamp<std::uint64_t>(size, 1, options.units);
  if (size <= options.node_size) return size;
  const std::uint64_t nodes = (size + options.node_size - 1) / options.node_size;
  const std::uint64_t most = std::max<std::uint64_t>(options.units / options.node_size, 1);
  return std::min(nodes, most) * options.node_size;
}

Seconds run_of(Chance& chance, std::uint64_t size) {
  const double share = std::clamp(kShortSlope * static_cast<double>(size) + kShortAtZero, 0.0, 1.0);
  const Gamma& shape = chance.uniform() <= share ? kShortRun : kLongRun;
  return std::max<Seconds>(1,
                           static_cast<Seconds>(std::exp(chance.gamma_below(shape, kLongestRun))));
}

Seconds round_limit(Chance& chance, Seconds run) {
  constexpr std::array<Seconds, 10> kLiked = {900,   1800,  3600,  7200,   14400,
                                              28800, 43200, 86400, 172800, 691200};
  const auto wanted = static_cast<Seconds>(static_cast<double>(run) * chance.between(1, 3));
  const auto at = std::lower_bound(kLiked.begin(), kLiked.end(), std::max(wanted, run));
  return at == kLiked.end() ? std::max(wanted, run) : *at;
}

/// Moves arrivals together or apart.
void set_load(Workload& workload, const LublinOptions& options) {
  if (!options.load || workload.jobs.back().submit == 0) return;
  double work = 0;
  for (const Job& job : workload.jobs)
    work += static_cast<double>(job.gpus / kMilli) * static_cast<double>(job.runtime);
  const double length = work / (static_cast<double>(options.units) * *options.load);
  const double factor = length / static_cast<double>(workload.jobs.back().submit);
  for (Job& job : workload.jobs)
    job.submit = static_cast<Seconds>(std::llround(static_cast<double>(job.submit) * factor));
}

Result<> check(const LublinOptions& options) {
  const auto in_range = [](std::string_view what, std::uint64_t value,
                           std::uint64_t most) -> Result<> {
    if (value >= 1 && value <= most) return {};
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: {} is out of range; accepted are 1 to {}", what, value, most));
  };
  if (auto jobs = in_range("number of jobs", options.jobs, kMostJobs); !jobs) return jobs;
  if (auto units = in_range("size of the machine", options.units, kMostUnits); !units) return units;
  if (auto node = in_range("size of a node", options.node_size, kMostUnits); !node) return node;
  if (options.load && !(*options.load > 0 && *options.load <= 100)) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("load: {} is out of range; accepted is more than 0 to 100", *options.load));
  }
  return {};
}

void add_owner(Job& job, Chance& chance, Names& names, const LublinOptions& options) {
  const std::size_t user = chance.favoured(kUsersOfTeam) + 1;
  if (options.teams.empty()) {
    job.user = names.index_of(fmt::format("u{}", user));
    return;
  }
  const std::string& team = options.teams[chance.favoured(options.teams.size())];
  job.team = names.index_of(team);
  job.user = names.index_of(fmt::format("{}-u{}", team, user));
}

}  // namespace

Result<Workload> generate_lublin(const LublinOptions& options) {
  if (auto checked = check(options); !checked) return fail(checked);
  Workload workload;
  workload.name = fmt::format("lublin, {} jobs, seed {}", options.jobs, options.seed);
  workload.capacity = static_cast<Milli>(options.units) * kMilli;
  workload.resource = Resource::kGpus;
  Names names(workload.names);
  Chance chance(options.seed);
  Arrivals arrivals;
  double first = 0;
  for (std::uint64_t i = 1; i <= options.jobs; ++i) {
    const double at = arrivals.next(chance);
    if (i == 1) first = at;
    const std::uint64_t size = size_of(chance, options);
    Job job;
    job.id = std::to_string(i);
    job.submit = static_cast<Seconds>(at - first);
    job.runtime = run_of(chance, size);
    job.limit =
        options.limits == GeneratedLimits::kExact ? job.runtime : round_limit(chance, job.runtime);
    const std::uint64_t nodes = (size + options.node_size - 1) / options.node_size;
    job.nodes = static_cast<Milli>(nodes) * kMilli;
    job.gpus = static_cast<Milli>(size) * kMilli;
    job.gpus_per_node = job.gpus / static_cast<Milli>(nodes);
    add_owner(job, chance, names, options);
    workload.jobs.push_back(std::move(job));
  }
  set_load(workload, options);
  return workload;
}

}  // namespace artel::trace
