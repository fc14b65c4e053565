/* The same plugin twice: name, version and kernel's version say nothing of what was changed in it.
 */
#include "stranger.h"

TENON_PLUGIN_MANIFEST("rebuilt", "1.0.0",
                      "offers: operator rebuilt.copy/1\n"
                      "offers: kernel copy rebuilt.copy/1 cpu\n");

static tenon_status_t run(const tenon_enqueue_t* call) {
  for (int64_t k = 0; k < stranger_count(&call->inputs[0].tensor); ++k) {
    ((float*)call->outputs[0].tensor.data)[k] =
        ((const float*)call->inputs[0].tensor.data)[k] * REBUILT;
  }
  return TENON_OK;
}

static const tenon_operator_t operators[] = {STRANGER_UNARY("rebuilt.copy/1")};
static const char* const computes[] = {"rebuilt.copy/1", NULL};
static const tenon_kernel_t kernels[] = {{.size = sizeof(tenon_kernel_t),
                                          .name = "copy",
                                          .device = "cpu",
                                          .operators = computes,
                                          .version = 1,
                                          .enqueue = run}};
static const tenon_offering_t* const offerings[] = {TENON_OFFERING("operator/1", operators),
                                                    TENON_OFFERING("kernel/1", kernels)};
STRANGER_QUERY("rebuilt")
