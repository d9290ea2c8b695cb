/* The stand-in's kernels: none runs. A launch is written down, with the name under which PyTorch's libraries registered the kernel.

The compiler of CUDA puts `__cudaRegisterFunction` into each library, so that every kernel is registered when the library loads. */

#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { const void *key; const char *name; } Kernel;
typedef struct { const char *name; dim3 grid, block; size_t shared; int stream; } Launch;

enum { KERNELS = 1 << 19, LAUNCHES = 1 << 16 };
static Kernel kernels[KERNELS]; /* a hash table */
static Launch launches[LAUNCHES];
static int launch_count;

static Kernel *find(const void *key) {
    size_t i = ((uintptr_t)key >> 4) * 2654435761u % KERNELS;
    while (kernels[i].key && kernels[i].key != key) i = (i + 1) % KERNELS;
    return &kernels[i];
}

void __cudaRegisterFunction(void **module, const char *key, char *device_name, const char *name, int threads, void *thread,
                            void *block, void *block_dim, void *grid_dim, int *size) {
    Kernel *kernel = find(key);
    kernel->key = key, kernel->name = name;
}

cudaError_t cudaLaunchKernel(const void *key, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream) {
    if (launch_count == LAUNCHES) abort();
    Launch launch = {find(key)->name, grid, block, shared, (int)((uintptr_t)stream >> 8)};
    launches[launch_count++] = launch;
    return cudaSuccess;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *configuration, const void *key, void **arguments) {
    return cudaLaunchKernel(key, configuration->gridDim, configuration->blockDim, arguments, configuration->dynamicSmemBytes,
                            configuration->stream);
}

/* What CUDA 13 compiles `kernel<<<grid, block>>>(...)` to: the handle of a kernel is its key here. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *key) {
    *kernel = (cudaKernel_t)key;
    return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t key, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream) {
    return cudaLaunchKernel((const void *)key, grid, block, arguments, shared, stream);
}

/* What a library asks about a kernel before it chooses a grid. */
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *key) {
    memset(attributes, 0, sizeof *attributes);
    attributes->maxThreadsPerBlock = 1024, attributes->ptxVersion = attributes->binaryVersion = 90;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *key, int threads, size_t shared,
                                                                   unsigned flags) {
    *blocks = 2048 / threads; /* as many as fit */
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *key, int threads, size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, key, threads, shared, 0);
}

int stand_in_launches(void) { return launch_count; }

/* The name of a launch's kernel, as the compiler mangled it, and seven numbers: grid, block, shared memory in bytes. */
const char *stand_in_launch(int i, long *numbers) {
    const Launch *of = &launches[i];
    numbers[0] = of->grid.x, numbers[1] = of->grid.y, numbers[2] = of->grid.z;
    numbers[3] = of->block.x, numbers[4] = of->block.y, numbers[5] = of->block.z;
    numbers[6] = (long)of->shared;
    return of->name ? of->name : "?";
}
