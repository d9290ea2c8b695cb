// accesses.cpp: what the compiler's calls tell of memory. `-fsanitize=thread` inserts a call before each load and store.
//
// An access must lie in a region, aligned. The accesses of a warp's 32 threads that execute the same instruction for the same time
// (counted from the last point where the warp waited) are one request. A race is two accesses of one address by two threads, of
// which one writes, that no barrier orders.
#include "runtime.h"
#include <algorithm>
#include <unordered_map>

std::vector<Region> regions;
std::vector<Site> sites;
std::vector<Finding> findings;

namespace {
struct Request { uint32_t lanes; bool is_shared; uintptr_t at[WARP_SIZE]; };
std::unordered_map<uintptr_t, uint16_t> site_numbers;
std::vector<std::vector<Request>> requests;  // by site, of the warp that is judged

// A small cache before the table of sites: most calls come from few places.
struct { uintptr_t pc; int site; } recent[256];

// Counts -------------------------------------------------------------------------------------------------------------------

// The number of values that were not there before. Its memory is emptied by a new stamp.
struct Set {
  uint64_t values[256];
  uint32_t stamps[256] = {}, stamp = 0;
  void clear() { stamp++; }
  bool add(uint64_t value) {
    for (unsigned i = (unsigned)(value * 0x9e3779b97f4a7c15u >> 56);; i = (i + 1) % 256) {
      if (stamps[i] != stamp) return stamps[i] = stamp, values[i] = value, true;
      if (values[i] == value) return false;
    }
  }
} seen;

// 32 banks serve a word of 4 bytes each in one wavefront. Threads that read the same word share it. Wider accesses go by groups of
// 16 threads (8 bytes) or of 8 threads (16 bytes), so 128 bytes at most are in one wavefront if no bank has two words. Two groups
// whose threads all read one address are one.
void count_shared(Traffic& traffic, const Request& request, uint32_t lanes, int bytes, bool is_atomic) {
  const int group = bytes <= 4 ? WARP_SIZE : 128 / bytes;
  for (int first = 0, end; first < WARP_SIZE; first = end) {
    end = std::min(first + 2 * group, WARP_SIZE);
    const int one = first + __builtin_ctz(lanes >> first | 1u << (WARP_SIZE - 1 - first));
    bool is_one = first % (2 * group) == 0;
    for (int i = first; i < end; i++) is_one &= !(lanes >> i & 1) || request.at[i] == request.at[one];
    if (!is_one) end = first + group;
    int words[WARP_SIZE] = {};
    seen.clear();
    for (int i = first; i < end; i++) {
      if (!(lanes >> i & 1)) continue;
      for (uintptr_t word = request.at[i] / 4; word <= (request.at[i] + bytes - 1) / 4; word++) {
        if (is_atomic || seen.add(word)) words[word % WARP_SIZE]++;  // atomics of one word take turns
      }
    }
    const int wavefronts = *std::max_element(words, words + WARP_SIZE);
    traffic.wavefronts += wavefronts;
    traffic.conflicts += std::max(wavefronts - 1, 0);
  }
}

// Global memory moves in sectors of 32 bytes. Atomics of one address take turns, and each turn has its sectors.
void count_global(Traffic& traffic, const Request& request, uint32_t lanes, int bytes, bool is_atomic) {
  uint32_t left = lanes;
  do {
    uint32_t later = 0;
    if (is_atomic) {
      seen.clear();
      for (int i = 0; i < WARP_SIZE; i++) if (left >> i & 1 && !seen.add(request.at[i])) later |= 1u << i;
    }
    seen.clear();
    for (int i = 0; i < WARP_SIZE; i++) {
      if (!((left & ~later) >> i & 1)) continue;
      for (uintptr_t sector = request.at[i] / 32; sector <= (request.at[i] + bytes - 1) / 32; sector++) traffic.sectors += seen.add(sector);
    }
    left = later;
  } while (left);
}

void count(Site& site, const Request& request) {
  Traffic& traffic = request.is_shared ? site.shared : site.global;
  traffic.requests++;
  traffic.threads += __builtin_popcount(request.lanes);
  traffic.bytes += (uint64_t)site.bytes * __builtin_popcount(request.lanes);
  (request.is_shared ? count_shared : count_global)(traffic, request, request.lanes, site.bytes, site.kind == ATOMIC);
}

// Races --------------------------------------------------------------------------------------------------------------------

// Whether an earlier access by another thread is ordered before one that `thread` makes now.
bool is_ordered(const Mark& mark, const Thread& thread, const Region& region) {
  if (!mark.epoch) return true;
  if (mark.epoch < first_epochs.back()) return region.is_shared;  // of another block: it has its own shared memory
  if (mark.thread == thread.number || mark.epoch != epoch) return true;
  return mark.thread / WARP_SIZE == thread.number / WARP_SIZE && thread.known[mark.thread % WARP_SIZE] > mark.clock;
}

void refine(Region& region, int grain) {  // smaller cells, because a smaller access came
  std::vector<Cell> finer;
  for (auto& cell : region.shadow) finer.insert(finer.end(), region.grain / grain, cell);
  region.shadow.swap(finer);
  region.grain = grain;
}

void judge(const Access& access, const Thread& thread) {
  Region& region = regions[access.region];
  const Kind kind = sites[access.site].kind;
  if (access.bytes < region.grain) refine(region, access.bytes);
  if (region.shadow.empty()) region.shadow.resize((region.end - region.first) / region.grain + 1);
  const Mark now{epoch, thread.clock, (uint16_t)thread.number, access.is_relaxed, access.site};
  const Mark* raced = nullptr;
  Mark found{};
  bool is_unwritten = false, has_raced = false;
  const uintptr_t first = (access.at - region.first) / region.grain, last = (access.at + access.bytes - 1 - region.first) / region.grain;
  for (uintptr_t i = first; i <= last; i++) {
    Cell& cell = region.shadow[i];
    const auto check = [&](const Mark& mark) {
      if (!raced && !(kind == ATOMIC && mark.is_relaxed) && !is_ordered(mark, thread, region)) raced = &mark;
    };
    check(cell.write);
    if (kind != ATOMIC && !access.is_relaxed) check(cell.atomic);
    if (kind != LOAD) check(cell.reads[0]), check(cell.reads[1]);
    if (kind != STORE) {
      const uint32_t written = std::max(cell.write.epoch, cell.atomic.epoch);
      is_unwritten |= region.is_shared ? written < first_epochs.back() : !region.is_written && !written;
    }
    if (raced) found = *raced, raced = nullptr, has_raced = true;
    if (kind == LOAD) {
      if (cell.reads[0].thread != now.thread || cell.reads[0].epoch < first_epochs.back()) cell.reads[1] = cell.reads[0];
      cell.reads[0] = now;
    } else {
      (kind == STORE ? cell.write : cell.atomic) = now;
    }
  }
  if (!has_raced && !is_unwritten) return;
  Finding& f = has_raced ? report("race", sites[access.site].pc, sites[found.site].pc, found.thread) : report("unwritten", sites[access.site].pc);
  if (f.count > 1) return;
  if (has_raced) f.other_block = block_of(found.epoch);
  f.region = access.region, f.offset = access.at - region.first, f.bytes = access.bytes;
}

struct Now { Thread* before = current; ~Now() { current = before; } };
}  // namespace

// The interface ------------------------------------------------------------------------------------------------------------

void begin_accesses() {
  sites.clear(), findings.clear(), requests.clear(), site_numbers.clear();
  for (auto& r : recent) r.pc = 0;
}

int site_of(uintptr_t pc, Kind kind, int bytes) {
  auto& r = recent[pc % 256];
  if (r.pc != pc) {
    const auto [where, is_new] = site_numbers.try_emplace(pc, (uint16_t)sites.size());
    if (is_new) sites.push_back({pc, kind, (uint8_t)bytes, 0, {}, {}}), requests.emplace_back();
    r = {pc, where->second};
  }
  return r.site;
}

Finding& report(const char* kind, uintptr_t pc, uintptr_t other_pc, int other_thread) {
  for (auto& f : findings) if (f.kind == kind && f.pc == pc && f.other_pc == other_pc) return f.count++, f;
  const int64_t block = block_of(epoch);
  findings.push_back({kind, pc, other_pc, block, block, current->number, other_thread, -1, 0, 0, 0, "", 1});
  return findings.back();
}

void count_at(uintptr_t pc, Kind kind) { sites[site_of(pc, kind, 0)].global.requests++; }

void record(void* address, int bytes, Kind kind, uintptr_t pc, bool is_relaxed) {
  if (!current) return;
  Thread& self = *current;
  const auto at = (uintptr_t)address;
  if (at - (uintptr_t)self.stack < STACK) return;  // a local variable
  const int number = site_of(pc, kind, bytes);
  Site& site = sites[number];
  self.pc = pc;
  int in = site.region;
  const auto is_in = [&](const Region& region) { return at >= region.first && at + bytes <= region.end; };
  if (in >= (int)regions.size() || !is_in(regions[in])) {
    for (in = (int)regions.size() - 1; in >= 0 && !is_in(regions[in]); in--) {}
    if (in >= 0) site.region = in;
  }
  if (in < 0 || at % std::min(bytes, 16)) {
    Finding& f = report(in < 0 ? "outside" : "misaligned", pc);
    if (f.count == 1) {
      for (int i = 0; i < (int)regions.size(); i++) {  // the nearest region
        const auto distance = [&](const Region& r) { return at < r.first ? r.first - at : at < r.end ? 0 : at - r.end; };
        if (distance(regions[i]) >> 22) continue;  // too far to say which array was meant
        if (f.region < 0 || distance(regions[i]) < distance(regions[f.region])) f.region = i;
      }
      if (f.region >= 0) f.offset = (int64_t)(at - regions[f.region].first);
      f.bytes = bytes;
    }
    stop_thread();
  }
  self.log.push_back({at, (uint16_t)number, (uint8_t)in, (uint8_t)bytes, is_relaxed});
}

void flush(int first, int end) {
  Now now;
  static std::vector<uint32_t> done, used;  // by site: requests of this lane, of the warp
  static std::vector<uint16_t> touched;
  done.resize(sites.size()), used.resize(sites.size());
  touched.clear();
  for (int i = first; i < end; i++) {
    Thread& thread = threads[i];
    current = &thread;
    for (const Access& access : thread.log) {
      const uint32_t k = done[access.site]++;
      auto& list = requests[access.site];
      if (k >= used[access.site]) {
        if (!k) touched.push_back(access.site);
        used[access.site] = k + 1;
        if (k >= list.size()) list.emplace_back();
        list[k].lanes = 0, list[k].is_shared = regions[access.region].is_shared;
      }
      list[k].lanes |= 1u << (i - first);
      list[k].at[i - first] = access.at;
      judge(access, thread);
    }
    for (const Access& access : thread.log) done[access.site] = 0;
    thread.log.clear();
  }
  for (const uint16_t site : touched) {
    for (uint32_t k = 0; k < used[site]; k++) count(sites[site], requests[site][k]);
    used[site] = 0;
  }
}

// What the compiler calls --------------------------------------------------------------------------------------------------

// A struct whose size is no power of two, or that is aligned to less than its size: a device accesses its words one by one.
static void record_range(void* address, size_t bytes, Kind kind, uintptr_t pc) {
  const size_t step = (uintptr_t)address % 4 || bytes % 4 ? 1 : 4;
  for (size_t i = 0; i < bytes; i += step) record((char*)address + i, (int)step, kind, pc | (uintptr_t)(i / step + 1) << 56);
}

#define CALLS(bytes) \
  EXPORT void __tsan_read##bytes(void* a) { record(a, bytes, LOAD, CALLER); } \
  EXPORT void __tsan_write##bytes(void* a) { record(a, bytes, STORE, CALLER); } \
  EXPORT void __tsan_unaligned_read##bytes(void* a) { record_range(a, bytes, LOAD, CALLER); } \
  EXPORT void __tsan_unaligned_write##bytes(void* a) { record_range(a, bytes, STORE, CALLER); } \
  EXPORT void __tsan_volatile_read##bytes(void* a) { record(a, bytes, LOAD, CALLER, true); } \
  EXPORT void __tsan_volatile_write##bytes(void* a) { record(a, bytes, STORE, CALLER); }
CALLS(1) CALLS(2) CALLS(4) CALLS(8) CALLS(16)
EXPORT void __tsan_init() {}
EXPORT void __tsan_func_entry(void*) {}
EXPORT void __tsan_func_exit() {}

EXPORT void __tsan_read_range(void* a, size_t n) { record_range(a, n, LOAD, CALLER); }
EXPORT void __tsan_write_range(void* a, size_t n) { record_range(a, n, STORE, CALLER); }

// Atomics ------------------------------------------------------------------------------------------------------------------

enum { ADD, SUB, MIN, MAX, AND, OR, XOR_BITS, EXCHANGE, SWAP_IF_EQUAL, INCREMENT, DECREMENT };  // as in device.h

template <class T> static uint64_t apply(void* address, int operation, uint64_t word, uint64_t compare_word) {
  T old, v, compare, result;
  memcpy(&old, address, sizeof old), memcpy(&v, &word, sizeof v), memcpy(&compare, &compare_word, sizeof compare);
  result = v;
  if (operation == ADD) result = old + v;
  if (operation == SUB) result = old - v;
  if (operation == MIN) result = std::min(old, v);
  if (operation == MAX) result = std::max(old, v);
  if (operation == SWAP_IF_EQUAL) result = old == compare ? v : old;
  if constexpr (std::is_integral_v<T>) {
    if (operation == AND) result = old & v;
    if (operation == OR) result = old | v;
    if (operation == XOR_BITS) result = old ^ v;
    if (operation == INCREMENT) result = old >= v ? 0 : old + 1;
    if (operation == DECREMENT) result = old == 0 || old > v ? v : old - 1;
  }
  memcpy(address, &result, sizeof result);
  uint64_t answer = 0;
  memcpy(&answer, &old, sizeof old);
  return answer;
}

EXPORT uint64_t cuda_host_atomic(void* address, int type, int operation, uint64_t value, uint64_t compare) {
  static const int bytes[] = {4, 4, 8, 8, 4, 8};
  record(address, bytes[type], ATOMIC, CALLER);
  if (operation == SWAP_IF_EQUAL) {  // it checks what was read of this address before, so that load does not race with atomics
    auto& log = current->log;
    for (auto access = log.rbegin() + 1; access < log.rend() && !(access->at == (uintptr_t)address && sites[access->site].kind == ATOMIC); ++access) {
      access->is_relaxed |= access->at == (uintptr_t)address;
    }
  }
  static constexpr decltype(&apply<int>) by_type[] = {apply<int>, apply<unsigned>, apply<uint64_t>, apply<int64_t>, apply<float>, apply<double>};
  return by_type[type](address, operation, value, compare);
}
