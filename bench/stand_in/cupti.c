/* A stand-in for CUPTI, the library that tells a profiler what the CUDA runtime and the device did.

Kineto, the profiler in PyTorch, links with `libcupti` and turns CUPTI's records into a trace. This library has the functions that
Kineto calls, and writes records for what reaches the stand-in of `cuda.c` and `kernels.c`: each call of the CUDA runtime, and each
kernel, copy and fill. So a trace has PyTorch's own structure: names, streams, correlation ids, External ids, grids.

The times of the host are real. The times of the device are a model, because no kernel runs (all constants are below):

- a kernel takes 2 µs, and 2 ns more for each 128 of its threads. It begins at the earliest 3 µs after its launch began, after all
  earlier work on its stream, and when the threads of all running kernels and its own fit on the device;
- a copy takes 1.5 µs, and the time that its bytes need. Copies to the device go one after the other, and so do copies to the host;
- a call that waits for the device waits until the model's work is done. So does a copy from or to memory that is not pinned.

It is loaded before the stand-in of the device, and passes every call on. `record_traces.py` compiles and uses it. */

#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The model, in nanoseconds */
static const uint64_t LAUNCH = 3000;              /* from the beginning of a call to the beginning of its work, at the least */
static const uint64_t KERNEL = 2000, WARPS4 = 2;  /* a kernel, and 128 of its threads */
static const uint64_t COPY = 1500;                /* a copy or a fill, of no bytes */
static const double PINNED = 25, PAGEABLE = 6, ON_DEVICE = 1500; /* bytes in a nanosecond: GB/s */
static const uint64_t THREADS = 132 * 2048;       /* that run at the same time */
static const uint32_t DEFAULT_STREAM = 7;         /* CUPTI's number of the default stream */

enum { STREAMS = 4096, EVENTS = 1 << 16, RECORDS = 1 << 16, PINNED_RANGES = 1 << 12, DEPTH = 1 << 10, KINDS = 256 };

typedef struct { uint64_t start, end, threads; } Run; /* a kernel on the device */
typedef union {
    CUpti_Activity any;
    CUpti_ActivityAPI call;
    CUpti_ActivityExternalCorrelation external;
    CUpti_ActivityKernel9 kernel;
    CUpti_ActivityMemcpy5 copy;
    CUpti_ActivityMemset4 fill;
    CUpti_ActivitySynchronization2 wait;
    CUpti_ActivityCudaEvent2 event;
} Record;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int enabled[KINDS];
static Record records[RECORDS];
static int record_count;
static uint32_t correlation;                        /* the last one that was given */
static uint64_t stream_free[STREAMS], engine_free[3]; /* when all work so far is done: of a stream, of copies to device and host */
static Run runs[RECORDS];
static int run_count;
static struct { cudaEvent_t event; uint64_t time; int stream; } events[EVENTS]; /* when a recorded event happens */
static int event_count;
static struct { uintptr_t base; size_t size; } pinned[PINNED_RANGES];
static int pinned_count;
static __thread struct { uint64_t ids[DEPTH]; int depth; } external[8]; /* by kind: PyTorch says which operator runs */
static __thread int inside;                         /* a call within a call is not recorded */

static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static uint8_t *buffer;                             /* the client's, for the next records */
static size_t buffer_size;
static CUpti_TimestampCallbackFunc clock_of_client;
static uint64_t first_ns, first_tick;               /* the two clocks at the same moment */

/* Time ------------------------------------------------------------------------------------------------------------- */

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void wait_until(uint64_t time) {
    while (now() < time) {}
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

static int index_of(cudaStream_t stream) { return (uintptr_t)stream < 256 ? 0 : (int)((uintptr_t)stream >> 8); }

static uint32_t number_of(int stream) { return stream ? 12 + stream : DEFAULT_STREAM; }

static uint64_t all_free(void) {
    uint64_t time = 0;
    for (int i = 0; i < STREAMS; ++i) time = later(time, stream_free[i]);
    return time;
}

/* When a kernel can begin, at this time or later: the threads of the kernels that run at the same time fit on the device. */
static uint64_t when_it_fits(uint64_t time, uint64_t duration, uint64_t threads) {
    for (;;) {
        uint64_t sum = threads, next = UINT64_MAX;
        for (int i = 0; i < run_count; ++i)
            if (runs[i].start < time + duration && runs[i].end > time) {
                sum += runs[i].threads;
                if (runs[i].end < next) next = runs[i].end;
            }
        if (sum <= THREADS || next == UINT64_MAX) return time;
        time = next;
    }
}

/* Records ---------------------------------------------------------------------------------------------------------- */

static Record *add(CUpti_ActivityKind kind) {
    static Record unused;
    if (!enabled[kind]) return &unused;
    if (record_count == RECORDS) {
        fprintf(stderr, "the stand-in has no more room for records\n");
        abort();
    }
    size_t most = 0;
    if (!buffer) request(&buffer, &buffer_size, &most); /* a client flushes only if a buffer is out */
    Record *record = &records[record_count++];
    memset(record, 0, sizeof *record);
    record->any.kind = kind;
    return record;
}

typedef struct { uint64_t start; uint32_t id; } Call;

static Call begin(void) {
    pthread_mutex_lock(&lock);
    Call call = {now(), ++correlation};
    pthread_mutex_unlock(&lock);
    inside = 1;
    return call;
}

static void end(Call call, CUpti_CallbackId name, cudaError_t error) {
    pthread_mutex_lock(&lock);
    for (int kind = 0; kind < 8; ++kind)
        if (external[kind].depth) {
            CUpti_ActivityExternalCorrelation *record = &add(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)->external;
            record->externalKind = (CUpti_ExternalCorrelationKind)kind;
            record->externalId = external[kind].ids[external[kind].depth - 1], record->correlationId = call.id;
        }
    CUpti_ActivityAPI *record = &add(CUPTI_ACTIVITY_KIND_RUNTIME)->call;
    record->cbid = name, record->start = call.start, record->end = now(), record->correlationId = call.id;
    record->processId = getpid(), record->threadId = (uint32_t)(uintptr_t)pthread_self(), record->returnValue = error;
    pthread_mutex_unlock(&lock);
    inside = 0;
}

static void waited(Call call, CUpti_ActivitySynchronizationType type, int stream, uint32_t event) {
    pthread_mutex_lock(&lock);
    CUpti_ActivitySynchronization2 *record = &add(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)->wait;
    record->type = type, record->start = call.start, record->end = now(), record->correlationId = call.id, record->contextId = 1;
    record->streamId = stream < 0 ? CUPTI_SYNCHRONIZATION_INVALID_VALUE : number_of(stream), record->cudaEventId = event;
    pthread_mutex_unlock(&lock);
}

/* The stand-in of the device, which answers each call. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define CBID(name) CUPTI_RUNTIME_TRACE_CBID_##name

/* A call that is passed on and recorded. */
#define PASS(name, cbid, declared, passed)                  \
    cudaError_t name declared {                             \
        if (inside) return NEXT(name) passed;               \
        Call call = begin();                                \
        cudaError_t error = NEXT(name) passed;              \
        end(call, CBID(cbid), error);                       \
        return error;                                       \
    }

PASS(cudaMalloc, cudaMalloc_v3020, (void **pointer, size_t bytes), (pointer, bytes))
PASS(cudaStreamIsCapturing, cudaStreamIsCapturing_v10000, (cudaStream_t stream, enum cudaStreamCaptureStatus *status), (stream, status))

/* Kernels ---------------------------------------------------------------------------------------------------------- */

int stand_in_launches(void);
const char *stand_in_launch(int i, long *numbers);

static void run_kernel(Call call, dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    long numbers[7];
    uint64_t threads = (uint64_t)grid.x * grid.y * grid.z * block.x * block.y * block.z;
    int i = index_of(stream);
    pthread_mutex_lock(&lock);
    CUpti_ActivityKernel9 *record = &add(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)->kernel;
    uint64_t duration = KERNEL + threads * WARPS4 / 128, share = threads < THREADS ? threads : THREADS;
    uint64_t start = when_it_fits(later(call.start + LAUNCH, stream_free[i]), duration, share);
    int kept = 0;
    for (int j = 0; j < run_count; ++j)
        if (runs[j].end > call.start) runs[kept++] = runs[j];
    run_count = kept;
    if (run_count == RECORDS) abort();
    runs[run_count++] = (Run){start, start + duration, share};
    stream_free[i] = start + duration;
    record->start = start, record->end = record->completed = start + duration;
    record->contextId = 1, record->streamId = number_of(i), record->correlationId = call.id, record->gridId = call.id;
    record->gridX = grid.x, record->gridY = grid.y, record->gridZ = grid.z;
    record->blockX = block.x, record->blockY = block.y, record->blockZ = block.z;
    record->dynamicSharedMemory = shared, record->name = stand_in_launch(stand_in_launches() - 1, numbers);
    pthread_mutex_unlock(&lock);
}

#define LAUNCHES(name, cbid, declared, passed, grid, block, shared, stream)  \
    cudaError_t name declared {                                              \
        if (inside) return NEXT(name) passed;                                \
        Call call = begin();                                                 \
        cudaError_t error = NEXT(name) passed;                               \
        run_kernel(call, grid, block, shared, stream);                       \
        end(call, CBID(cbid), error);                                        \
        return error;                                                        \
    }

LAUNCHES(cudaLaunchKernel, cudaLaunchKernel_v7000,
         (const void *key, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream),
         (key, grid, block, arguments, shared, stream), grid, block, shared, stream)
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
LAUNCHES(__cudaLaunchKernel, cudaLaunchKernel_v7000,
         (cudaKernel_t key, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream),
         (key, grid, block, arguments, shared, stream), grid, block, shared, stream)
LAUNCHES(cudaLaunchKernelExC, cudaLaunchKernelExC_v11060, (const cudaLaunchConfig_t *to, const void *key, void **arguments),
         (to, key, arguments), to->gridDim, to->blockDim, to->dynamicSmemBytes, to->stream)

/* Copies and fills --------------------------------------------------------------------------------------------------- */

static CUpti_ActivityMemoryKind kind_of(const void *pointer) {
    if ((uintptr_t)pointer >= (uintptr_t)1 << 40 && (uintptr_t)pointer < (uintptr_t)1 << 44) return CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    for (int i = 0; i < pinned_count; ++i)
        if ((uintptr_t)pointer - pinned[i].base < pinned[i].size) return CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    return CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
}

static uint64_t run_copy(Call call, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
    int i = index_of(stream);
    pthread_mutex_lock(&lock);
    CUpti_ActivityMemcpy5 *record = &add(CUPTI_ACTIVITY_KIND_MEMCPY)->copy;
    record->srcKind = kind_of(from), record->dstKind = kind_of(to);
    if (kind == cudaMemcpyDefault)
        kind = record->srcKind != CUPTI_ACTIVITY_MEMORY_KIND_DEVICE   ? cudaMemcpyHostToDevice
               : record->dstKind != CUPTI_ACTIVITY_MEMORY_KIND_DEVICE ? cudaMemcpyDeviceToHost
                                                                      : cudaMemcpyDeviceToDevice;
    int pageable = kind_of(from) == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE || kind_of(to) == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
    int engine = kind == cudaMemcpyHostToDevice ? 1 : kind == cudaMemcpyDeviceToHost ? 2 : 0;
    uint64_t start = later(call.start + LAUNCH, stream_free[i]);
    if (engine) start = later(start, engine_free[engine]);
    uint64_t finish = start + COPY + (uint64_t)(bytes / (!engine ? ON_DEVICE : pageable ? PAGEABLE : PINNED));
    stream_free[i] = engine_free[engine] = finish;
    record->copyKind = engine == 1   ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD
                       : engine == 2 ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH
                                     : CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
    record->bytes = bytes, record->start = start, record->end = finish;
    record->contextId = 1, record->streamId = number_of(i), record->correlationId = call.id;
    pthread_mutex_unlock(&lock);
    return engine && pageable ? finish : 0; /* until when the call waits */
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
    if (inside) return NEXT(cudaMemcpyAsync)(to, from, bytes, kind, stream);
    Call call = begin();
    cudaError_t error = NEXT(cudaMemcpyAsync)(to, from, bytes, kind, stream);
    wait_until(run_copy(call, to, from, bytes, kind, stream));
    end(call, CBID(cudaMemcpyAsync_v3020), error);
    return error;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    if (inside) return NEXT(cudaMemcpy)(to, from, bytes, kind);
    Call call = begin();
    cudaError_t error = NEXT(cudaMemcpy)(to, from, bytes, kind);
    run_copy(call, to, from, bytes, kind, 0);
    wait_until(stream_free[0]);
    end(call, CBID(cudaMemcpy_v3020), error);
    return error;
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream) {
    if (inside) return NEXT(cudaMemsetAsync)(pointer, value, bytes, stream);
    Call call = begin();
    cudaError_t error = NEXT(cudaMemsetAsync)(pointer, value, bytes, stream);
    int i = index_of(stream);
    pthread_mutex_lock(&lock);
    CUpti_ActivityMemset4 *record = &add(CUPTI_ACTIVITY_KIND_MEMSET)->fill;
    record->start = later(call.start + LAUNCH, stream_free[i]);
    record->end = stream_free[i] = record->start + COPY + (uint64_t)(bytes / ON_DEVICE);
    record->value = value, record->bytes = bytes, record->memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    record->contextId = 1, record->streamId = number_of(i), record->correlationId = call.id;
    pthread_mutex_unlock(&lock);
    end(call, CBID(cudaMemsetAsync_v3020), error);
    return error;
}

/* Memory of the host that the device can read: this memory is real. */
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    Call call = begin();
    *pointer = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (pinned_count == PINNED_RANGES) abort();
    pinned[pinned_count].base = (uintptr_t)*pointer, pinned[pinned_count++].size = bytes;
    end(call, CBID(cudaHostAlloc_v3020), cudaSuccess);
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer) {
    static const enum cudaMemoryType types[] = {[CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE] = cudaMemoryTypeUnregistered,
                                                [CUPTI_ACTIVITY_MEMORY_KIND_PINNED] = cudaMemoryTypeHost,
                                                [CUPTI_ACTIVITY_MEMORY_KIND_DEVICE] = cudaMemoryTypeDevice};
    memset(attributes, 0, sizeof *attributes);
    attributes->type = types[kind_of(pointer)];
    return cudaSuccess;
}

/* Waiting ----------------------------------------------------------------------------------------------------------- */

cudaError_t cudaFree(void *pointer) {
    if (inside) return NEXT(cudaFree)(pointer);
    Call call = begin();
    wait_until(all_free());
    cudaError_t error = NEXT(cudaFree)(pointer);
    end(call, CBID(cudaFree_v3020), error);
    return error;
}

cudaError_t cudaDeviceSynchronize(void) {
    if (inside) return NEXT(cudaDeviceSynchronize)();
    Call call = begin();
    wait_until(all_free());
    cudaError_t error = NEXT(cudaDeviceSynchronize)();
    waited(call, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, -1, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
    end(call, CBID(cudaDeviceSynchronize_v3020), error);
    return error;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    if (inside) return NEXT(cudaStreamSynchronize)(stream);
    Call call = begin();
    wait_until(stream_free[index_of(stream)]);
    cudaError_t error = NEXT(cudaStreamSynchronize)(stream);
    waited(call, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, index_of(stream), CUPTI_SYNCHRONIZATION_INVALID_VALUE);
    end(call, CBID(cudaStreamSynchronize_v3020), error);
    return error;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    Call call = begin();
    cudaError_t error = now() >= stream_free[index_of(stream)] ? cudaSuccess : cudaErrorNotReady;
    end(call, CBID(cudaStreamQuery_v3020), error);
    return error;
}

static int find_event(cudaEvent_t event) { /* its number in `events`, from 1 on */
    int i = 1;
    while (i <= event_count && events[i].event != event) ++i;
    if (i == EVENTS) abort();
    if (i > event_count) event_count = i, events[i].event = event;
    return i;
}

static void record_event(Call call, cudaEvent_t event, cudaStream_t stream) {
    pthread_mutex_lock(&lock);
    int i = find_event(event);
    events[i].stream = index_of(stream), events[i].time = later(call.start + LAUNCH, stream_free[events[i].stream]);
    if (enabled[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION]) enabled[CUPTI_ACTIVITY_KIND_CUDA_EVENT] = 1;
    CUpti_ActivityCudaEvent2 *record = &add(CUPTI_ACTIVITY_KIND_CUDA_EVENT)->event;
    record->eventId = i, record->streamId = number_of(events[i].stream), record->contextId = 1;
    record->correlationId = call.id, record->deviceTimestamp = events[i].time;
    pthread_mutex_unlock(&lock);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    if (inside) return NEXT(cudaEventRecordWithFlags)(event, stream, flags);
    Call call = begin();
    cudaError_t error = NEXT(cudaEventRecordWithFlags)(event, stream, flags);
    record_event(call, event, stream);
    end(call, CBID(cudaEventRecordWithFlags_v11010), error);
    return error;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    if (inside) return NEXT(cudaEventRecord)(event, stream);
    Call call = begin();
    cudaError_t error = NEXT(cudaEventRecord)(event, stream);
    record_event(call, event, stream);
    end(call, CBID(cudaEventRecord_v3020), error);
    return error;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    Call call = begin();
    pthread_mutex_lock(&lock);
    int i = find_event(event);
    stream_free[index_of(stream)] = later(stream_free[index_of(stream)], events[i].time);
    pthread_mutex_unlock(&lock);
    waited(call, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, index_of(stream), i);
    end(call, CBID(cudaStreamWaitEvent_v3020), cudaSuccess);
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    if (inside) return NEXT(cudaEventSynchronize)(event);
    Call call = begin();
    int i = find_event(event);
    wait_until(events[i].time);
    cudaError_t error = NEXT(cudaEventSynchronize)(event);
    waited(call, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, events[i].stream, i);
    end(call, CBID(cudaEventSynchronize_v3020), error);
    return error;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    Call call = begin();
    cudaError_t error = now() >= events[find_event(event)].time ? cudaSuccess : cudaErrorNotReady;
    end(call, CBID(cudaEventQuery_v3020), error);
    return error;
}

/* What Kineto calls -------------------------------------------------------------------------------------------------- */

static double rate; /* ticks of the client's clock in a nanosecond */

static void tick(uint64_t *time) { *time = first_tick + (int64_t)((double)(int64_t)(*time - first_ns) * rate); }

static void convert(Record *record) { /* its times, to the client's clock */
    if (!clock_of_client) return;
    switch (record->any.kind) {
        case CUPTI_ACTIVITY_KIND_RUNTIME: tick(&record->call.start), tick(&record->call.end); break;
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: tick(&record->kernel.start), tick(&record->kernel.end); break;
        case CUPTI_ACTIVITY_KIND_MEMCPY: tick(&record->copy.start), tick(&record->copy.end); break;
        case CUPTI_ACTIVITY_KIND_MEMSET: tick(&record->fill.start), tick(&record->fill.end); break;
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: tick(&record->wait.start), tick(&record->wait.end); break;
        case CUPTI_ACTIVITY_KIND_CUDA_EVENT: tick(&record->event.deviceTimestamp); break;
        default: break;
    }
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed) {
    request = requested, complete = completed;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function) {
    if (!clock_of_client) first_ns = now(), first_tick = function();
    clock_of_client = function;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
    enabled[kind] = 1;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
    enabled[kind] = 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag) {
    pthread_mutex_lock(&lock);
    if (clock_of_client) rate = (double)(clock_of_client() - first_tick) / (double)(now() - first_ns);
    for (int done = 0; done < record_count;) {
        size_t most = 0;
        if (!buffer) request(&buffer, &buffer_size, &most);
        if (!buffer) break; /* the client has enough */
        size_t fit = buffer_size / sizeof(Record), left = record_count - done, count = fit < left ? fit : left;
        for (size_t i = 0; i < count; ++i) convert(&records[done + i]);
        memcpy(buffer, &records[done], count * sizeof(Record));
        done += count;
        complete(NULL, 0, buffer, buffer_size, count * sizeof(Record));
        buffer = NULL;
    }
    record_count = 0;
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t bytes, CUpti_Activity **record) {
    Record *next = *record ? (Record *)*record + 1 : (Record *)buffer;
    if ((uint8_t *)(next + 1) > buffer + bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = &next->any;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id) {
    if (external[kind].depth == DEPTH) abort();
    external[kind].ids[external[kind].depth++] = id;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t *id) {
    if (!external[kind].depth) return CUPTI_ERROR_QUEUE_EMPTY;
    external[kind].depth--;
    if (id) *id = external[kind].ids[external[kind].depth];
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetVersion(uint32_t *version) {
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped) {
    *dropped = 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text) {
    *text = "the stand-in for CUPTI does not do this";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **name) {
    static const struct { uint32_t cbid; const char *name; } names[] = {
#define NAME(name) {CBID(name), #name}
        NAME(cudaMalloc_v3020), NAME(cudaStreamIsCapturing_v10000), NAME(cudaLaunchKernel_v7000), NAME(cudaLaunchKernelExC_v11060),
        NAME(cudaMemcpyAsync_v3020), NAME(cudaMemcpy_v3020), NAME(cudaMemsetAsync_v3020), NAME(cudaHostAlloc_v3020),
        NAME(cudaFree_v3020), NAME(cudaDeviceSynchronize_v3020), NAME(cudaStreamSynchronize_v3020), NAME(cudaStreamQuery_v3020),
        NAME(cudaEventRecordWithFlags_v11010), NAME(cudaEventRecord_v3020), NAME(cudaStreamWaitEvent_v3020),
        NAME(cudaEventSynchronize_v3020), NAME(cudaEventQuery_v3020),
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (names[i].cbid == cbid) {
            *name = names[i].name;
            return CUPTI_SUCCESS;
        }
    return CUPTI_ERROR_INVALID_PARAMETER;
}

/* Asked for, and not needed here. */
CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t *size, void *value) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t enable) { return CUPTI_SUCCESS; }
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *data) {
    *subscriber = (CUpti_SubscriberHandle)&enabled;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) { return CUPTI_SUCCESS; }
CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain, CUpti_CallbackId cbid) { return CUPTI_SUCCESS; }
CUptiResult cuptiEnableDomain(uint32_t on, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain) { return CUPTI_SUCCESS; }
CUptiResult cuptiFinalize(void) { return CUPTI_SUCCESS; }
