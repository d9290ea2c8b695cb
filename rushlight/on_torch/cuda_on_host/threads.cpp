// threads.cpp: a grid of threads on one thread of the host.
//
// Each thread of a block is a fiber: a stack of its own, entered once by setcontext and left and resumed by _setjmp and _longjmp.
// It runs until it waits (at __syncthreads, or for lanes of its warp), ends, or has taken many steps. The blocks run one after
// the other, because no block may depend on another one that runs at the same time.
#include "runtime.h"
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <csignal>
#include <ctime>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {
constexpr size_t GUARD = 4096, LARGEST_SHARED = 227 << 10;
constexpr int64_t SLICE = 1 << 14;  // steps after which another thread runs, so that a thread may wait for another one in a loop

jmp_buf scheduler;
char* stacks = nullptr;
void (*kernel)(void**);
void** arguments;
Index block_index, block_dim, grid_dim;
int size;  // threads of a block
int64_t step_limit;
uint64_t random_state;
bool is_drawn;
bool is_over;  // a thread does not end: nothing more is run
alignas(128) char dynamic_shared[LARGEST_SHARED];
std::string printed;

uint64_t draw(uint64_t below) {  // splitmix64
  uint64_t z = (random_state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31)) % below;
}

template <class T> std::vector<T> order_of(T count) {
  std::vector<T> order(count);
  for (T i = 0; i < count; i++) order[i] = i;
  for (T i = count; is_drawn && i > 1; i--) std::swap(order[i - 1], order[draw(i)]);
  return order;
}

// Fibers --------------------------------------------------------------------------------------------------------------

void leave() {  // for the scheduler; returns when the thread is resumed
  Thread* self = current;
  if (!_setjmp(self->here)) _longjmp(scheduler, 1);
  if (self->was_stopped) _longjmp(self->restart, 1);
}

void fiber() {
  for (;;) {
    if (!_setjmp(current->restart) && !current->was_stopped) kernel(arguments);
    current->state = DONE;
    if (!_setjmp(current->here)) _longjmp(scheduler, 1);
  }
}

void resume(Thread& thread) {
  current = &thread;
  if (!_setjmp(scheduler)) {
    if (thread.has_started) _longjmp(thread.here, 1);
    thread.has_started = true;
    static ucontext_t context;
    getcontext(&context);
    context.uc_stack = {thread.stack, 0, STACK};
    context.uc_link = nullptr;
    makecontext(&context, fiber, 0);
    setcontext(&context);
  }
  current = nullptr;
}

void wait(State state, uintptr_t pc) {
  current->pc = pc;
  current->state = state;
  leave();
}

void make_threads(int count) {
  if (!stacks) {  // reserved, and used only as far as threads go; below each is a page that ends the process
    stacks = (char*)mmap(nullptr, 1024 * (STACK + GUARD), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    threads.resize(1024);
  }
  static int made = 0;
  for (; made < count; made++) {
    char* guard = stacks + made * (STACK + GUARD);
    mprotect(guard, GUARD, PROT_NONE);
    threads[made].number = made, threads[made].stack = guard + GUARD;
  }
  size = count;
}

// Warps ---------------------------------------------------------------------------------------------------------------

enum { SYNC, IDX, UP, DOWN, XOR, BALLOT, ACTIVE };  // as in device.h

int end_of_warp(int first) { return std::min(first + WARP_SIZE, size); }

// The lane that a lane reads in a shuffle. It reads itself where the segment of `width` lanes ends.
int source_lane(const Thread& thread) {
  const int lane = thread.number % WARP_SIZE, first = lane & ~(thread.width - 1), last = first + thread.width - 1;
  int source = lane;
  if (thread.operation == IDX) source = first + (thread.lane & (thread.width - 1));
  if (thread.operation == UP) source = lane - thread.lane < first ? lane : lane - thread.lane;
  if (thread.operation == DOWN) source = lane + thread.lane > last ? lane : lane + thread.lane;
  if (thread.operation == XOR) source = (lane ^ thread.lane) > last ? lane : lane ^ thread.lane;
  return source;
}

void complete(int first, uint32_t members, uint32_t mask) {
  uint64_t values[WARP_SIZE] = {}, ballot = 0;
  uint32_t clocks[WARP_SIZE] = {};
  const int operation = threads[first + __builtin_ctz(members)].operation;
  for (int lane = 0; lane < WARP_SIZE; lane++) {
    if (!(members >> lane & 1)) continue;
    Thread& thread = threads[first + lane];
    values[lane] = thread.value;
    ballot |= (uint64_t)(thread.value != 0) << lane;
    for (int other = 0; other < WARP_SIZE; other++) clocks[other] = std::max(clocks[other], thread.known[other]);
    clocks[lane] = std::max(clocks[lane], thread.clock + 1);
  }
  count_at(threads[first + __builtin_ctz(members)].pc, WARP);
  for (int lane = 0; lane < WARP_SIZE; lane++) {
    if (!(members >> lane & 1)) continue;
    Thread& thread = threads[first + lane];
    thread.state = READY;
    if (operation == SYNC) {  // the only one that orders accesses to memory
      memcpy(thread.known, clocks, sizeof clocks);
      thread.clock++;
    } else if (operation == BALLOT) {
      thread.value = ballot;
    } else if (operation == ACTIVE) {
      thread.value = members;
    } else {
      const int source = source_lane(thread);
      if (members >> source & 1) {
        thread.value = values[source];
      } else {
        current = &thread;
        report("shuffle", thread.pc, 0, first + source).mask = mask;
        current = nullptr;
      }
    }
  }
}

// Let the lanes go on whose partners have all arrived.
void settle_warp(int first) {
  const int end = end_of_warp(first);
  uint32_t alive = 0;
  bool is_ready = false, is_long = false;
  for (int i = first; i < end; i++) {
    alive |= (uint32_t)(threads[i].state != DONE) << (i - first);
    is_ready |= threads[i].state == READY;
    is_long |= threads[i].log.size() >= LARGEST_LOG;
  }
  if (is_ready && !is_long) return;
  flush(first, end);
  if (is_ready) return;
  for (int i = first; i < end; i++) {
    Thread& thread = threads[i];
    if (thread.state != IN_WARP) continue;
    uint32_t members = 0;
    for (int j = first; j < end; j++) {
      Thread& other = threads[j];
      const bool is_same = other.state == IN_WARP && other.operation == thread.operation && other.mask == thread.mask;
      members |= (uint32_t)(is_same && (thread.operation != ACTIVE || other.pc == thread.pc)) << (j - first);
    }
    if (thread.operation == ACTIVE || members == (thread.mask & alive)) complete(first, members, thread.mask);
  }
}

// Blocks --------------------------------------------------------------------------------------------------------------

void release_barrier() {
  Thread *one = nullptr, *other = nullptr, *ended = nullptr;
  int count = 0;
  for (int i = 0; i < size; i++) {
    Thread& thread = threads[i];
    if (thread.state == DONE) {
      if (!thread.was_stopped && !ended) ended = &thread;
      continue;
    }
    if (!one) one = &thread;
    if (thread.pc != one->pc && !other) other = &thread;
    count += thread.predicate != 0;
  }
  current = one;
  if (ended) report("barrier, ended", one->pc, ended->pc, ended->number);
  if (other) report("barrier, other", one->pc, other->pc, other->number);
  current = nullptr;
  count_at(one->pc, BARRIER);
  epoch++;
  for (int i = 0; i < size; i++) {
    threads[i].predicate = count;
    if (threads[i].state == AT_BARRIER) threads[i].state = READY;
  }
}

void end_block() {
  for (int i = 0; i < size; i++) {
    if (threads[i].state == DONE) continue;
    threads[i].was_stopped = true;
    if (threads[i].has_started) resume(threads[i]);
    threads[i].state = DONE;
  }
  for (int first = 0; first < size; first += WARP_SIZE) flush(first, end_of_warp(first));
}

// Nothing can run: lanes wait for lanes that wait for something else.
void report_deadlock() {
  for (int i = 0; i < size; i++) {
    Thread& thread = threads[i];
    if (thread.state != IN_WARP) continue;
    for (int lane = 0; lane < WARP_SIZE; lane++) {
      const int j = i / WARP_SIZE * WARP_SIZE + lane;
      if (!(thread.mask >> lane & 1) || j >= size || threads[j].state == DONE) continue;
      if (threads[j].state == IN_WARP && threads[j].mask == thread.mask && threads[j].operation == thread.operation) continue;
      current = &thread;
      report("deadlock", thread.pc, threads[j].pc, j).mask = thread.mask;
      current = nullptr;
      break;
    }
  }
}

void run_block() {
  for (int i = 0; i < size; i++) {
    Thread& thread = threads[i];
    thread.state = READY, thread.was_stopped = false, thread.steps = 0, thread.clock = 0, thread.pc = 0;
    thread.index = {i % block_dim.x, i / block_dim.x % block_dim.y, i / block_dim.x / block_dim.y};
    memset(thread.known, 0, sizeof thread.known);
  }
  for (auto& region : regions) if (region.is_shared) memset((void*)region.first, 0xff, region.end - region.first);  // NaN
  first_epochs.push_back(++epoch);
  const auto warps = order_of((size + WARP_SIZE - 1) / WARP_SIZE), lanes = order_of(WARP_SIZE);
  for (;;) {
    bool has_run = false;
    for (int warp : warps) {
      for (int lane : lanes) {
        const int i = warp * WARP_SIZE + lane;
        if (i < size && threads[i].state == READY && !is_over) resume(threads[i]), has_run = true;
      }
      settle_warp(warp * WARP_SIZE);
    }
    if (is_over) return end_block();
    if (has_run) continue;
    int left = 0, in_warp = 0;
    for (int i = 0; i < size; i++) left += threads[i].state != DONE, in_warp += threads[i].state == IN_WARP;
    if (!left) break;
    if (in_warp) report_deadlock(), end_block();
    else release_barrier();
  }
}

// The library of the kernel: its thread-local section is shared memory, its other variables are those with __device__.
struct Library { uintptr_t inside, base, end, shared; std::vector<Region> variables; } library;

int find_library(dl_phdr_info* info, size_t, void*) {
  const auto parts = info->dlpi_phdr, end = parts + info->dlpi_phnum;
  const auto is_inside = [&](const auto& part) { return part.p_type == PT_LOAD && library.inside - info->dlpi_addr - part.p_vaddr < part.p_memsz; };
  if (std::none_of(parts, end, is_inside)) return 0;
  library.base = info->dlpi_addr;
  library.shared = (uintptr_t)info->dlpi_tls_data;
  for (auto part = parts; part < end; part++) {
    if (part->p_type != PT_LOAD) continue;
    const uintptr_t first = info->dlpi_addr + part->p_vaddr;
    library.end = first + part->p_memsz;
    if (part->p_flags & PF_W) library.variables.push_back({first, library.end, 4, false, true, 4, {}});
  }
  return 1;
}

// Signals -------------------------------------------------------------------------------------------------------------
//
// A thread that runs over its stack, or divides an integer by 0, gets a signal. And a timer sends one each 20 ms of the processor's
// time: in a loop without a body no basic block has a statement, so the compiler inserts no call there.

constexpr int TICK = SIGVTALRM, TICKS = 4;  // so many without a step are an endless loop
const Thread* seen_thread;
int64_t seen_steps;
int seen_times;

void on_signal(int number, siginfo_t*, void* context) {
  const auto& machine = ((ucontext_t*)context)->uc_mcontext;
#if defined(__x86_64__)
  const uintptr_t pc = machine.gregs[REG_RIP];
#else
  const uintptr_t pc = machine.pc;
#endif
  const bool is_inside = pc >= library.base && pc < library.end;
  if (number != TICK) {
    if (!current) return (void)signal(number, SIG_DFL);
    const bool is_division = number == SIGFPE;
    report(is_division ? "division" : "outside", is_inside ? pc + 1 : current->pc).text = is_division ? "" : "the thread's stack";
    stop_thread();
  } else if (current && is_inside) {
    seen_times = current == seen_thread && current->steps == seen_steps ? seen_times + 1 : 0;
    seen_thread = current, seen_steps = current->steps;
    if (seen_times == TICKS) report("endless", pc + 1), is_over = true, stop_thread();
  }
}

// Handles the signals while kernels run.
struct Signals {
  struct sigaction before[4];
  stack_t stack_before;
  timer_t timer;
  bool has_timer;
  static constexpr int NUMBERS[] = {SIGSEGV, SIGBUS, SIGFPE, TICK};
  Signals() {
    static char stack[1 << 16];
    const stack_t own{stack, 0, sizeof stack};
    sigaltstack(&own, &stack_before);
    struct sigaction action{};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
    for (int i = 0; i < 4; i++) sigaction(NUMBERS[i], &action, &before[i]);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID, event.sigev_signo = TICK, event._sigev_un._tid = gettid();
    const itimerspec each{{0, 20'000'000}, {0, 20'000'000}};
    has_timer = !timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) && !timer_settime(timer, 0, &each, nullptr);
  }
  ~Signals() {
    if (has_timer) timer_delete(timer);
    for (int i = 0; i < 4; i++) sigaction(NUMBERS[i], &before[i], nullptr);
    sigaltstack(&stack_before, nullptr);
  }
};
}  // namespace

Thread* current = nullptr;
std::vector<Thread> threads;
std::vector<uint32_t> first_epochs;
std::vector<int64_t> block_order;
uint32_t epoch;

void stop_thread() {
  current->was_stopped = true;
  _longjmp(current->restart, 1);
}

int64_t block_of(uint32_t of) {  // the number in the grid of the block of an epoch
  size_t low = 0, high = first_epochs.size();
  while (high - low > 1) (first_epochs[(low + high) / 2] <= of ? low : high) = (low + high) / 2;
  return block_order[low];
}

// What a kernel calls ---------------------------------------------------------------------------------------------------

EXPORT Index cuda_host_thread_index() { return current->index; }
EXPORT Index cuda_host_block_index() { return block_index; }
EXPORT Index cuda_host_block_dim() { return block_dim; }
EXPORT Index cuda_host_grid_dim() { return grid_dim; }
EXPORT void* cuda_host_dynamic_shared() { return dynamic_shared; }
EXPORT void __syncthreads() {
  current->predicate = 0;
  wait(AT_BARRIER, CALLER);
}
EXPORT int __syncthreads_count(int predicate) {
  current->predicate = predicate != 0;
  wait(AT_BARRIER, CALLER);
  return current->predicate;
}
EXPORT void __threadfence() {}
EXPORT long long clock64() { return current->steps; }

EXPORT uint64_t cuda_host_warp(int operation, unsigned mask, uint64_t value, int lane, int width) {
  Thread& self = *current;
  if (!(mask >> (self.number % WARP_SIZE) & 1)) {
    report("mask", CALLER).mask = mask;
    stop_thread();
  }
  self.operation = operation, self.mask = mask, self.value = value, self.lane = lane, self.width = width;
  wait(IN_WARP, CALLER);
  return self.value;
}

EXPORT int cuda_host_printf(const char* format, ...) {
  char line[1024];
  va_list list;
  va_start(list, format);
  const int length = vsnprintf(line, sizeof line, format, list);
  va_end(list);
  if (printed.size() < 1 << 16) printed += line;
  return length;
}

EXPORT void cuda_host_assert(const char* condition) {
  report("assert", CALLER).text = condition;
  stop_thread();
}

// The compiler calls this at the beginning of each basic block (-fsanitize-coverage=trace-pc).
EXPORT void __sanitizer_cov_trace_pc() {
  if (!current) return;
  Thread& self = *current;
  if (++self.steps % SLICE && self.steps < step_limit) return;
  if (self.steps >= step_limit) {
    report("endless", CALLER);
    is_over = true;
    stop_thread();
  }
  leave();
}

// What Python calls -----------------------------------------------------------------------------------------------------

enum Memory : int32_t { UNWRITTEN, WRITTEN, DYNAMIC, STATIC };
struct Buffer { uintptr_t first; int64_t bytes; int32_t element; Memory memory; };
struct Launch {
  void (*kernel)(void**);
  void** arguments;
  unsigned grid[3], block[3];
  int64_t shared, seed, steps, buffer_count;
  const Buffer* buffers;
  void* (*touch)();  // in the kernel's library: it touches the thread-local section
};

EXPORT void cuda_host_launch(const Launch* launch) {
  kernel = launch->kernel, arguments = launch->arguments, step_limit = launch->steps;
  grid_dim = {launch->grid[0], launch->grid[1], launch->grid[2]};
  block_dim = {launch->block[0], launch->block[1], launch->block[2]};
  make_threads((int)(block_dim.x * block_dim.y * block_dim.z));
  library = {(uintptr_t)launch->touch, 0, 0, 0, {}};
  launch->touch();
  dl_iterate_phdr(find_library, nullptr);
  regions.clear();
  for (int64_t i = 0; i < launch->buffer_count; i++) {
    const Buffer& b = launch->buffers[i];
    const uintptr_t first = b.first + (b.memory == DYNAMIC ? (uintptr_t)dynamic_shared : b.memory == STATIC ? library.shared : 0);
    regions.push_back({first, first + b.bytes, b.element, b.memory >= DYNAMIC, b.memory == WRITTEN, std::min(b.element, 4), {}});
  }
  regions.insert(regions.end(), library.variables.begin(), library.variables.end());
  random_state = launch->seed, is_drawn = launch->seed != 0, is_over = false;
  epoch = 0, printed.clear(), first_epochs.clear();
  begin_accesses();
  block_order = order_of((int64_t)grid_dim.x * grid_dim.y * grid_dim.z);
  const Signals signals;
  for (int64_t number : block_order) {
    if (is_over) break;
    block_index = {(unsigned)(number % grid_dim.x), (unsigned)(number / grid_dim.x % grid_dim.y), (unsigned)(number / grid_dim.x / grid_dim.y)};
    run_block();
  }
}

EXPORT const char* cuda_host_printed() { return printed.c_str(); }

// What was counted and found, as JSON.
EXPORT const char* cuda_host_result() {
  static std::string text;
  const auto add = [](auto... numbers) { ((text += std::to_string(numbers) + ","), ...); };
  text = "{\"sites\":[";
  for (auto& site : sites) {
    text += "[";
    add((int64_t)(site.pc - library.base), site.kind);
    for (auto* t : {&site.global, &site.shared}) add(t->threads, t->requests, t->bytes, t->sectors, t->wavefronts, t->conflicts);
    text.back() = ']', text += ",";
  }
  text.back() = sites.empty() ? '[' : ']', text += sites.empty() ? "],\"findings\":[" : ",\"findings\":[";
  for (auto& f : findings) {
    std::string escaped;
    for (char c : f.text) escaped += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c < ' ' ? ' ' : c);
    text += std::string("[\"") + f.kind + "\",\"" + escaped + "\",";
    const auto relative = [](uintptr_t pc) { return pc ? (int64_t)(pc - library.base) : -1; };
    add(relative(f.pc), relative(f.other_pc), f.block, f.thread, f.other_block, f.other_thread, f.region, f.offset, f.bytes, f.mask, f.count);
    text.back() = ']', text += ",";
  }
  if (!findings.empty()) text.pop_back();
  return (text += "]}").c_str();
}
