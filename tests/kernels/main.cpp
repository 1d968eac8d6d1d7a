// kiln_conformance: every declared kernel against its reference, on any device.
//
// Owns the command line. Exit: 0 all right, 1 a case failed or a kernel is not covered, 2 usage,
// 3 no such device, or no image for it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>

#include "base/diagnostic.hpp"
#include "kiln/ops/kernels.hpp"
#include "tests/kernels/families/family.hpp"
#include "tests/kernels/large.hpp"
#include "tests/kernels/suite.hpp"

namespace {

using namespace kiln::conformance;

constexpr const char* kUsage = R"(usage: kiln_conformance [options]
Runs every kernel of this build against a reference on the CPU.
  --device ID         cuda:0, hip:0, host, host:wave64, ...   (default: KILN_DEVICE, else the first)
  --case PATTERN      only the cases whose names match; '*' stands for any letters
  --seed N            of the input values (default 1); each case derives its own from it
  --max-elements N    skip larger cases: for devices that are slow
  --list              print the names of the cases and run none
for example: kiln_conformance --device cuda:0 --case 'ugelu_f16/transposed/*'
)";

// Cases that cannot run on some devices. None today.
const std::vector<Unsupported> kUnsupported = {};

struct Options {
  std::string device;
  SuiteOptions suite;
  bool list = false;
};

std::optional<std::uint64_t> parse_number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::strtoull(text.c_str(), nullptr, 10);
}

// Empty when the arguments are wrong; the complaint has been printed then.
std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--list") {
      options.list = true;
      continue;
    }
    if (option == "--help" || option == "-h") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    }
    const std::string value = i + 1 < argc ? argv[++i] : "";
    const std::optional<std::uint64_t> number = parse_number(value);
    if (option == "--device" && !value.empty()) {
      options.device = value;
    } else if (option == "--case" && !value.empty()) {
      options.suite.pattern = value;
    } else if (option == "--seed" && number) {
      options.suite.seed = *number;
    } else if (option == "--max-elements" && number) {
      options.suite.max_elements = *number;
    } else {
      std::fprintf(stderr, "kiln_conformance: error: bad argument '%s %s'\n%s", option.c_str(),
                   value.c_str(), kUsage);
      return std::nullopt;
    }
  }
  return options;
}

std::vector<DeclaredKernel> declared_kernels() {
  std::vector<DeclaredKernel> kernels;
  for (const kiln::ModuleEntry* module : kiln::ops::catalog().modules) {
    for (const kiln::KernelEntry& kernel : module->kernels) {
      kernels.push_back({std::string(module->name), std::string(kernel.name)});
    }
  }
  return kernels;
}

int fail(const kiln::Error& error) {
  std::fputs(kiln::render(error, kiln::Color::kNo, "kiln_conformance").c_str(), stderr);
  return 3;
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<Options> options = parse(argc, argv);
  if (!options) return 2;
  const std::vector<DeclaredKernel> kernels = declared_kernels();
  if (options->list) {
    for (const DeclaredKernel& kernel : kernels) {
      for (const CaseSpec& spec : cases_of(kernel.module, kernel.name)) {
        if (matches(options->suite.pattern, spec.name)) std::puts(spec.name.c_str());
      }
    }
    return 0;
  }

  const auto runtime = kiln::Runtime::open();
  if (!runtime) return fail(runtime.error());
  const auto device =
      options->device.empty() ? runtime->default_device() : runtime->device(options->device);
  if (!device) return fail(device.error());
  const kiln::DeviceInfo& info = device->info();
  options->suite.device = info.id;
  options->suite.rerun =
      "kiln_conformance --device " + info.id + " --seed " + std::to_string(options->suite.seed);
  std::cout << "device " << info.id << ": " << info.name << ", " << info.target << ", seed "
            << options->suite.seed << '\n'
            << std::flush;

  // One plain answer when this build has no image for the device, instead of one for each case.
  for (const kiln::ModuleEntry* module : kiln::ops::catalog().modules) {
    if (const auto loaded = device->preload(*module); !loaded) return fail(loaded.error());
  }
  const std::unique_ptr<Executor> executor = make_device_executor(*device);
  const Summary summary = run_suite(kernels, options->suite, kUnsupported, *executor, std::cout);
  bool passed = conclude(summary, options->suite, std::cout);
  if (options->suite.pattern != "*" || summary.stopped) return passed ? 0 : 1;

  if (info.backend != kiln::Backend::kCuda && info.backend != kiln::Backend::kHip) {
    std::cout << "skipped arrays of more than 2^32 elements: no GPU\n";
  } else if (info.memory_bytes < kLargeMemory) {
    std::cout << "skipped arrays of more than 2^32 elements: they need 10 GiB\n";
  } else {
    const auto failed = run_large(*device, std::cout);
    if (!failed) return fail(failed.error());
    passed = passed && *failed == 0;
  }
  return passed ? 0 : 1;
}
