/* A stand-in for NVIDIA's management library, as far as PyTorch's allocator asks it: no fabric, and one process, this one. */

#include <stddef.h>
#include <unistd.h>

typedef struct { unsigned pid; unsigned long long used; } Process; /* nvmlProcessInfo_v1_t */
enum { SUCCESS = 0, NOT_SUPPORTED = 3, TOO_SMALL = 7 };

size_t stand_in_used(void);

int nvmlInit_v2(void) { return SUCCESS; }

int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **device) {
    *device = "the device";
    return SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count, Process *processes) {
    if (*count < 1) return TOO_SMALL;
    *count = 1, processes[0].pid = getpid(), processes[0].used = stand_in_used();
    return SUCCESS;
}

int nvmlSystemGetCudaDriverVersion_v2(int *version) {
    *version = 13000;
    return SUCCESS;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void) { return NOT_SUPPORTED; }

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void) { return NOT_SUPPORTED; }
