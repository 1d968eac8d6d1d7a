#include "formats/image.hpp"

#include "base/diagnostic.hpp"
#include "formats/cubin.hpp"
#include "formats/elf.hpp"
#include "formats/fatbin.hpp"
#include "formats/host_image.hpp"
#include "formats/hsaco.hpp"
#include "formats/offload_bundle.hpp"
#include "formats/ptx.hpp"

namespace kiln {
namespace {

// Returns the machine of an ELF file, from its first 20 bytes, or 0 if it is not an ELF file.
std::uint16_t elf_machine(Bytes file) {
  constexpr std::string_view kMagic =
      "\x7f"
      "ELF";
  if (!as_text(file).starts_with(kMagic)) return 0;
  const auto field = slice(file, 18, 2);
  return field ? load_le<std::uint16_t>(field->data()) : std::uint16_t{0};
}

std::vector<KernelInfo> kernels_of(std::vector<HsacoKernel> kernels) {
  std::vector<KernelInfo> infos;
  infos.reserve(kernels.size());
  for (HsacoKernel& kernel : kernels) infos.push_back(std::move(kernel.info));
  return infos;
}

}  // namespace

FileKind detect_kind(Bytes file) {
  switch (elf_machine(file)) {
    case kElfMachineAmdGpu: return FileKind::kHsaco;
    case kElfMachineCuda: return FileKind::kCubin;
    case kElfMachineX86_64:
    case kElfMachineAArch64: return FileKind::kHost;
    default: break;
  }
  const std::string_view text = as_text(file);
  if (text.starts_with(kOffloadBundleMagic)) return FileKind::kOffloadBundle;
  if (text.starts_with(kCompressedBundleMagic)) return FileKind::kCompressedOffloadBundle;
  if (file.size() >= 4 && load_le<std::uint32_t>(file.data()) == kFatbinMagic) {
    return FileKind::kFatbin;
  }
  if (is_ptx(text)) return FileKind::kPtx;
  return FileKind::kUnknown;
}

std::string_view to_string(FileKind kind) {
  switch (kind) {
    case FileKind::kUnknown: return "unknown file";
    case FileKind::kHsaco: return "AMD code object";
    case FileKind::kCubin: return "cubin";
    case FileKind::kHost: return "host shared object";
    case FileKind::kPtx: return "PTX";
    case FileKind::kOffloadBundle: return "offload bundle";
    case FileKind::kCompressedOffloadBundle: return "compressed offload bundle";
    case FileKind::kFatbin: return "fatbin";
  }
  return "unknown file";
}

Result<ImageInfo> read_image(Bytes file) {
  ImageInfo info;
  const FileKind kind = detect_kind(file);
  switch (kind) {
    case FileKind::kHsaco: {
      KILN_TRY_ASSIGN(Hsaco hsaco, read_hsaco(file));
      info.format = ImageFormat::kHsaco;
      info.format_version = "code object v" + std::to_string(hsaco.code_object_version);
      info.target = std::move(hsaco.target);
      info.kernels = kernels_of(std::move(hsaco.kernels));
      return info;
    }
    case FileKind::kCubin: {
      KILN_TRY_ASSIGN(Cubin cubin, read_cubin(file));
      info.format = ImageFormat::kCubin;
      info.format_version = "cubin abi " + std::to_string(cubin.abi_version);
      info.target = std::move(cubin.target);
      info.kernels = std::move(cubin.kernels);
      return info;
    }
    case FileKind::kPtx: {
      KILN_TRY_ASSIGN(Ptx ptx, read_ptx(as_text(file)));
      info.format = ImageFormat::kPtx;
      info.format_version =
          "PTX ISA " + std::to_string(ptx.isa / 10) + "." + std::to_string(ptx.isa % 10);
      info.ptx_isa = static_cast<std::uint16_t>(ptx.isa);
      info.target = std::move(ptx.target);
      info.kernels = std::move(ptx.kernels);
      return info;
    }
    case FileKind::kHost: {
      KILN_TRY_ASSIGN(HostImage host, read_host_image(file));
      info.format = ImageFormat::kHost;
      info.format_version = "host abi " + std::to_string(host.abi_version);
      info.target = std::move(host.target);
      info.kernels = std::move(host.kernels);
      return info;
    }
    case FileKind::kOffloadBundle:
    case FileKind::kCompressedOffloadBundle:
    case FileKind::kFatbin:
      return malformed("not a single image but a container: " + std::string(to_string(kind)))
          .hint("read its entries with read_container");
    case FileKind::kUnknown: break;
  }
  return malformed(
      "unknown file: neither an ELF file of a known machine, nor PTX, nor a container");
}

}  // namespace kiln
