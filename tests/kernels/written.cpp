#include "written.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"
#include "kernels/tuning/elementwise.hpp"
#include "kiln/ops.hpp"
#include "kiln/ops/launcher.hpp"
#include "values.hpp"

namespace kiln::conformance {
namespace {

using ops::DType;

constexpr std::size_t kChunk = 16;             // bytes of one access
constexpr std::size_t kThreadsOfBlock = 1024;  // a multiprocessor holds one or two blocks
constexpr std::uint8_t kMark = 0xa5;
constexpr std::size_t kBehind = 4096;
// The only kernel that runs on the host and the emulated GPUs, where all kernels would take
// minutes.
constexpr std::string_view kOnProcessors = "usin_fp8_e4m3";

// A launch of a kernel over any number of elements; an error if there is no such kernel.
struct ElementwiseLaunch {
  std::size_t of_output, of_largest;  // bytes of an element
  std::function<Result<ops::Launch>(std::size_t count, const void* inp, void* out)> plan;
};

std::vector<ElementwiseLaunch> all_launches(const ops::Gpu& gpu) {
  std::vector<ElementwiseLaunch> all;
  const auto add = [&](DType from, DType to, auto call_of) {
    all.push_back({size_of(to), std::max(size_of(from), size_of(to)),
                   [=](std::size_t count, const void* inp, void* out) {
                     auto call = call_of(ops::Layout{{count}}, inp);
                     call.out = out;
                     call.geometry = ops::Geometry::kReference;
                     return plan(call, gpu);
                   }});
  };
  for (const ops::DTypeInfo& type : ops::kDTypes) {
    const DType dtype = type.dtype;
    for (const ops::UnaryOpInfo& op : ops::kUnaryOps) {
      add(dtype, dtype, [=](const ops::Layout& layout, const void* inp) {
        return ops::Unary{op.op, dtype, layout, inp, nullptr, ops::Scalar::from(dtype, 2)};
      });
    }
    for (const ops::BinaryOpInfo& op : ops::kBinaryOps) {
      add(dtype, output_dtype(op.op, dtype), [=](const ops::Layout& layout, const void* inp) {
        return ops::Binary{op.op, dtype, layout, layout, inp, inp};
      });
    }
    for (const ops::DTypeInfo& condition : ops::kDTypes) {
      const DType chosen_by = condition.dtype;
      add(chosen_by, dtype, [=](const ops::Layout& layout, const void* inp) {
        return ops::Where{chosen_by, dtype, layout, layout, layout, inp, inp, inp};
      });
    }
    add(dtype, dtype, [=](const ops::Layout& layout, const void* inp) {
      const auto scalar = [&](double value) { return ops::Scalar::from(dtype, value); };
      return ops::Affine{dtype, layout, inp, nullptr, scalar(3), scalar(7)};
    });
  }
  for (const ops::CastRow& row : ops::kCasts) {
    add(row.from, row.to, [=](const ops::Layout& layout, const void* inp) {
      return ops::Cast{row.from, row.to, layout, inp};
    });
  }
  return all;
}

}  // namespace

Result<std::size_t> run_written(const Device& device, std::ostream& out) {
  const DeviceInfo& info = device.info();
  const bool is_gpu = info.backend == Backend::kCuda || info.backend == Backend::kHip;
  // `one_each`: elements up to which kernels may take one a thread. `multiprocessors`: the number
  // that kernels assume. Except on CUDA, both are those of the largest GPU of the architecture.
  std::size_t one_each = 0, multiprocessors = info.multiprocessors;
  for (const tuning::Machine& machine : tuning::kMachines) {
    const std::string_view target = machine.target;
    if (info.target.compare(0, target.size(), target) != 0) continue;
    one_each = tuning::Spread{machine, machine.multiprocessors}.twice();
    if (info.backend != Backend::kCuda) multiprocessors = machine.multiprocessors;
  }
  // Chunks for each thread of a block on every multiprocessor, in quarters. With the first count,
  // all threads of two resident blocks may work; with the second, fewer do.
  constexpr std::size_t kQuarters[] = {7, 10};
  const auto count_of = [&](std::size_t quarters, std::size_t bytes) {
    const std::size_t chunks = multiprocessors * kThreadsOfBlock * quarters / 4;
    return std::max(chunks * kChunk / bytes, one_each + kThreadsOfBlock + 1);
  };
  const std::size_t most = std::max(count_of(10, 1), count_of(10, 8) * 8);
  KILN_TRY_ASSIGN(const Buffer inp, device.allocate(most));
  KILN_TRY_ASSIGN(const Buffer result, device.allocate(most + kBehind));
  std::vector<std::uint8_t> bytes(most + kBehind);
  Random random(1);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.bits());
  KILN_TRY(device.copy_to_device(inp.data(), bytes.data(), most));

  const ops::Launcher launcher(device);
  std::size_t failed = 0, run = 0;
  for (const ElementwiseLaunch& each : all_launches(ops::Gpu::of(info))) {
    for (const std::size_t quarters : kQuarters) {
      const std::size_t count = count_of(quarters, each.of_largest);
      const auto launch = each.plan(count, inp.data(), result.data());
      if (!launch || (!is_gpu && launch->kernel != kOnProcessors)) break;
      const std::size_t end = count * each.of_output;
      KILN_TRY(device.fill(result.data(), kMark, end + kBehind));
      KILN_TRY(launcher.run(*launch));
      KILN_TRY(device.synchronize());
      KILN_TRY(device.copy_to_host(bytes.data(), result.data(), end + kBehind));
      ++run;
      // No function gives these bits in a row for random inputs.
      const auto first = bytes.begin(), last = first + static_cast<std::ptrdiff_t>(end);
      const auto hole = std::search_n(first, last, kChunk, kMark);
      const bool is_beyond =
          std::any_of(last, last + kBehind, [](std::uint8_t byte) { return byte != kMark; });
      if (hole == last && !is_beyond) continue;
      ++failed;
      out << "FAILED " << std::string_view(launch->kernel) << ", " << count
          << " elements, reference grid\n    "
          << (is_beyond ? "written behind the end"
                        : "not written from byte " + std::to_string(hole - first))
          << '\n';
    }
  }
  out << info.id << ": more than it holds at once: " << run << " launches, "
      << (failed == 0 ? std::string("all written") : std::to_string(failed) + " FAILED") << '\n';
  return failed;
}

}  // namespace kiln::conformance
