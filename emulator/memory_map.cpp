#include "emulator/memory_map.hpp"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "emulator/dispatch.hpp"

namespace kiln::emulator {
namespace {

constexpr u64 kArenaBytes = u64{1} << 40;
constexpr u64 kPage = 4096;
constexpr u64 kGap = u64{1} << 20;  // between buffers, at least
constexpr std::size_t kMaxFreed = 4096;

constexpr u64 whole_pages(u64 bytes) { return (bytes + kPage - 1) / kPage * kPage; }

Error out_of_memory(std::size_t bytes) {
  return Error{ErrorCode::kDriver,
               "mmap: ENOMEM: cannot allocate " + std::to_string(bytes) + " bytes",
               {},
               {},
               {}};
}

}  // namespace

u64 machine_memory() {
  return static_cast<u64>(sysconf(_SC_PHYS_PAGES)) * static_cast<u64>(sysconf(_SC_PAGESIZE));
}

MemoryMap::~MemoryMap() {
  if (arena_ != 0) munmap(reinterpret_cast<void*>(arena_), kArenaBytes);
}

// Finds room for a buffer and the gap after it. The search goes round the arena.
Result<u64> MemoryMap::reserve(std::size_t span) {
  if (arena_ == 0) {
    void* arena =
        mmap(nullptr, kArenaBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED) {
      return Error{ErrorCode::kDriver,
                   "mmap: ENOMEM: cannot reserve 1 TiB of addresses for emulated memory"}
          .hint(
              "no more memory is taken than is allocated: raise the limit on addresses, 'ulimit -v "
              "unlimited'");
    }
    arena_ = reinterpret_cast<u64>(arena);
    next_ = arena_ + kGap;
  }
  for (int round = 0; round < 2; ++round) {
    auto after = buffers_.lower_bound(next_);
    if (after != buffers_.begin()) {
      const auto before = std::prev(after);
      next_ = std::max(next_, before->first + whole_pages(before->second.bytes) + kGap);
    }
    while (next_ + span + kGap <= arena_ + kArenaBytes) {
      if (after == buffers_.end() || next_ + span + kGap <= after->first) return next_;
      next_ = after->first + whole_pages(after->second.bytes) + kGap;
      ++after;
    }
    next_ = arena_ + kGap;
  }
  return out_of_memory(span);
}

Result<void*> MemoryMap::allocate(std::size_t bytes) {
  const std::unique_lock lock(mutex_);
  // Beyond this limit, other programs would lose memory until the system kills one.
  const u64 limit = std::min(machine_memory(), kArenaBytes / 2);
  if (bytes > limit - std::min(allocated_, limit)) return out_of_memory(bytes);
  const std::size_t span = whole_pages(bytes);
  auto begin = reserve(span);
  if (!begin) return std::move(begin).error();
  void* memory = reinterpret_cast<void*>(*begin);
  if (mprotect(memory, span, PROT_READ | PROT_WRITE) != 0) return out_of_memory(bytes);
  std::memset(memory, kUninitialisedByte, bytes);
  Buffer& buffer = buffers_[*begin];
  buffer.bytes = bytes;
  allocated_ += span;
  if (tracking_ == Tracking::kInitialisation) buffer.written.assign(bytes, false);
  next_ = *begin + span + kGap;
  std::erase_if(freed_, [&](const NearBuffer& freed) {
    return freed.begin < next_ && freed.begin + freed.bytes > *begin;
  });
  return memory;
}

Result<void> MemoryMap::free(void* memory) {
  const std::unique_lock lock(mutex_);
  const u64 begin = reinterpret_cast<u64>(memory);
  const auto buffer = buffers_.find(begin);
  if (buffer == buffers_.end()) {
    return Error{ErrorCode::kDriver, "free: EINVAL: no buffer starts at that address", {}, {}, {}};
  }
  const std::size_t span = whole_pages(buffer->second.bytes);
  allocated_ -= span;
  mmap(memory, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  freed_.push_back({begin, buffer->second.bytes, true, 0});
  if (freed_.size() > kMaxFreed) freed_.pop_front();
  buffers_.erase(buffer);
  return {};
}

// Returns the buffer that contains the address.
MemoryMap::Buffers::const_iterator MemoryMap::find_containing(u64 address) const {
  auto buffer = buffers_.upper_bound(address);
  if (buffer == buffers_.begin()) return buffers_.end();
  --buffer;
  return address - buffer->first < buffer->second.bytes ? buffer : buffers_.end();
}

std::optional<AddressRange> MemoryMap::find(u64 address, u64 bytes) const {
  const std::shared_lock lock(mutex_);
  const auto buffer = find_containing(address);
  if (buffer == buffers_.end()) return std::nullopt;
  const AddressRange range{buffer->first, buffer->first + buffer->second.bytes, true};
  if (!range.holds(address, bytes)) return std::nullopt;
  return range;
}

std::optional<u64> MemoryMap::bytes_after(u64 address) const {
  const std::shared_lock lock(mutex_);
  const auto buffer = find_containing(address);
  if (buffer != buffers_.end()) return buffer->first + buffer->second.bytes - address;
  if (arena_ != 0 && address - arena_ < kArenaBytes) return 0;
  return std::nullopt;
}

NearBuffer MemoryMap::nearest(u64 address, u64 bytes) const {
  const std::shared_lock lock(mutex_);
  NearBuffer best{.address = address};
  u64 best_distance = ~0ull;
  const auto consider = [&](u64 begin, u64 size, bool is_freed) {
    const u64 end = begin + size;
    const bool overlaps = address < end && begin < address + bytes;
    const u64 distance = overlaps ? 0 : address >= end ? address - end + 1 : begin - address;
    if (distance >= best_distance) return;
    best_distance = distance;
    best = {begin, size, is_freed, address};
  };
  const auto after = buffers_.upper_bound(address);
  if (after != buffers_.end()) consider(after->first, after->second.bytes, false);
  if (after != buffers_.begin())
    consider(std::prev(after)->first, std::prev(after)->second.bytes, false);
  for (const NearBuffer& freed : freed_) {
    // A freed buffer is only considered if the access overlaps it, because the addresses around it
    // belong to no buffer.
    if (address < freed.begin + freed.bytes && freed.begin < address + bytes)
      consider(freed.begin, freed.bytes, true);
  }
  return best;
}

void MemoryMap::mark_written(u64 address, std::size_t bytes) {
  if (tracking_ == Tracking::kNo) return;
  const std::unique_lock lock(mutex_);
  const auto entry = find_containing(address);
  if (entry == buffers_.end()) return;
  Buffer& buffer = buffers_.find(entry->first)->second;
  const u64 first = address - entry->first;
  const u64 last = std::min<u64>(first + bytes, buffer.bytes);
  std::fill(buffer.written.begin() + static_cast<std::ptrdiff_t>(first),
            buffer.written.begin() + static_cast<std::ptrdiff_t>(last), true);
}

void MemoryMap::copy_marks(u64 target, u64 source, std::size_t bytes) {
  if (tracking_ == Tracking::kNo) return;
  for (std::size_t done = 0; done < bytes; ++done) {
    if (unwritten(source + done, 1) == 0) mark_written(target + done, 1);
  }
}

u64 MemoryMap::unwritten(u64 address, u32 bytes) const {
  if (tracking_ == Tracking::kNo) return 0;
  const std::shared_lock lock(mutex_);
  const auto buffer = find_containing(address);
  if (buffer == buffers_.end()) return 0;
  u64 bits = 0;
  for (u32 i = 0; i < bytes; ++i) {
    const u64 position = address - buffer->first + i;
    if (position < buffer->second.bytes && !buffer->second.written[position]) bits |= u64{1} << i;
  }
  return bits;
}

namespace {

// True if this process can read the address. It then has memory of its own there.
bool is_readable(u64 address) {
  char byte = 0;
  iovec local{&byte, 1}, remote{reinterpret_cast<void*>(address), 1};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

}  // namespace

std::string describe(const NearBuffer& near, const LaunchPlan& plan) {
  const u64 end = near.begin + near.bytes;
  const bool is_adjacent =
      near.bytes != 0 && near.address + kPage >= near.begin && near.address < end + kPage;
  if (!is_adjacent && is_readable(near.address)) {
    return "which is memory of the host and no buffer: kernels take what a buffer's data() gives";
  }
  const std::string null = near.address < kGap ? null_arguments(plan.pointers) : "";
  if (!null.empty()) return "where no buffer is: " + null;
  const bool is_far = near.address + kArenaBytes < near.begin || near.address > end + kArenaBytes;
  if (near.bytes == 0 || is_far) return "where no buffer is";
  const BufferExtent buffer{near.begin, near.bytes};
  return describe_address(
      buffer, near.address,
      describe_buffer(buffer, plan.pointers) + (near.is_freed ? ", which was freed" : ""));
}

}  // namespace kiln::emulator
