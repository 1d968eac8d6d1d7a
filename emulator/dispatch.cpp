#include "emulator/dispatch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>

#include "base/helping_threads.hpp"
#include "base/text.hpp"
#include "emulator/kernarg.hpp"
#include "emulator/report.hpp"
#include "emulator/workgroup.hpp"
#include "formats/launch_bound.hpp"

namespace kiln::emulator {
namespace {

constexpr u32 kMaxThreads = 1024;
constexpr u64 kMaxThreadsInDimension = 0xffffffff;  // of a grid, the limit of HIP
constexpr u64 kMaxWorkgroups = u64{1} << 40;        // years of emulation
constexpr u32 kMaxLds = 64 * 1024;
// A launch of fewer instructions ends before a second thread has started.
constexpr u64 kWorthAThread = 200'000;

Error impossible(const Kernel& kernel, const std::string& reason,
                 ErrorCode code = ErrorCode::kInvalidInput) {
  return Error{code,
               "launch: invalid configuration: kernel " + quote(kernel.name) + ": " + reason,
               {},
               {},
               {}};
}

// True if the product of the three extents, none of them 0, is at most `limit`. Does not overflow.
bool product_within(const std::array<u32, 3>& extents, u64 limit) {
  for (const u32 extent : extents) limit /= extent;
  return limit != 0;
}

std::string extents(const std::array<u32, 3>& size) {
  return std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[2]);
}

Result<void> check(const LaunchRequest& request) {
  const auto is_empty = [](const std::array<u32, 3>& size) {
    return size[0] == 0 || size[1] == 0 || size[2] == 0;
  };
  const Kernel& kernel = *request.kernel;
  if (is_empty(request.grid)) return impossible(kernel, "a grid without a workgroup");
  if (is_empty(request.block)) return impossible(kernel, "a workgroup without a thread");
  if (!product_within(request.block, kMaxThreads)) {
    return impossible(kernel, extents(request.block) + " threads in a workgroup; the limit is " +
                                  std::to_string(std::min<u64>(kMaxThreads, kernel.max_threads)));
  }
  const u64 threads = u64{request.block[0]} * request.block[1] * request.block[2];
  if (Result<void> fits = check_launch_bound(threads, kernel.max_threads); !fits) {
    Error error = std::move(fits).error();
    error.message = impossible(kernel, error.message).message;
    return error;
  }
  for (std::size_t i = 0; i < request.grid.size(); ++i) {
    if (u64{request.grid[i]} * request.block[i] > kMaxThreadsInDimension) {
      return impossible(kernel, "a grid of " + extents(request.grid) + " workgroups of " +
                                    extents(request.block) + " threads; the limit is " +
                                    std::to_string(kMaxThreadsInDimension) +
                                    " threads in each dimension");
    }
  }
  if (!product_within(request.grid, kMaxWorkgroups)) {
    return impossible(kernel, "a grid of " + extents(request.grid) + " workgroups; the limit is " +
                                  std::to_string(kMaxWorkgroups));
  }
  const u64 lds = u64{kernel.descriptor.group_segment_size} + request.dynamic_lds;
  if (lds > kMaxLds) {
    return impossible(
        kernel, std::to_string(lds) + " bytes of LDS; the limit is " + std::to_string(kMaxLds));
  }
  const std::vector<std::string> missing = request.program->missing_in(kernel.name);
  if (!missing.empty()) {
    return impossible(kernel, "the emulator lacks " + join(missing, ", "), ErrorCode::kUnavailable);
  }
  return {};
}

LaunchPlan make_plan(const LaunchRequest& request, const RunOptions& options,
                     const KernelArguments& arguments) {
  const Program& program = *request.program;
  LaunchPlan plan;
  plan.program = &program;
  plan.device = &program.model();
  plan.kernel = request.kernel;
  plan.memory = request.memory;
  plan.grid = request.grid;
  plan.block = request.block;
  plan.threads = request.block[0] * request.block[1] * request.block[2];
  plan.lds_bytes = request.kernel->descriptor.group_segment_size + request.dynamic_lds;
  plan.scratch_bytes = request.kernel->scratch_bytes();
  // Registers beyond the last named one, because a pair may begin there.
  plan.vector_registers =
      std::max(program.vector_registers(), request.kernel->vector_registers) + 2;
  plan.user_registers = arguments.user_registers();
  plan.own_ranges = arguments.ranges();
  plan.own_ranges.insert(plan.own_ranges.end(), program.segments().begin(),
                         program.segments().end());
  plan.pointers = arguments.pointers();
  plan.options = options;
  return plan;
}

// The grid of a launch, distributed to threads.
class Grid {
 public:
  explicit Grid(const LaunchPlan& plan)
      : plan_(plan), size_(u64{plan.grid[0]} * plan.grid[1] * plan.grid[2]) {}

  void run() {
    const std::unique_ptr<WorkgroupRunner> runner = make_workgroup_runner(plan_);
    run_next(*runner);
    // The first workgroup shows how many instructions a workgroup takes.
    const u64 left = size_ - std::min<u64>(size_, 1);
    const u64 helpers = left == 0 || counts_.instructions == 0 || fault_
                            ? 0
                            : std::min({u64{plan_.options.threads} - 1, left,
                                        counts_.instructions * left / kWorthAThread});
    const HelpingThreads helping(helpers,
                                 [this](std::size_t) { work(*make_workgroup_runner(plan_)); });
    work(*runner);
    counts_.threads = static_cast<unsigned>(helping.count()) + 1;
  }

  const std::optional<Fault>& fault() const { return fault_; }
  const Counts& counts() const { return counts_; }

 private:
  void work(WorkgroupRunner& runner) {
    while (run_next(runner)) {
    }
  }

  bool run_next(WorkgroupRunner& runner) {
    const u64 i = next_.fetch_add(1, std::memory_order_relaxed);
    if (i >= size_ || stopped_.load(std::memory_order_relaxed)) return false;
    const u64 rows = i / plan_.grid[0];
    try {
      const Counts counts =
          runner.run({static_cast<u32>(i % plan_.grid[0]), static_cast<u32>(rows % plan_.grid[1]),
                      static_cast<u32>(rows / plan_.grid[1])});
      const std::lock_guard lock(mutex_);
      counts_.add(counts);
      return true;
    } catch (Fault& fault) {
      const std::lock_guard lock(mutex_);
      if (!fault_) fault_ = std::move(fault);
      stopped_ = true;
      return false;
    }
  }

  const LaunchPlan& plan_;
  const u64 size_;
  std::atomic<u64> next_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::optional<Fault> fault_;
  Counts counts_;
};

}  // namespace

void Counts::add(const Counts& other) {
  instructions += other.instructions;
  for (std::size_t i = 0; i < by_class.size(); ++i) by_class[i] += other.by_class[i];
  lanes += other.lanes;
  active_lanes += other.active_lanes;
}

Result<Counts> launch(const LaunchRequest& request, const RunOptions& options) {
  if (auto checked = check(request); !checked) return std::move(checked).error();
  const KernelArguments arguments(request);
  RunOptions effective = options;
  if (effective.checks == Checks::kEverything)
    effective.threads = 1;  // a wave and its twin must read the same memory
  const LaunchPlan plan = make_plan(request, effective, arguments);
  const auto start = std::chrono::steady_clock::now();
  Grid grid(plan);
  grid.run();
  if (grid.fault()) return report(*grid.fault(), plan);
  Counts counts = grid.counts();
  counts.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return counts;
}

}  // namespace kiln::emulator
