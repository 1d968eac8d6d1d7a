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
// Catalog ccbb08d8bf3743c881562c692d438df70c80c30c889caaae0d86c86592fc9f53
#pragma once

#include <kiln/catalog.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

#if !defined(KILN_CATALOG_FORMAT) || KILN_CATALOG_FORMAT != 2
#error "kernels.hpp has catalog format 2, and the <kiln/catalog.hpp> found has another: generate it with the kiln of that release"
#else

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Woverlength-strings"
#endif

namespace kernels {
inline namespace catalog_ccbb08d8bf3743c8 {

using Module = ::kiln::ModuleEntry;

// The position of a module in catalog().modules.
enum class Id : std::uint32_t {
};

namespace detail {

using ::kiln::Compression;
using Format = ::kiln::ImageFormat;
inline constexpr auto unknown = ::kiln::ParameterKind::kUnknown;
inline constexpr auto value = ::kiln::ParameterKind::kValue;
inline constexpr auto pointer = ::kiln::ParameterKind::kPointer;

// {offset, size, kind} of each argument

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
    "ccbb08d8bf3743c881562c692d438df70c80c30c889caaae0d86c86592fc9f53",
    {}, {}, {}};
}  // namespace detail

constexpr const ::kiln::Catalog& catalog() { return detail::all; }

// The module called `name`, or nullptr.
constexpr const Module* find(std::string_view name) { return catalog().find(name); }

// The module with this id.
constexpr const Module& get(Id id) { return *catalog().modules[static_cast<std::size_t>(id)]; }

}  // namespace catalog_ccbb08d8bf3743c8
}  // namespace kernels

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
