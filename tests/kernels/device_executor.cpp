#include "base/diagnostic.hpp"
#include "kiln/ops/launcher.hpp"
#include "tests/kernels/executor.hpp"

namespace kiln::conformance {
namespace {

class DeviceExecutor final : public Executor {
 public:
  explicit DeviceExecutor(const Device& device) : device_(device), launcher_(device) {}

  Result<std::vector<std::byte*>> place(const std::vector<std::size_t>& sizes) override {
    if (pieces_.size() < sizes.size()) pieces_.resize(sizes.size());
    std::vector<std::byte*> addresses;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (pieces_[i].size() < sizes[i]) {
        KILN_TRY_ASSIGN(pieces_[i], device_.allocate(sizes[i]));
      }
      addresses.push_back(pieces_[i].as<std::byte>());
    }
    return addresses;
  }

  Result<void> run(const ops::Launch& launch,
                   std::vector<std::vector<std::byte>>& contents) override {
    for (std::size_t i = 0; i < contents.size(); ++i) {
      KILN_TRY(device_.copy_to_device(pieces_[i].data(), contents[i].data(), contents[i].size()));
    }
    KILN_TRY(launcher_.run(launch));
    KILN_TRY(device_.synchronize());
    for (std::size_t i = 0; i < contents.size(); ++i) {
      KILN_TRY(device_.copy_to_host(contents[i].data(), pieces_[i].data(), contents[i].size()));
    }
    return {};
  }

 private:
  Device device_;
  ops::Launcher launcher_;
  std::vector<Buffer> pieces_;  // grown, never shrunk: allocating for each case would take longest
};

}  // namespace

std::unique_ptr<Executor> make_device_executor(const Device& device) {
  return std::make_unique<DeviceExecutor>(device);
}

}  // namespace kiln::conformance
