/* A tool for NVTX, as Nsight is one: put into a process by NVTX_INJECTION64_PATH, it writes the
 * ranges of all threads to standard error when the process ends, as "a(b())c()". */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nvtx3/nvToolsExt.h>

/* Their names are not ours. NOLINTBEGIN(readability-identifier-naming) */
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);
/* NOLINTEND(readability-identifier-naming) */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char ranges[1 << 16];

static void add(const char* name, const char* bracket) {
  (void)pthread_mutex_lock(&lock);
  const size_t used = strlen(ranges);
  if (used + strlen(name) + strlen(bracket) < sizeof(ranges)) {
    (void)snprintf(ranges + used, sizeof(ranges) - used, "%s%s", name, bracket);
  }
  (void)pthread_mutex_unlock(&lock);
}

static nvtxDomainHandle_t create_domain(const char* name) {
  return strcmp(name, "Tenon") == 0 ? (nvtxDomainHandle_t)&lock : NULL;
}
static int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  (void)domain;
  add(attributes->messageType == NVTX_MESSAGE_TYPE_ASCII ? attributes->message.ascii : "?", "(");
  return 0;
}
static int pop(nvtxDomainHandle_t domain) {
  (void)domain;
  add("", ")");
  return 0;
}

static void tell(void) {
  (void)fprintf(stderr, "ranges: %s\n", ranges);
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const NvtxExportTableCallbacks* callbacks = get_table(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable functions = NULL;
  unsigned size = 0;
  if (callbacks == NULL ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &functions, &size) == 0) {
    return 0;
  }
  *functions[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create_domain;
  *functions[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)push;
  *functions[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)pop;
  return atexit(tell) == 0;
}
