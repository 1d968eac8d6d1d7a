// kiln_conformance: compares every declared kernel with its reference, on any devices.
//
// Has the command line. Exit: 0 if all is right, 1 if a case failed or a kernel is not covered, 2
// for a usage error, 3 if there is no such device or no image for it.
#include <malloc.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "kiln/ops/kernels.hpp"
#include "tests/kernels/families/family.hpp"
#include "tests/kernels/large.hpp"
#include "tests/kernels/suite.hpp"
#include "tests/kernels/written.hpp"

namespace {

using namespace kiln::conformance;

constexpr const char* kUsage = R"(usage: kiln_conformance [options]
Runs every kernel of this build against a reference on the CPU, computed once for all devices.
  --device ID[,ID]    cuda:0, hip:0, host, host:wave64, ...   (default: KILN_DEVICE, else the first);
                      may be given more than once. ID@TARGET: with the images of that target
                      alone, cuda:0@compute_80 from PTX. ID+ID: devices that share the
                      cases, except for the first of each kernel
  --module NAME       only the kernels of this module; may be repeated
  --case PATTERN      only the cases whose names match; '*' stands for any letters; may be repeated
  --seed N            of the input values and of random cases (default 1)
  --all               the full product of views, alignments and grids for every kernel
  --random N          N random cases for each kernel, instead of the listed ones: shapes, strides,
                      alignments and grids drawn from the seed
  --jobs N            threads; each takes kernel after kernel (default: one)
  --max-elements N    skip larger cases: for devices that are slow; random cases have up to N
                      elements (default 65536)
  --list              print the names of the cases and run none
for example: kiln_conformance --device cuda:0 --case 'ugelu_f16/transposed/*'
)";

// Cases that cannot run on some devices. Currently none.
const std::vector<Unsupported> kUnsupported = {};

// A device, as it is given. `sharers` and `turn` are as in SuiteDevice.
struct DeviceChoice {
  std::string id;
  unsigned sharers = 1, turn = 0;
};
struct Options {
  std::vector<DeviceChoice> devices;
  std::vector<std::string> modules;  // empty: all
  SuiteOptions suite;
  bool list = false;
};

std::optional<std::uint64_t> parse_number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::strtoull(text.c_str(), nullptr, 10);
}

std::vector<DeviceChoice> parse_devices(const std::string& text) {
  std::vector<DeviceChoice> devices;
  for (const std::string_view part : kiln::split(text, ',')) {
    const std::vector<std::string_view> ids = kiln::split(part, '+');
    const auto sharers = static_cast<unsigned>(ids.size());
    for (unsigned turn = 0; turn < sharers; ++turn) {
      devices.push_back({std::string(ids[turn]), sharers, turn});
    }
  }
  return devices;
}

// Returns nothing if the arguments are wrong, after printing the complaint.
std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--list") {
      options.list = true;
      continue;
    }
    if (option == "--all") {
      options.suite.selection.everything = true;
      continue;
    }
    if (option == "--help" || option == "-h") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    }
    const std::string value = i + 1 < argc ? argv[++i] : "";
    const std::optional<std::uint64_t> number = parse_number(value);
    if (option == "--device" && !value.empty()) {
      for (DeviceChoice& each : parse_devices(value)) options.devices.push_back(std::move(each));
    } else if (option == "--module" && kiln::ops::catalog().find(value) != nullptr) {
      options.modules.push_back(value);
    } else if (option == "--case" && !value.empty()) {
      options.suite.patterns.push_back(value);
    } else if (option == "--seed" && number) {
      options.suite.selection.seed = *number;
    } else if (option == "--random" && number && *number >= 1) {
      options.suite.selection.random = *number;
    } else if (option == "--jobs" && number && *number >= 1 && *number <= 256) {
      options.suite.jobs = static_cast<unsigned>(*number);
    } else if (option == "--max-elements" && number) {
      options.suite.selection.max_elements = *number;
    } else {
      std::fprintf(stderr, "kiln_conformance: error: bad argument '%s %s'\n%s", option.c_str(),
                   value.c_str(), kUsage);
      return std::nullopt;
    }
  }
  return options;
}

// The options that a case depends on, to run it again.
std::string again(const SuiteOptions& options) {
  const Selection& selection = options.selection;
  std::string text = " --seed " + std::to_string(selection.seed);
  if (selection.everything) text += " --all";
  if (selection.random == 0) return text;
  text += " --random " + std::to_string(selection.random);
  if (selection.max_elements != 0) {
    text += " --max-elements " + std::to_string(selection.max_elements);
  }
  return text;
}

// Returns the chosen modules.
std::vector<const kiln::ModuleEntry*> modules_of(const Options& options) {
  std::vector<const kiln::ModuleEntry*> modules;
  for (const kiln::ModuleEntry* module : kiln::ops::catalog().modules) {
    const bool is_chosen =
        options.modules.empty() || std::ranges::count(options.modules, module->name) != 0;
    if (is_chosen) modules.push_back(module);
  }
  return modules;
}

std::vector<DeclaredKernel> declared_kernels(const std::vector<const kiln::ModuleEntry*>& modules) {
  std::vector<DeclaredKernel> kernels;
  for (const kiln::ModuleEntry* module : modules) {
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

// Checks arrays that are too large for the suite, on devices with enough memory. Returns true if
// nothing failed.
kiln::Result<bool> check_large(const kiln::Device& device) {
  const kiln::DeviceInfo& info = device.info();
  const std::string skipped = info.id + ": skipped arrays of more than 2^32 elements: ";
  if (info.backend != kiln::Backend::kCuda && info.backend != kiln::Backend::kHip) {
    std::cout << skipped << "no GPU\n";
  } else if (info.memory_bytes < kLargeMemory) {
    std::cout << skipped << "they need 10 GiB\n";
  } else {
    KILN_TRY_ASSIGN(const std::size_t failed, run_large(device, std::cout));
    return failed == 0;
  }
  return true;
}

// Lets freed memory be kept for the next case. To give it back and to take new pages takes as long as
// the cases themselves.
void keep_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest value that glibc takes
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  std::optional<Options> options = parse(argc, argv);
  if (!options) return 2;
  const std::vector<const kiln::ModuleEntry*> modules = modules_of(*options);
  const std::vector<DeclaredKernel> kernels = declared_kernels(modules);
  if (options->list) {
    for (const DeclaredKernel& kernel : kernels) {
      for (const CaseSpec& spec : cases_of(kernel.module, kernel.name, options->suite.selection)) {
        if (is_chosen(options->suite, spec.name)) std::puts(spec.name.c_str());
      }
    }
    return 0;
  }

  const auto runtime = kiln::Runtime::open();
  if (!runtime) return fail(runtime.error());
  if (options->devices.empty()) options->devices.emplace_back();
  std::vector<kiln::Device> devices;
  std::vector<SuiteDevice> subjects;
  for (const DeviceChoice& choice : options->devices) {
    const std::size_t at = std::min(choice.id.find('@'), choice.id.size());
    const std::string id = choice.id.substr(0, at);
    const std::string target = at < choice.id.size() ? choice.id.substr(at + 1) : "";
    auto device = id.empty() ? runtime->default_device() : runtime->device(id);
    if (!device) return fail(device.error());
    const kiln::DeviceInfo& info = device->info();
    const std::string name = info.id + (target.empty() ? "" : "@" + target);
    std::cout << "device " << name << ": " << info.name << ", " << info.target << ", seed "
              << options->suite.selection.seed << '\n'
              << std::flush;
    // Reports once that this build has no image for the device, not for each case.
    for (const kiln::ModuleEntry* module : modules) {
      const kiln::ModuleEntry& entry =
          target.empty() ? *module : *modules_of_target(target).find(module->name);
      if (const auto loaded = device->load(entry); !loaded) return fail(loaded.error());
    }
    SuiteDevice subject;
    subject.id = name;
    subject.sharers = choice.sharers;
    subject.turn = choice.turn;
    subject.rerun = "kiln_conformance --device " + name + again(options->suite);
    subject.open = [device = *device, target] { return make_device_executor(device, target); };
    subjects.push_back(std::move(subject));
    devices.push_back(std::move(*device));
  }
  const Summary summary = run_suite(kernels, subjects, options->suite, kUnsupported, std::cout);
  bool passed = conclude(summary, options->suite, std::cout);
  if (!takes_every_case(options->suite) || !options->modules.empty()) return passed ? 0 : 1;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const bool is_seen_before = std::any_of(
        devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(i),
        [&](const kiln::Device& each) { return each.info().id == devices[i].info().id; });
    if (summary.devices[i].stopped || is_seen_before) continue;
    const auto unwritten = run_written(devices[i], std::cout);
    if (!unwritten) return fail(unwritten.error());
    const auto right = check_large(devices[i]);
    if (!right) return fail(right.error());
    passed = passed && *unwritten == 0 && *right;
  }
  return passed ? 0 : 1;
}
