#include "formats/host_image.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "formats/elf.hpp"
#include "kernels/device/host_abi.hpp"

namespace kiln {
namespace {

constexpr std::string_view kRecordMagic = "KILNHOST";

// Reads a record of a section. The caller has checked the size.
template <typename Record>
Record load_record(Bytes bytes) {
  static_assert(std::is_trivially_copyable_v<Record>);
  Record record;
  std::memcpy(&record, bytes.data(), sizeof(record));
  return record;
}

template <std::size_t N>
std::string text_of(const char (&field)[N]) {
  return {field, static_cast<std::size_t>(std::find(field, field + N, '\0') - field)};
}

Error of_another_version(int version) {
  return malformed("host image of ABI version " + std::to_string(version) + ", expected " +
                   std::to_string(host::kAbiVersion))
      .hint("build the image again with this kiln");
}

Result<KernelInfo> read_kernel(const host::KernelRecord& record, const TargetId& target) {
  if (record.abi_version != host::kAbiVersion) return of_another_version(record.abi_version);
  KernelInfo kernel;
  kernel.name = text_of(record.name);
  kernel.wave_width = target.wave64 ? 64 : 32;
  kernel.max_threads = record.max_threads;
  if (kernel.name.empty() || record.record_size != sizeof(host::KernelRecord) ||
      record.parameter_count > host::kMaxParameters || record.max_threads == 0 ||
      record.max_threads > host::kMaxBlockThreads) {
    return malformed("damaged host image: kernel record " + quote(kernel.name) + " of " +
                     std::to_string(record.record_size) + " bytes with " +
                     std::to_string(record.parameter_count) + " parameters and blocks of " +
                     std::to_string(record.max_threads) + " threads");
  }
  for (std::size_t i = 0; i < record.parameter_count; ++i) {
    const auto& parameter = record.parameters[i];
    kernel.parameters.push_back(
        {.offset = parameter.offset,
         .size = parameter.size,
         .kind = parameter.is_pointer != 0 ? ParameterKind::kPointer : ParameterKind::kValue});
  }
  return kernel;
}

}  // namespace

Result<HostImage> read_host_image(Bytes file) {
  KILN_TRY_ASSIGN(const Elf elf, read_elf(file));
  const ElfSection* about = elf.find_section(".kiln.image");
  if (about == nullptr || about->bytes.size() < sizeof(host::ImageRecord)) {
    return malformed("not a host image: it has no section '.kiln.image' of " +
                     std::to_string(sizeof(host::ImageRecord)) + " bytes");
  }
  const auto record = load_record<host::ImageRecord>(about->bytes);
  if (std::string_view(record.magic, sizeof(record.magic)) != kRecordMagic) {
    return malformed("not a host image: section '.kiln.image' does not start with " +
                     quote(kRecordMagic));
  }
  if (record.abi_version != host::kAbiVersion) return of_another_version(record.abi_version);
  if (record.wave_width != 32 && record.wave_width != 64) {
    return malformed("damaged host image: waves of " + std::to_string(record.wave_width) +
                     " lanes, expected 32 or 64");
  }
  HostImage image;
  KILN_TRY_ASSIGN(image.target, parse_target_id(record.wave_width == 64 ? "host:wave64" : "host"));
  image.abi_version = record.abi_version;
  image.cpu = text_of(record.cpu);
  image.sanitizer = text_of(record.sanitizer);

  const ElfSection* kernels = elf.find_section(".kiln.kernels");
  if (kernels == nullptr) return image;
  if (kernels->bytes.size() % sizeof(host::KernelRecord) != 0) {
    return malformed("damaged host image: section '.kiln.kernels' of " +
                     std::to_string(kernels->bytes.size()) + " bytes does not hold records of " +
                     std::to_string(sizeof(host::KernelRecord)));
  }
  for (Bytes rest = kernels->bytes; !rest.empty();
       rest = rest.subspan(sizeof(host::KernelRecord))) {
    KILN_TRY_ASSIGN(KernelInfo kernel,
                    read_kernel(load_record<host::KernelRecord>(rest), image.target));
    image.kernels.push_back(std::move(kernel));
  }
  std::ranges::sort(image.kernels, {}, &KernelInfo::name);
  return image;
}

std::optional<TargetId> find_host_target(Bytes file) {
  const std::string_view text = as_text(file);
  for (std::size_t at = 0; (at = text.find(kRecordMagic, at)) != std::string_view::npos; ++at) {
    const auto bytes = slice(file, at, sizeof(host::ImageRecord));
    if (!bytes) break;
    const auto record = load_record<host::ImageRecord>(*bytes);
    if (record.record_size != sizeof(host::ImageRecord)) continue;
    return TargetId{
        .kind = TargetKind::kHost, .processor = "host", .wave64 = record.wave_width == 64};
  }
  return std::nullopt;
}

}  // namespace kiln
