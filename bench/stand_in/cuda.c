/* A stand-in for one CUDA device: it has memory, streams and events, and computes nothing.

PyTorch's caching allocator asks the device for little: the CUDA runtime for memory (cudaMalloc, cudaFree), streams and events,
and the driver for pages that it maps into a reserved range (cuMemCreate, cuMemMap). This file answers these questions. With
LD_PRELOAD it comes before the CUDA runtime, so the allocator of a CUDA build of PyTorch runs without a GPU. No kernel can run.

- Addresses only count: nothing is behind them. A new range begins above all ranges before it, and no address is used twice.
- Work on a stream is never done before `stand_in_finish` or a call that synchronises: an event is asked, and says "not ready".
- Memory is used up at the total that `stand_in_begin` sets, and then cudaMalloc and cuMemCreate fail as on a full device.

`record.py` compiles and uses it. */

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS = 4096, EVENTS = 1 << 16, RANGES = 1 << 16, PAGES = 1 << 18 };
static const size_t GRANULARITY = 2u << 20;     /* of the addresses, and of pages */

typedef struct { uintptr_t base; size_t size; int used; } Range; /* of cudaMalloc or of cuMemAddressReserve */
typedef struct { int stream; long position; } Event;

static size_t total = (size_t)1 << 30, used;
static Range ranges[RANGES];
static int range_count;
static uintptr_t next_address = (uintptr_t)1 << 40;
static long issued[STREAMS], finished[STREAMS]; /* how many events were recorded on a stream, and how many have happened */
static int stream_count = 1;                    /* stream 0 is the default stream */
static Event events[EVENTS];
static int event_count;
static size_t pages[PAGES];
static int page_count;
static long calls[4];                           /* cudaMalloc and cudaFree that succeeded, cuMemMap, cuMemUnmap */
static cudaError_t last_error = cudaSuccess;

static cudaError_t say(cudaError_t error) {
    if (error != cudaSuccess) last_error = error;
    return error;
}

static void limit(int count, int most, const char *what) {
    if (count >= most) {
        fprintf(stderr, "the stand-in has no more room for %s\n", what);
        abort();
    }
}

static int index_of(cudaStream_t stream) { /* streams 1 and 2 of the CUDA runtime are the legacy and per-thread default */
    uintptr_t handle = (uintptr_t)stream;
    return handle < 256 ? 0 : (int)(handle >> 8);
}

/* What the recorder asks ------------------------------------------------------------------------------------------- */

void stand_in_begin(size_t bytes) { total = bytes; }

size_t stand_in_used(void) { return used; }

long stand_in_calls(int which) { return calls[which]; }

void stand_in_finish(int stream) { finished[stream] = issued[stream]; }

/* The number of the range that holds an address, in the order in which ranges were made, and the offset in it. */
int stand_in_locate(uintptr_t address, size_t *offset) {
    for (int i = range_count - 1; i >= 0; --i)
        if (address >= ranges[i].base && address < ranges[i].base + ranges[i].size) {
            *offset = address - ranges[i].base;
            return i;
        }
    return -1;
}

/* Memory ----------------------------------------------------------------------------------------------------------- */

static uintptr_t new_range(size_t bytes) {
    limit(range_count, RANGES, "ranges");
    size_t size = (bytes + GRANULARITY - 1) / GRANULARITY * GRANULARITY;
    Range range = {next_address, size, 1};
    ranges[range_count++] = range;
    next_address += size + GRANULARITY; /* a gap, so that no two ranges touch */
    return range.base;
}

static void finish_all(void) {
    for (int i = 0; i < stream_count; ++i) stand_in_finish(i);
}

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
    if (used + bytes > total) return say(cudaErrorMemoryAllocation);
    used += bytes, calls[0]++;
    *pointer = (void *)new_range(bytes);
    ranges[range_count - 1].size = bytes;
    return cudaSuccess;
}

cudaError_t cudaFree(void *pointer) { /* synchronises, as the real one does */
    finish_all();
    for (int i = 0; pointer && i < range_count; ++i)
        if (ranges[i].base == (uintptr_t)pointer && ranges[i].used) {
            ranges[i].used = 0, used -= ranges[i].size, calls[1]++;
            return cudaSuccess;
        }
    return pointer ? say(cudaErrorInvalidValue) : cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    *free_bytes = total - used, *total_bytes = total;
    return cudaSuccess;
}

static CUresult address_reserve(CUdeviceptr *pointer, size_t bytes, size_t align, CUdeviceptr at, unsigned long long flags) {
    *pointer = new_range(bytes);
    return CUDA_SUCCESS;
}

static CUresult address_free(CUdeviceptr pointer, size_t bytes) { return CUDA_SUCCESS; }

static CUresult create(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop, unsigned long long flags) {
    if (used + bytes > total) return CUDA_ERROR_OUT_OF_MEMORY;
    limit(page_count, PAGES, "pages");
    used += bytes;
    pages[page_count] = bytes;
    *handle = (CUmemGenericAllocationHandle)++page_count;
    return CUDA_SUCCESS;
}

static CUresult release(CUmemGenericAllocationHandle handle) {
    used -= pages[handle - 1];
    pages[handle - 1] = 0;
    return CUDA_SUCCESS;
}

static CUresult map(CUdeviceptr p, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags) {
    calls[2]++;
    return CUDA_SUCCESS;
}

static CUresult unmap(CUdeviceptr pointer, size_t bytes) {
    calls[3]++;
    return CUDA_SUCCESS;
}

static CUresult set_access(CUdeviceptr pointer, size_t bytes, const CUmemAccessDesc *desc, size_t count) { return CUDA_SUCCESS; }

static CUresult granularity(size_t *bytes, const CUmemAllocationProp *prop, CUmemAllocationGranularity_flags option) {
    *bytes = GRANULARITY;
    return CUDA_SUCCESS;
}

/* Streams and events ----------------------------------------------------------------------------------------------- */

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
    limit(stream_count, STREAMS, "streams");
    *stream = (cudaStream_t)((uintptr_t)stream_count++ << 8);
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }

cudaError_t cudaStreamDestroy(cudaStream_t stream) { return cudaSuccess; }

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    int i = index_of(stream);
    return finished[i] == issued[i] ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    stand_in_finish(index_of(stream));
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) { return cudaSuccess; }

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
                                     size_t *count) {
    *status = cudaStreamCaptureStatusNone;
    if (id) *id = 0;
    if (count) *count = 0;
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) { return cudaSuccess; }

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    *least = 0, *greatest = -5;
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    limit(event_count, EVENTS, "events");
    *event = (cudaEvent_t)&events[event_count++];
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }

cudaError_t cudaEventDestroy(cudaEvent_t event) { return cudaSuccess; }

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    Event *of = (Event *)event;
    of->stream = index_of(stream);
    of->position = ++issued[of->stream];
    return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    return cudaEventRecord(event, stream);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    Event *of = (Event *)event;
    return of->position <= finished[of->stream] ? cudaSuccess : say(cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    Event *of = (Event *)event;
    if (finished[of->stream] < of->position) finished[of->stream] = of->position;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void) {
    finish_all();
    return cudaSuccess;
}

/* Copies: none is done (for kernels see kernels.c) ------------------------------------------------------------------- */

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
    if (kind == cudaMemcpyDeviceToHost) memset(to, 0, bytes); /* there is nothing to copy */
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    return cudaMemcpyAsync(to, from, bytes, kind, 0);
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream) { return cudaSuccess; }

/* The device ------------------------------------------------------------------------------------------------------- */

/* As CUDA does, this reads the variable once, when a process first asks. */
cudaError_t cudaGetDeviceCount(int *count) {
    static int visible = -1;
    if (visible < 0) {
        const char *listed = getenv("CUDA_VISIBLE_DEVICES");
        visible = listed == NULL || listed[0] == '0';
    }
    *count = visible;
    return visible ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t cudaGetDevice(int *device) {
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : say(cudaErrorInvalidDevice); }

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    *can = 0;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device) { /* the figures of a device of capability 9.0 */
    memset(prop, 0, sizeof *prop);
    strcpy(prop->name, "stand-in for a CUDA device");
    prop->totalGlobalMem = total;
    prop->major = 9, prop->minor = 0;
    prop->multiProcessorCount = 132;
    prop->warpSize = 32;
    prop->maxThreadsPerBlock = 1024, prop->maxThreadsPerMultiProcessor = 2048;
    prop->maxThreadsDim[0] = prop->maxThreadsDim[1] = 1024, prop->maxThreadsDim[2] = 64;
    prop->maxGridSize[0] = 2147483647, prop->maxGridSize[1] = prop->maxGridSize[2] = 65535;
    prop->maxBlocksPerMultiProcessor = 32;
    prop->regsPerBlock = prop->regsPerMultiprocessor = 65536;
    prop->sharedMemPerBlock = 48 << 10, prop->sharedMemPerBlockOptin = 227 << 10, prop->sharedMemPerMultiprocessor = 228 << 10;
    prop->l2CacheSize = 50 << 20;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    struct cudaDeviceProp prop;
    cudaGetDeviceProperties(&prop, device);
    *value = attribute == cudaDevAttrComputeCapabilityMajor     ? prop.major
             : attribute == cudaDevAttrComputeCapabilityMinor   ? prop.minor
             : attribute == cudaDevAttrMultiProcessorCount      ? prop.multiProcessorCount
             : attribute == cudaDevAttrWarpSize                 ? prop.warpSize
             : attribute == cudaDevAttrMaxThreadsPerBlock       ? prop.maxThreadsPerBlock
                                                                : 0;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void) {
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void) { return last_error; }

/* The driver -------------------------------------------------------------------------------------------------------- */

CUresult cuGetErrorString(CUresult error, const char **text) {
    *text = error == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : "the stand-in does not do this";
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    return (CUresult)cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    *flags = 0, *active = 1;
    return CUDA_SUCCESS;
}

/* What PyTorch's libraries are linked with, and the allocator never calls. */
#define REFUSE(name)                              \
    CUresult refused_##name(void) __asm__(#name); \
    CUresult refused_##name(void) { return CUDA_ERROR_NOT_SUPPORTED; }
REFUSE(cuCtxGetCurrent) REFUSE(cuCtxSetCurrent) REFUSE(cuDevicePrimaryCtxRetain) REFUSE(cuFuncGetAttribute)
REFUSE(cuFuncSetAttribute) REFUSE(cuFuncSetCacheConfig) REFUSE(cuLaunchCooperativeKernel) REFUSE(cuLaunchKernel)
REFUSE(cuLinkAddData_v2) REFUSE(cuLinkComplete) REFUSE(cuLinkCreate_v2) REFUSE(cuModuleGetFunction) REFUSE(cuModuleLoad)
REFUSE(cuModuleLoadData) REFUSE(cuModuleLoadDataEx) REFUSE(cuModuleUnload)
REFUSE(cuOccupancyMaxActiveBlocksPerMultiprocessor) REFUSE(cuPointerGetAttribute) REFUSE(cuTensorMapEncodeTiled)
static CUresult refused(void) { return CUDA_ERROR_NOT_SUPPORTED; }

/* The runtime's way to the driver's functions, which PyTorch's allocator takes. */
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *status) {
    static const struct { const char *name; void *function; } known[] = {
        {"cuMemAddressReserve", address_reserve}, {"cuMemAddressFree", address_free}, {"cuMemCreate", create},
        {"cuMemRelease", release}, {"cuMemMap", map}, {"cuMemUnmap", unmap}, {"cuMemSetAccess", set_access},
        {"cuMemGetAllocationGranularity", granularity}, {"cuGetErrorString", cuGetErrorString},
        {"cuDeviceGetAttribute", cuDeviceGetAttribute}, {"cuDevicePrimaryCtxGetState", cuDevicePrimaryCtxGetState},
    };
    *function = refused;
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (!strcmp(symbol, known[i].name)) *function = known[i].function;
    if (getenv("STAND_IN_LOG")) fprintf(stderr, "driver: %s%s\n", symbol, *function == refused ? " (not supported)" : "");
    if (status) *status = cudaDriverEntryPointSuccess;
    return cudaSuccess;
}
