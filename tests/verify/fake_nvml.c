/* The part of NVIDIA's management library that d9mlint asks, with answers out of the environment. */
#include <stdio.h>
#include <stdlib.h>

static unsigned told(const char *name) {
    const char *text = getenv(name);
    return text ? (unsigned)atoi(text) : 0;
}

int nvmlInit_v2(void) { return (int)told("FAKE_FAILS"); }
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int code) { return code == 18 ? "Driver/library version mismatch" : "error"; }
int nvmlSystemGetDriverVersion(char *text, unsigned size) { return snprintf(text, size, "999.1") < 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { return *count = told("FAKE_GPUS"), 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned number, void **handle) { return *handle = (void *)(size_t)(number + 1), 0; }
int nvmlDeviceGetName(void *handle, char *text, unsigned size) {
    return snprintf(text, size, "Fake %u", (unsigned)(size_t)handle - 1) < 0;
}
int nvmlDeviceGetComputeMode(void *handle, unsigned *mode) { return *mode = told("FAKE_MODE"), 0; }
int nvmlDeviceGetMigMode(void *handle, unsigned *current, unsigned *pending) {
    return *current = *pending = told("FAKE_MIG"), 0;
}
