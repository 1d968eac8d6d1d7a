#include "tools/stages/linked_libraries.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace kiln::tools {
namespace {

// LICENSE.TXT of ROCm-Device-Libs, which binary distributions must reproduce.
constexpr std::string_view kRocmNotice =
    R"(University of Illinois/NCSA
Open Source License

Copyright (c) 2014-2023, Advanced Micro Devices, Inc.
All rights reserved.

Developed by:

    AMD Research and AMD HSA Software Development

    Advanced Micro Devices, Inc.

    www.amd.com

Permission is hereby granted, free of charge, to any person obtaining a copy of
this software and associated documentation files (the "Software"), to deal with
the Software without restriction, including without limitation the rights to
use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies
of the Software, and to permit persons to whom the Software is furnished to do
so, subject to the following conditions:

    * Redistributions of source code must retain the above copyright notice,
      this list of conditions and the following disclaimers.

    * Redistributions in binary form must reproduce the above copyright notice,
      this list of conditions and the following disclaimers in the
      documentation and/or other materials provided with the distribution.

    * Neither the names of the LLVM Team, University of Illinois at
      Urbana-Champaign, nor the names of its contributors may be used to
      endorse or promote products derived from this Software without specific
      prior written permission.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS
FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT.  IN NO EVENT SHALL THE
CONTRIBUTORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS WITH THE
SOFTWARE.
)";

constexpr std::array<LinkedLibrary, 3> kLibraries = {{
    {.id = "cuda-libdevice",
     .name = "CUDA libdevice (NVIDIA Common Device Math Functions Library)",
     .supplier = "NVIDIA Corporation",
     .tool = "nvcc",
     .role = "libdevice",
     .licence = "LicenseRef-NVIDIA-CUDA-EULA",
     .source = "https://docs.nvidia.com/cuda/eula/",
     .summary =
         "It is under the CUDA Toolkit End User License Agreement. Attachment A lists "
         "libdevice.10.bc, the 'NVIDIA Common Device Math Functions Library', among what may "
         "be distributed with an application; section 1.1.2 has the conditions.",
     .text = {}},
    {.id = "rocm-device-libs",
     .name = "ROCm device libraries (ocml, ockl, oclc, hip)",
     .supplier = "Advanced Micro Devices, Inc.",
     .tool = "hipcc",
     .role = "device-library",
     .licence = "NCSA",
     .source = "https://github.com/ROCm/ROCm-Device-Libs/blob/amd-stg-open/LICENSE.TXT",
     .summary = "They are under the University of Illinois/NCSA Open Source License, as their "
                "LICENSE.TXT has it:",
     .text = kRocmNotice},
    {.id = "libgcc",
     .name = "libgcc",
     .supplier = "Free Software Foundation, Inc.",
     .tool = "host-compiler",
     .role = "libgcc",
     .licence = "GPL-3.0-or-later WITH GCC-exception-3.1",
     .source = "https://www.gnu.org/licenses/gcc-exception-3.1.html",
     .summary =
         "It is under the GNU General Public License, version 3 or later, with the GCC Runtime "
         "Library Exception, version 3.1, which lets what GCC compiled be conveyed under terms "
         "of one's own.",
     .text = {}},
}};

// Wraps the text into lines of at most 80 characters.
std::string wrapped(std::string_view text) {
  std::string out, line;
  for (const std::string_view word : split(text, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > 80) out += std::exchange(line, {}) + "\n";
    line += (line.empty() ? "" : " ") + std::string(word);
  }
  return out + line + "\n";
}

}  // namespace

std::span<const LinkedLibrary> linked_libraries() { return kLibraries; }

bool is_linked_into(const LinkedLibrary& library, const TargetId& target) {
  switch (target.kind) {
    case TargetKind::kAmd: return library.tool == "hipcc";
    case TargetKind::kCubin:
    case TargetKind::kPtx: return library.tool == "nvcc";
    case TargetKind::kHost: break;
  }
  return library.tool == "host-compiler";
}

std::vector<const LinkedLibrary*> libraries_of(const Catalog& catalog) {
  std::vector<const LinkedLibrary*> found;
  for (const LinkedLibrary& library : kLibraries) {
    const bool is_used = std::ranges::any_of(catalog.modules, [&](const Module& module) {
      return std::ranges::any_of(module.images, [&](const Artifact& image) {
        return is_linked_into(library, image.target);
      });
    });
    if (is_used) found.push_back(&library);
  }
  return found;
}

std::string notices_text(const Catalog& catalog) {
  std::string text = wrapped("Licences of what compilers linked into the images of " +
                             quote(catalog.name) + ", beside what its own sources are under.");
  text += "\n" + wrapped("How much of a library an image holds depends on the functions that its "
                         "kernels call, and may be nothing. Libraries that flags of the manifest name "
                         "are not listed.");
  for (const LinkedLibrary* library : libraries_of(catalog)) {
    text += "\n" + std::string(80, '-') + "\n" + std::string(library->name) + "\n\n";
    std::vector<std::string> targets;
    for (const std::string& name : catalog.targets) {
      const Result<TargetId> target = parse_target_id(name);
      if (target && is_linked_into(*library, *target)) targets.push_back(name);
    }
    text += wrapped("In images for " + join(targets, ", ") + ".") + wrapped(library->summary) +
            std::string(library->source) + "\n";
    if (!library->text.empty()) text += "\n" + std::string(library->text);
  }
  return text;
}

}  // namespace kiln::tools
