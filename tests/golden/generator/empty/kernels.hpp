// kernels.hpp: 0 GPU kernels in 0 modules for 0 targets.
//
// Made by kiln 0.1.0 from the manifest of 'nothing'. Do not edit: `kiln build` writes it again.
// Needs C++17, <kiln/catalog.hpp> and the standard library; no CUDA, no HIP.
// The images are in it, as string literals.
//
//   kernels::catalog()  all of it
//
// Targets:
//
//   module  target  format  kernels  bytes  stored  sha256
//   total                                0       0
//
// Catalog 011c62e4443dbd1af60f997c7dff7b77dde86ba227eba1fcd94fb8212c35a026
#pragma once

#include <kiln/catalog.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

#if !defined(KILN_CATALOG_FORMAT) || KILN_CATALOG_FORMAT != 3
#error "kernels.hpp has catalog format 3, and the <kiln/catalog.hpp> found has another: generate it with the kiln of that release"
#else

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Woverlength-strings"
#endif

namespace kernels {
inline namespace catalog_011c62e4443dbd1a {

using Module = ::kiln::ModuleEntry;

// The position of a module in catalog().modules.
enum class Id : std::uint32_t {
};

namespace detail {

using ::kiln::Compression;
using Format = ::kiln::ImageFormat;
using ::kiln::Parameter;
inline constexpr auto unknown = ::kiln::ParameterKind::kUnknown;
inline constexpr auto value = ::kiln::ParameterKind::kValue;
inline constexpr auto pointer = ::kiln::ParameterKind::kPointer;

// Each argument: its type and offset, or {offset, size, kind}.

}  // namespace detail

// The tables and the bytes of each module.
namespace data {

}  // namespace data

namespace modules {
}  // namespace modules

// The kernels. Where two modules have one of the same name, say <namespace>::<kernel>.
namespace detail {
inline constexpr ::kiln::Catalog all{
    "nothing",
    "011c62e4443dbd1af60f997c7dff7b77dde86ba227eba1fcd94fb8212c35a026",
    {}, {}, {}};
}  // namespace detail

constexpr const ::kiln::Catalog& catalog() { return detail::all; }

// The module called `name`, or nullptr.
constexpr const Module* find(std::string_view name) { return catalog().find(name); }

// The module with this id.
constexpr const Module& get(Id id) { return *catalog().modules[static_cast<std::size_t>(id)]; }

}  // namespace catalog_011c62e4443dbd1a
}  // namespace kernels

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
