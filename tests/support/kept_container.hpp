// A container with the bytes of its entries, which read_container passes one at a time.
#pragma once

#include <string>
#include <vector>

#include "formats/image.hpp"

namespace kiln::testing {

struct KeptEntry {
  std::string name, target, bytes;
};
struct KeptContainer {
  FileKind kind = FileKind::kUnknown;
  std::uint32_t version = 0;
  std::vector<KeptEntry> entries;
};

inline Result<KeptContainer> keep_container(Bytes file) {
  KeptContainer container;
  const auto head = read_container(file, [&](const ContainerEntry& entry) {
    container.entries.push_back({entry.name, entry.target, std::string(as_text(entry.bytes))});
    return Result<void>();
  });
  if (!head) return head.error();
  container.kind = head->kind;
  container.version = head->version;
  return container;
}

}  // namespace kiln::testing
