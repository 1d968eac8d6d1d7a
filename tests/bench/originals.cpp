#include "tests/bench/originals.hpp"

#include <fstream>
#include <iterator>

#include "base/diagnostic.hpp"
#include "formats/zstd.hpp"

namespace kiln::bench {

Originals::Originals(Device device, CudaClock& clock, std::string folder)
    : device_(std::move(device)), clock_(clock), folder_(std::move(folder)) {}

Result<void> Originals::prepare(const ops::Launch& launch) {
  const std::string module_name(launch.module);
  if (modules_.count(module_name) == 0) {
    const std::string path = folder_ + "/" + module_name + ".cubin.zst";
    std::ifstream file(path, std::ios::binary);
    if (!file) return Error{ErrorCode::kNotFound, "cannot read '" + path + "'", {}, {}};
    const std::vector<char> frame{std::istreambuf_iterator<char>(file), {}};
    KILN_TRY_ASSIGN(const std::vector<std::byte> image,
                    zstd_decompress(std::as_bytes(std::span(frame))));
    KILN_TRY_ASSIGN(void* const module, clock_.load_module(image.data()));
    modules_[module_name] = module;
  }
  if (functions_.count(launch.kernel) == 0) {
    KILN_TRY_ASSIGN(void* const function,
                    clock_.find_function(modules_[module_name], launch.kernel));
    functions_[launch.kernel] = function;
  }
  if (!launch.layout.empty() && layouts_.count(launch.layout) == 0) {
    KILN_TRY_ASSIGN(Buffer block, device_.upload(launch.layout));
    layouts_.emplace(launch.layout, std::move(block));
  }
  return {};
}

Result<void> Originals::run(const ops::Launch& launch, StreamRef stream) const {
  std::vector<ops::Argument> values = launch.arguments;
  if (!launch.layout.empty()) {
    const void* const block = layouts_.at(launch.layout).data();
    values.at(launch.layout_argument) = ops::Argument::of(block);
  }
  std::vector<const void*> arguments;
  arguments.reserve(values.size());
  for (const ops::Argument& value : values) arguments.push_back(value.data());
  return clock_.launch(stream, functions_.at(launch.kernel), launch.grid, launch.block,
                       launch.shared_bytes, arguments.data());
}

}  // namespace kiln::bench
