// runtime.h: what the two halves of the runtime share. threads.cpp runs the threads of a grid; accesses.cpp judges their accesses to memory.
#pragma once
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>
#include <ucontext.h>

#define EXPORT extern "C" __attribute__((visibility("default")))
#define CALLER ((uintptr_t)__builtin_return_address(0))

struct Index { unsigned x, y, z; };

// Memory that a kernel may access. A cell of its shadow stands for `grain` bytes.
struct Mark { uint32_t epoch, clock; uint16_t thread : 15, is_relaxed : 1, site; };  // an access. Epochs begin at 1 and are never used twice
struct Cell { Mark write, atomic, reads[2]; };  // the last of each; two reads, by two threads
struct Region {
  uintptr_t first, end;
  int element;       // bytes of an element
  bool is_shared, is_written;
  int grain = 4;
  std::vector<Cell> shadow;
};

// A place in the program that accesses memory, or waits. Counts are for global memory and for shared memory.
enum Kind : uint8_t { LOAD, STORE, ATOMIC, BARRIER, WARP };
struct Traffic { uint64_t threads = 0, requests = 0, bytes = 0, sectors = 0, wavefronts = 0, conflicts = 0; };
struct Site { uintptr_t pc; Kind kind; uint8_t bytes; int region = 0; Traffic global, shared; };

struct Access { uintptr_t at; uint16_t site; uint8_t region, bytes; bool is_relaxed; };  // a relaxed one does not race with atomics

// A thread of the kernel: a fiber with its own stack.
enum State : uint8_t { READY, AT_BARRIER, IN_WARP, DONE };
struct Thread {
  State state = DONE;
  bool has_started = false, was_stopped = false;
  int number = 0;  // in its block
  Index index{};
  char* stack = nullptr;
  jmp_buf here, restart;
  int operation = 0, lane = 0, width = 32, predicate = 0;  // what it waits for
  uint32_t mask = 0;
  uint64_t value = 0;
  uintptr_t pc = 0;  // where it waits, or last was
  int64_t steps = 0;
  uint32_t clock = 0, known[32] = {};  // of its warp's lanes: the clock up to which __syncwarp has ordered their accesses before its own
  std::vector<Access> log;
};

struct Finding {
  const char* kind;
  uintptr_t pc, other_pc;
  int64_t block, other_block;  // -1: there is none
  int thread, other_thread;
  int region;                  // -1: there is none
  int64_t offset;
  int bytes;
  uint32_t mask;
  std::string text;
  uint64_t count;
};

constexpr int WARP_SIZE = 32;
constexpr size_t LARGEST_LOG = 1 << 18, STACK = 128 << 10;  // accesses of a thread, bytes

extern Thread* current;  // null while no thread of a kernel runs
extern std::vector<Thread> threads;
extern std::vector<Region> regions;
extern std::vector<Site> sites;
extern std::vector<uint32_t> first_epochs;  // of the blocks, in the order in which they run
extern std::vector<int64_t> block_order;
extern uint32_t epoch;

int site_of(uintptr_t pc, Kind kind, int bytes);
void begin_accesses();
void record(void* address, int bytes, Kind kind, uintptr_t pc, bool is_relaxed = false);
void flush(int first, int end);  // judge the logs of a warp's threads
void count_at(uintptr_t pc, Kind kind);
Finding& report(const char* kind, uintptr_t pc, uintptr_t other_pc = 0, int other_thread = -1);
[[noreturn]] void stop_thread();
int64_t block_of(uint32_t epoch);
extern std::vector<Finding> findings;
