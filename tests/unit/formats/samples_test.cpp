// Compares kiln's readers with the compilers that made the images: with the output of llvm-readelf
// and ptxas for the same file, and with the known kernels of sample.cu.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/cubin.hpp"
#include "formats/hsaco.hpp"
#include "formats/image.hpp"
#include "formats/image_head.hpp"
#include "tests/support/damage.hpp"
#include "tests/support/kept_container.hpp"

using namespace kiln;
using namespace kiln::testing;

namespace {

std::string read_text(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Returns the samples with that ending, sorted. Skips the running test if there is none, and says
// why.
std::vector<std::string> samples(std::string_view ending) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(KILN_SAMPLES_DIR)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(ending)) names.push_back(name);
  }
  if (names.empty()) {
    SKIP("no " << ending << " samples: "
               << read_text(std::filesystem::path(KILN_SAMPLES_DIR) / "missing.txt"));
  }
  std::ranges::sort(names);
  return names;
}

std::string sample(const std::string& name) {
  return read_text(std::filesystem::path(KILN_SAMPLES_DIR) / name);
}

const KernelInfo& find(const std::vector<KernelInfo>& kernels, std::string_view name) {
  const auto found = std::ranges::find(kernels, name, &KernelInfo::name);
  if (found == kernels.end()) FAIL("no kernel " << name);
  return *found;
}

std::string layout(const KernelInfo& kernel) {
  std::string text;
  for (const Parameter& parameter : kernel.parameters) {
    text += std::to_string(parameter.offset) + "+" + std::to_string(parameter.size) + " ";
  }
  return text;
}

std::string kinds(const KernelInfo& kernel) {
  std::string text;
  for (const Parameter& parameter : kernel.parameters) {
    text += parameter.kind == ParameterKind::kPointer ? 'p'
            : parameter.kind == ParameterKind::kValue ? 'v'
                                                      : '?';
  }
  return text;
}

// Checks what is true for every image of sample.cu.
void check_kernels(const std::vector<KernelInfo>& kernels) {
  std::vector<std::string> names;
  for (const KernelInfo& kernel : kernels) names.push_back(kernel.name);
  CHECK(names == std::vector<std::string>{"_Z4fillIdEvPT_S0_", "all_kinds", "bounded", "dynamic",
                                          "empty", "huge"});
  CHECK(layout(find(kernels, "all_kinds")) == "0+8 8+8 16+1 18+2 20+4 24+8 32+4 40+40 80+8 88+1 ");
  CHECK(layout(find(kernels, "bounded")) == "0+8 8+4 ");
  CHECK(layout(find(kernels, "empty")).empty());
  CHECK(layout(find(kernels, "_Z4fillIdEvPT_S0_")) == "0+8 8+8 ");
  const std::string huge = layout(find(kernels, "huge"));
  CHECK((huge == "0+4 4+5000 5008+8 " || huge == "0+4 4+3000 3008+8 "));
  CHECK(find(kernels, "bounded").max_threads == 128u);
  CHECK(find(kernels, "dynamic").shared_bytes == 0u);
  CHECK(find(kernels, "all_kinds").shared_bytes == 384u);
}

// Returns the lines "  .key:  value" of each kernel in the output of `llvm-readelf --notes`, by the
// name of the kernel.
std::map<std::string, std::map<std::string, std::string>> notes_of(const std::string& text) {
  std::map<std::string, std::map<std::string, std::string>> kernels;
  std::map<std::string, std::string> fields;
  const auto flush = [&] {
    if (fields.contains(".name")) kernels[fields[".name"]] = fields;
    fields.clear();
  };
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("  - ")) flush();
    if (!line.starts_with("  ") || line.starts_with("      ")) continue;  // belongs to an argument
    const std::string_view field = trim(line.substr(4));
    const std::size_t colon = field.find(':');
    if (field.starts_with('.') && colon != std::string_view::npos) {
      fields[std::string(field.substr(0, colon))] = std::string(trim(field.substr(colon + 1)));
    }
  }
  flush();
  return kernels;
}

// The output of `ptxas -v` for a kernel.
struct PtxasReport {
  std::uint32_t registers = 0, frame = 0, shared = 0;
  std::optional<std::uint32_t> constant;  // cmem[0] and cmem[2]; not printed from 9.0 on
};
std::map<std::string, PtxasReport> ptxas_reports(const std::string& text) {
  std::map<std::string, PtxasReport> reports;
  std::string kernel;
  for (const std::string_view line : split(text, '\n')) {
    // Returns the number before "`what`" in the line, if there is one.
    const auto before = [&](std::string_view what) -> std::optional<std::uint32_t> {
      const std::size_t end = line.find(what);
      if (end == std::string_view::npos) return std::nullopt;
      const std::size_t start = line.find_last_not_of("0123456789", end - 1) + 1;
      return static_cast<std::uint32_t>(std::stoul(std::string(line.substr(start, end - start))));
    };
    if (const std::size_t at = line.find("entry function '"); at != std::string_view::npos) {
      const std::string_view rest = line.substr(at + 16);
      kernel = std::string(rest.substr(0, rest.find('\'')));
    }
    PtxasReport& report = reports[kernel];
    report.registers = before(" registers").value_or(report.registers);
    report.frame = before(" bytes stack frame").value_or(report.frame);
    report.shared = before(" bytes smem").value_or(report.shared);
    for (const std::string_view bank : {" bytes cmem[0]", " bytes cmem[2]"}) {
      if (const auto bytes = before(bank)) report.constant = report.constant.value_or(0) + *bytes;
    }
  }
  return reports;
}

}  // namespace

TEST_CASE("read_hsaco agrees with llvm-readelf on every code object", "[samples]") {
  for (const std::string& name : samples(".hsaco")) {
    INFO(name);
    const std::string file = sample(name);
    const auto hsaco = read_hsaco(as_bytes(file));
    if (!hsaco) FAIL(render(hsaco.error()));
    // v5-gfx90a.xnack+.hsaco
    CHECK(name == "v" + std::to_string(hsaco->code_object_version) + "-" +
                      [text = to_string(hsaco->target)]() mutable {
                        std::ranges::replace(text, ':', '.');
                        return text;
                      }() +
                      ".hsaco");
    auto notes = notes_of(sample(name + ".notes"));
    CHECK(notes.size() == hsaco->kernels.size());
    std::vector<KernelInfo> kernels;
    for (const HsacoKernel& kernel : hsaco->kernels) {
      INFO(kernel.info.name);
      auto& fields = notes[kernel.info.name];
      const auto agrees = [&](const std::string& key, std::optional<std::uint32_t> value) {
        INFO(key);
        CHECK(fields[key] == (value ? std::to_string(*value) : std::string()));
      };
      agrees(".vgpr_count", kernel.info.registers);
      agrees(".sgpr_count", kernel.info.scalar_registers);
      agrees(".agpr_count", kernel.info.accumulation_registers);
      agrees(".vgpr_spill_count", kernel.info.spill_stores);
      agrees(".sgpr_spill_count", kernel.info.scalar_spills);
      agrees(".private_segment_fixed_size", kernel.info.stack_bytes);
      agrees(".group_segment_fixed_size", kernel.info.shared_bytes);
      agrees(".max_flat_workgroup_size", kernel.info.max_threads);
      agrees(".wavefront_size", kernel.info.wave_width);
      agrees(".kernarg_segment_align", kernel.kernarg_alignment);
      agrees(".kernarg_segment_size", kernel.descriptor.kernarg_size);
      CHECK(fields[".symbol"] == kernel.symbol);
      CHECK(kernel.descriptor.group_segment_size == kernel.info.shared_bytes);
      CHECK(kernel.descriptor.private_segment_size == kernel.info.stack_bytes);
      // The code is in an executable segment.
      const std::uint64_t code =
          kernel.descriptor_address + static_cast<std::uint64_t>(kernel.descriptor.code_offset);
      CHECK(std::ranges::any_of(hsaco->elf.segments, [&](const ElfSegment& segment) {
        return segment.type == kElfSegmentLoad && (segment.flags & 1) != 0 &&
               code >= segment.address && code - segment.address < segment.bytes.size();
      }));
      kernels.push_back(kernel.info);
    }
    check_kernels(kernels);
    CHECK(kinds(find(kernels, "all_kinds")) == "pvvvvvvvpv");
    CHECK(find(kernels, "bounded").stack_bytes.has_value());
  }
}

TEST_CASE("processors() has what the compiler writes for each processor", "[samples]") {
  (void)samples("processors.txt");
  std::size_t checked = 0;
  const std::string listed = sample("processors.txt");
  for (const std::string_view line : split(listed, '\n')) {
    if (line.empty()) continue;
    INFO(line);
    const std::vector<std::string_view> words = split(line, ' ');
    REQUIRE(words.size() == 3);
    const auto flags = static_cast<std::uint32_t>(std::stoul(std::string(words[1]), nullptr, 16));
    const Processor* processor = find_processor(words[0]);
    REQUIRE(processor != nullptr);
    CHECK(processor->elf_mach == (flags & 0xff));
    CHECK(processor->has_xnack == ((flags >> 8 & 3) != 0));
    CHECK(processor->has_sramecc == ((flags >> 10 & 3) != 0));
    CHECK(std::to_string(processor->wave_width) == words[2]);
    ++checked;
  }
  CHECK(checked >= 40);
}

TEST_CASE("read_cubin agrees with ptxas on every cubin", "[samples]") {
  for (const std::string& name : samples(".cubin")) {
    INFO(name);
    const std::string file = sample(name);
    const auto cubin = read_cubin(as_bytes(file));
    if (!cubin) FAIL(render(cubin.error()));
    CHECK(to_string(cubin->target) + ".cubin" == name);
    CHECK(read_image_head(as_bytes(file)).value().target == cubin->target);
    CHECK(cubin->compiler.starts_with("Cuda compilation tools"));
    check_kernels(cubin->kernels);
    auto reports = ptxas_reports(sample(name + ".log"));
    for (const KernelInfo& kernel : cubin->kernels) {
      INFO(kernel.name);
      REQUIRE(reports.contains(kernel.name));
      const PtxasReport& report = reports[kernel.name];
      CHECK(kernel.registers == report.registers);
      CHECK(kernel.stack_bytes == report.frame);
      CHECK(kernel.shared_bytes == report.shared);
      if (report.constant) CHECK(kernel.constant_bytes == *report.constant);
    }
    // Compilers for 10.0 and later mark pointers.
    const bool marks = cubin->target.compute_capability() >= 100;
    CHECK(kinds(find(cubin->kernels, "all_kinds")) == (marks ? "p?vvv?vvpv" : "??vvv?vv?v"));
  }
}

TEST_CASE("read_ptx reads what nvcc writes", "[samples]") {
  for (const std::string& name : samples(".ptx")) {
    INFO(name);
    const std::string file = sample(name);
    const auto ptx = read_image(as_bytes(file));
    if (!ptx) FAIL(render(ptx.error()));
    CHECK(to_string(ptx->target) + ".ptx" == name);
    CHECK(read_image_head(as_bytes(file)).value().target == ptx->target);
    CHECK(ptx->ptx_isa >= 70);
    check_kernels(ptx->kernels);
    const bool marks = ptx->target.compute_capability() >= 100;
    CHECK(kinds(find(ptx->kernels, "all_kinds")) == (marks ? "p?vvvvvvpv" : "??vvvvvv?v"));
  }
}

TEST_CASE("read_container reads what clang-offload-bundler writes", "[samples]") {
  for (const std::string& name : samples(".bundle")) {
    INFO(name);
    const std::string file = sample(name);
    const auto container = keep_container(as_bytes(file));
    if (!container) FAIL(render(container.error()));
    CHECK(container->kind ==
          (name == "plain.bundle" ? FileKind::kOffloadBundle : FileKind::kCompressedOffloadBundle));
    REQUIRE(container->entries.size() == 3);
    CHECK(container->entries[0].target.empty());
    for (std::size_t i = 1; i < 3; ++i) {
      const KeptEntry& entry = container->entries[i];
      CHECK(entry.bytes == sample("v5-" + entry.target + ".hsaco"));
      CHECK(to_string(read_image(as_bytes(entry.bytes)).value().target) == entry.target);
    }
  }
}

TEST_CASE("read_container reads what fatbinary writes", "[samples]") {
  for (const std::string& name : samples(".fatbin")) {
    INFO(name);
    const std::string file = sample(name);
    const auto container = keep_container(as_bytes(file));
    std::string entries;
    for (const TargetId& entry : read_image_head(as_bytes(file)).value().entries) {
      entries += to_string(entry) + " ";
    }
    CHECK(entries == "sm_80 sm_90a compute_80 ");
    if (name == "speed.fatbin") {  // LZ4
      REQUIRE_FALSE(container);
      CHECK(container.error().message.find("is compressed with LZ4") != std::string::npos);
      continue;
    }
    if (!container) FAIL(render(container.error()));
    REQUIRE(container->entries.size() == 3);
    for (const KeptEntry& entry : container->entries) {
      if (entry.target.starts_with("sm_")) {
        const std::string cubin = sample(entry.target + ".cubin");
        CHECK(entry.bytes.starts_with(cubin));
        CHECK(entry.bytes.size() - cubin.size() < 8);  // padding
      }
      // PTX has no comments any more.
      check_kernels(read_image(as_bytes(entry.bytes)).value().kernels);
      CHECK(to_string(read_image(as_bytes(entry.bytes)).value().target) == entry.target);
    }
  }
}

TEST_CASE("read_image survives real images cut at every byte and changed at random", "[samples]") {
  std::vector<std::string> names;
  for (const std::string_view ending :
       {"v5-gfx90a.hsaco", "sm_80.cubin", "sm_100f.cubin", "compute_80.ptx"}) {
    if (std::filesystem::exists(std::filesystem::path(KILN_SAMPLES_DIR) / ending)) {
      names.emplace_back(ending);
    }
  }
  if (names.empty()) SKIP("no samples: " << sample("missing.txt"));
  for (const std::string& name : names) {
    INFO(name);
    const std::string file = sample(name);
    cut_everywhere(file, [](Bytes bytes) { (void)read_image(bytes); });
    change_bytes(file, 8, 5000, [](Bytes bytes) { (void)read_image(bytes); });
  }
}
