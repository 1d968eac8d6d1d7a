#include "tests/bench/driver_kernels.hpp"

#include <fstream>
#include <iterator>
#include <span>

#include "base/diagnostic.hpp"
#include "formats/zstd.hpp"
#include "kiln/ops/kernels.hpp"

namespace kiln::bench {
namespace {

Error not_found(std::string message) {
  return Error{ErrorCode::kNotFound, std::move(message), {}, {}};
}

Result<std::vector<std::byte>> read_original(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return not_found("cannot read '" + path + "'");
  const std::vector<char> frame{std::istreambuf_iterator<char>(file), {}};
  return zstd_decompress(std::as_bytes(std::span(frame)));
}

Result<std::vector<std::byte>> read_ours(const ImageEntry& image) {
  const std::span stored(reinterpret_cast<const std::byte*>(image.data), image.stored_size);
  if (image.compression == Compression::kZstd) return zstd_decompress(stored);
  return std::vector<std::byte>(stored.begin(), stored.end());
}

}  // namespace

FindImage originals_in(std::string folder) {
  return [folder = std::move(folder)](const ops::Launch& launch) -> Result<DriverImage> {
    const std::string path = folder + "/" + std::string(launch.module) + ".cubin.zst";
    return DriverImage{path, [path] { return read_original(path); }};
  };
}

FindImage ours_for(std::string target) {
  return [target = std::move(target)](const ops::Launch& launch) -> Result<DriverImage> {
    const ModuleEntry* module = ops::catalog().find(launch.module);
    const std::ptrdiff_t found = module == nullptr ? -1 : module->find(launch.kernel);
    if (found < 0) return not_found("this build has no kernel '" + launch.kernel.text() + "'");
    const std::uint16_t unit = module->kernels[static_cast<std::size_t>(found)].unit;
    for (const ImageEntry& image : module->images) {
      if (image.target != target || image.unit != unit) continue;
      return DriverImage{std::string(launch.module) + " " + std::to_string(unit),
                         [&image] { return read_ours(image); }};
    }
    return not_found("this build has no image '" + target + "' of '" + launch.kernel.text() + "'");
  };
}

DriverKernels::DriverKernels(Device device, CudaClock& clock, FindImage find)
    : device_(std::move(device)), clock_(clock), find_(std::move(find)), space_(std::make_unique<ops::Workspace>(device_)) {}

Result<void> DriverKernels::prepare(const ops::Launch& launch) {
  const std::string kernel = launch.kernel.text();
  if (functions_.count(kernel) == 0) {
    KILN_TRY_ASSIGN(const DriverImage image, find_(launch));
    if (modules_.count(image.name) == 0) {
      KILN_TRY_ASSIGN(const std::vector<std::byte> bytes, image.read());
      KILN_TRY_ASSIGN(modules_[image.name], clock_.load_module(bytes.data()));
    }
    KILN_TRY_ASSIGN(functions_[kernel], clock_.find_function(modules_[image.name], kernel));
  }
  std::vector<std::size_t> layout(launch.layout.begin(), launch.layout.end());
  if (!layout.empty() && layouts_.count(layout) == 0) {
    KILN_TRY_ASSIGN(Buffer block, device_.upload(layout));
    layouts_.emplace(std::move(layout), std::move(block));
  }
  if (launch.workspace_bytes != 0) {
    KILN_TRY_ASSIGN(workspace_, space_->of(launch.workspace_bytes));
  }
  return {};
}

Result<void> DriverKernels::run(const ops::Launch& launch, StreamRef stream) const {
  auto values = launch.arguments;
  if (!launch.layout.empty()) {
    const void* const block = layouts_.at({launch.layout.begin(), launch.layout.end()}).data();
    values[launch.layout_argument] = ops::Argument::of(block);
  }
  if (launch.workspace_bytes != 0) {
    values[launch.workspace_argument] = ops::Argument::of(workspace_);
  }
  std::vector<const void*> arguments;
  arguments.reserve(values.size());
  for (const ops::Argument& value : values) arguments.push_back(value.data());
  for (std::uint32_t step = 0; step < launch.steps; ++step) {
    if (launch.step_argument != ops::Launch::kNoArgument) arguments.at(launch.step_argument) = &step;
    KILN_TRY(clock_.launch(stream, functions_.at(launch.kernel.text()), launch.grid, launch.block,
                           launch.shared_bytes, arguments.data()));
  }
  return {};
}

}  // namespace kiln::bench
