// kiln_instructions: counts the instructions that launches of kiln's kernels execute on emulated
// AMD GPUs.
//
// Has the command line, the launches, the table and the limits. Exit: 0; 1 if a launch fails or,
// with --judge, executes too many; 2 for a usage error.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "emulator/dispatch.hpp"
#include "tests/bench/families.hpp"
#include "tests/kernels/suite.hpp"

namespace {

using namespace kiln;
using namespace kiln::bench;
namespace fs = std::filesystem;

constexpr const char* kUsage = R"(usage: kiln_instructions [options]
Counts what launches of our kernels execute on emulated AMD GPUs, in both geometries.
  --images FOLDER    the images of a build (default: those of this build)
  --device ID        gfx1030, gfx1100 or gfx90a; may be repeated (default: all three)
  --kernel PATTERN   '*' stands for any letters; may be repeated
                     (default: affine_f32, uneg_f32, ucopy_f32)
  --elements N       of a contiguous launch; may be repeated (default: 4096)
  --transposed RxC   a transposed view instead; may be repeated
  --classes          also print wave instructions by class
  --judge            exit with 1 if a launch of 4,096 elements executes a tenth more lane
                     instructions than when its limit was set (default: kernels with limits)
lane instructions: one for each active lane of each vector instruction.
for example: kiln_instructions --device gfx1100 --kernel 'ugelu_*' --elements 4096 --elements 65536
)";

struct Options {
  fs::path images = KILN_IMAGES;
  std::vector<std::string> devices, kernels;
  std::vector<BenchCase> shapes;  // without a kernel
  bool classes = false, judge = false;
};

// Lane instructions for each of 4,096 elements, counted on 2026-12-01 (clang 19).
struct Limit {
  std::string_view device, kernel;
  double own, reference;
};
constexpr Limit kLimits[] = {
    {"gfx1030", "affine_f32", 3.00, 7.00},   {"gfx1030", "uneg_f32", 3.00, 7.00},
    {"gfx1030", "ucopy_f32", 2.00, 6.00},    {"gfx1030", "badd_f32", 3.25, 8.00},
    {"gfx1030", "cast_f32_f16", 5.75, 8.00}, {"gfx1030", "where_u8_f32", 7.50, 49.00},
    {"gfx1100", "affine_f32", 3.00, 7.00},   {"gfx1100", "uneg_f32", 3.00, 7.00},
    {"gfx1100", "ucopy_f32", 2.00, 6.00},    {"gfx1100", "badd_f32", 3.25, 8.00},
    {"gfx1100", "cast_f32_f16", 6.25, 8.00}, {"gfx1100", "where_u8_f32", 7.75, 58.00},
    {"gfx90a", "affine_f32", 3.50, 9.00},    {"gfx90a", "uneg_f32", 3.75, 8.00},
    {"gfx90a", "ucopy_f32", 2.75, 7.00},     {"gfx90a", "badd_f32", 3.25, 9.00},
    {"gfx90a", "cast_f32_f16", 6.50, 9.00},  {"gfx90a", "where_u8_f32", 9.25, 54.00},
    {"gfx1030", "fast_sum_f32", 8.88, 72.9}, {"gfx1030", "softmax_f32", 60.2, 41.4},
    {"gfx1100", "fast_sum_f32", 9.07, 74.9}, {"gfx1100", "softmax_f32", 60.5, 41.5},
    {"gfx90a", "fast_sum_f32", 9.57, 82.4},  {"gfx90a", "softmax_f32", 38.1, 39.1},
    {"gfx1030", "mul_mat_q4_K", 1.05, 0.66}, {"gfx1100", "mul_mat_q4_K", 0.69, 0.32},
    {"gfx90a", "mul_mat_q4_K", 0.64, 0.26},
};

// True if a launch of 4,096 elements executes more than its limit, if it has one, allows.
bool is_above_limit(const std::string& device, const std::string& kernel, ops::Geometry geometry,
                    double per_element) {
  for (const Limit& limit : kLimits) {
    if (limit.device != device || limit.kernel != kernel) continue;
    return per_element > 1.1 * (geometry == ops::Geometry::kOwn ? limit.own : limit.reference);
  }
  return false;
}

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--classes" || option == "--judge") {
      (option == "--judge" ? options.judge : options.classes) = true;
      continue;
    }
    const char* value = i + 1 < argc ? argv[++i] : nullptr;
    unsigned rows = 0, columns = 0;
    if (value != nullptr && option == "--images") {
      options.images = value;
    } else if (value != nullptr && option == "--device") {
      options.devices.emplace_back(value);
    } else if (value != nullptr && option == "--kernel") {
      options.kernels.emplace_back(value);
    } else if (value != nullptr && option == "--elements" && std::atoll(value) > 0) {
      options.shapes.push_back(contiguous_case("", static_cast<std::size_t>(std::atoll(value))));
    } else if (value != nullptr && option == "--transposed" &&
               std::sscanf(value, "%ux%u", &rows, &columns) == 2 && rows * columns != 0) {
      BenchCase shape = contiguous_case("", rows);
      shape.dims = {rows, columns};
      shape.strides = {{1, rows}};
      shape.view = View::kTransposed;
      shape.shape = "transposed " + std::string(value);
      options.shapes.push_back(shape);
    } else {
      const bool help = option == "--help" || option == "-h";
      if (!help) std::fprintf(stderr, "kiln_instructions: error: bad argument '%s'\n", argv[i]);
      std::fputs(kUsage, help ? stdout : stderr);
      return std::nullopt;
    }
  }
  if (options.devices.empty()) options.devices = {"gfx1030", "gfx1100", "gfx90a"};
  if (options.kernels.empty() && options.judge) {
    for (const Limit& limit : kLimits) {
      if (limit.device == "gfx1030") options.kernels.emplace_back(limit.kernel);
    }
  }
  if (options.kernels.empty()) options.kernels = {"affine_f32", "uneg_f32", "ucopy_f32"};
  if (options.shapes.empty()) options.shapes = {contiguous_case("", 4096)};
  return options;
}

// The programs for one device.
class Images {
 public:
  // Reads every code object below the folder that is named after the device.
  static Result<Images> load(const fs::path& folder, const std::string& device,
                             const emulator::OperationTable& operations) {
    Images images;
    std::error_code error;
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string();
      if (name.find(device) != std::string::npos && entry.path().extension() == ".hsaco")
        files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& path : files) {
      std::ifstream file(path, std::ios::binary);
      std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
      KILN_TRY_ASSIGN(
          auto program,
          emulator::Program::load({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()},
                                  operations));
      images.programs_.push_back(std::move(program));
    }
    if (!files.empty()) return images;
    return Error{
        ErrorCode::kNotFound, "no image of '" + device + "' in '" + folder.string() + "'", {}, {}};
  }

  std::vector<std::string> matching(const std::string& pattern) const {
    std::vector<std::string> names;
    for (const auto& program : programs_) {
      for (const emulator::Kernel& kernel : program->kernels()) {
        if (conformance::matches(pattern, kernel.name)) names.push_back(kernel.name);
      }
    }
    return names;
  }

  Result<emulator::Counts> run(const ops::Launch& launch, emulator::MemoryMap& memory) const {
    emulator::LaunchRequest request;
    for (const auto& program : programs_) {
      if (const emulator::Kernel* kernel = program->find_kernel(launch.kernel)) {
        request.program = program.get();
        request.kernel = kernel;
      }
    }
    auto values = launch.arguments;
    if (!launch.layout.empty()) {
      const std::size_t bytes = launch.layout.size() * sizeof(std::size_t);
      KILN_TRY_ASSIGN(void* const block, memory.allocate(bytes));
      std::memcpy(block, launch.layout.data(), bytes);
      values[launch.layout_argument] = ops::Argument::of(static_cast<const void*>(block));
    }
    std::vector<const void*> arguments;
    for (const ops::Argument& value : values) arguments.push_back(value.data());
    request.memory = &memory;
    request.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
    request.block = {launch.block.x, launch.block.y, launch.block.z};
    request.dynamic_lds = launch.shared_bytes;
    request.arguments = arguments.data();
    emulator::RunOptions options;
    options.count_classes = true;
    return emulator::launch(request, options);
  }

 private:
  std::vector<std::unique_ptr<emulator::Program>> programs_;
};

Result<emulator::Counts> count(const Images& images, const BenchCase& subject,
                               ops::Geometry geometry, ops::Launch& launch) {
  KILN_TRY_ASSIGN(const Operands operands, operands_of(subject));
  emulator::MemoryMap memory;
  Addresses addresses;
  for (const Operand& input : operands.inputs) {
    KILN_TRY_ASSIGN(void* const buffer, memory.allocate(input.bytes()));
    // Small positive values of every dtype, because the instructions rarely depend on the values.
    const std::uint64_t bits = ops::Scalar::from(input.dtype, 0.75).bits;
    for (std::size_t at = 0; at < input.bytes(); at += size_of(input.dtype)) {
      std::memcpy(static_cast<char*>(buffer) + at, &bits, size_of(input.dtype));
    }
    addresses.inputs.push_back(buffer);
  }
  KILN_TRY_ASSIGN(addresses.output, memory.allocate(operands.output.bytes()));
  KILN_TRY_ASSIGN(launch, plan_ours(subject, addresses, geometry));
  return images.run(launch, memory);
}

void print_classes(const emulator::Counts& counts) {
  static constexpr const char* kNames[] = {"vector float", "vector integer", "matrix",  "scalar",
                                           "scalar load",  "load",           "store",   "atomic",
                                           "LDS",          "branch",         "barrier", "wait"};
  static_assert(std::size(kNames) == emulator::kInstructionClasses);
  for (std::size_t i = 0; i < emulator::kInstructionClasses; ++i) {
    if (counts.by_class[i] == 0) continue;
    std::printf("    %-16s %12llu\n", kNames[i],
                static_cast<unsigned long long>(counts.by_class[i]));
  }
}

// Returns the number of launches that cannot run or execute too many instructions.
Result<std::size_t> run(const Options& options) {
  std::size_t failed = 0;
  const emulator::OperationTable operations;
  std::printf("%-8s %-24s %-9s %11s %14s %11s %12s\n", "device", "case", "geometry", "launch",
              "lane instr.", "per element", "wave instr.");
  for (const std::string& device : options.devices) {
    KILN_TRY_ASSIGN(const Images images, Images::load(options.images, device, operations));
    for (const std::string& pattern : options.kernels) {
      for (const std::string& kernel : images.matching(pattern)) {
        for (BenchCase subject : options.shapes) {
          if (subject.view == View::kContiguous) {
            KILN_TRY_ASSIGN(subject, sized_case(kernel, subject.count()));
          }
          subject.kernel = kernel;
          subject.gpu = {device, 0};  // the architecture's largest
          for (const auto geometry : {ops::Geometry::kOwn, ops::Geometry::kReference}) {
            std::printf("%-8s %-24s %-9s ", device.c_str(), subject.name().c_str(),
                        geometry == ops::Geometry::kOwn ? "own" : "original");
            ops::Launch launch;
            const Result<emulator::Counts> counted = count(images, subject, geometry, launch);
            if (!counted) {
              std::printf("cannot run: %s\n", counted.error().message.c_str());
              ++failed;
              continue;
            }
            const emulator::Counts& counts = *counted;
            const std::string grid =
                std::to_string(launch.grid.x) + "x" + std::to_string(launch.block.x);
            const double per_element =
                static_cast<double>(counts.active_lanes) / static_cast<double>(subject.count());
            const bool is_above = options.judge && subject.count() == 4096 &&
                                  subject.view == View::kContiguous &&
                                  is_above_limit(device, kernel, geometry, per_element);
            failed += is_above;
            std::printf("%11s %14llu %11.2f %12llu%s\n", grid.c_str(),
                        static_cast<unsigned long long>(counts.active_lanes), per_element,
                        static_cast<unsigned long long>(counts.instructions),
                        is_above ? "  FAIL: above the limit" : "");
            if (options.classes) print_classes(counts);
          }
        }
      }
    }
  }
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options = parse(argc, argv);
  if (!options) return 2;
  const Result<std::size_t> failed = run(*options);
  if (failed) return *failed == 0 ? 0 : 1;
  std::fputs(render(failed.error(), Color::kNo, "kiln_instructions").c_str(), stderr);
  return 1;
}
