/*
 * The oracle: every closed operator, expressions and moves in plain C on the device "cpu". Never
 * fast, always right: the host chooses it when nothing else accepts, or on demand.
 */
#include <string.h>

#include "interpreter.h"
#include "kernels.h"

TENON_PLUGIN_MANIFEST("reference", "0.2.0",
                      "licence: Apache-2.0\n"
                      "offers: kernel *\n");

#define ROW(name, scratch, row_flags, names) \
  {.op = "standard." #name "/1",             \
   .attributes = (names),                    \
   .compute = tenon__compute_##name,         \
   .scratch_count = (scratch),               \
   .flags = (row_flags)},
static const tenon__kernel_row_t rows[] = {TENON__KERNELS(ROW)};

const tenon__kernel_row_t* tenon__kernel_find(const char* op) {
  if (op != NULL) {
    for (uint32_t index = 0; index < sizeof(rows) / sizeof(rows[0]); ++index) {
      if (strcmp(rows[index].op, op) == 0) {
        return &rows[index];
      }
    }
  }
  return NULL;
}

#define KERNEL(kernel_name, scratch, row_flags, names) \
  {.size = sizeof(tenon_kernel_t),                     \
   .name = #kernel_name,                               \
   .device = "cpu",                                    \
   .operators = LIST("standard." #kernel_name "/1"),   \
   .attributes = (names),                              \
   .version = 1,                                       \
   .flags = TENON_KERNEL_REFERENCE,                    \
   .match = tenon__work_match,                         \
   .tactics = tenon__work_tactics,                     \
   .prepare = tenon__work_prepare,                     \
   .bind = tenon__work_bind,                           \
   .enqueue = tenon__work_enqueue},
static const tenon_kernel_t kernels[] = {
    TENON__KERNELS(KERNEL){.size = sizeof(tenon_kernel_t),
                           .name = "expressions",
                           .device = "cpu",
                           .version = 1,
                           .flags = TENON_KERNEL_EXPRESSIONS | TENON_KERNEL_REFERENCE,
                           .tactics = tenon__interpreter_tactics,
                           .prepare = tenon__expressions_prepare,
                           .bind = tenon__expressions_bind,
                           .enqueue = tenon__expressions_enqueue},
    {.size = sizeof(tenon_kernel_t),
     .name = "moves",
     .device = "cpu",
     .version = 1,
     .flags = TENON_KERNEL_MOVES | TENON_KERNEL_REFERENCE,
     .tactics = tenon__interpreter_tactics,
     .prepare = tenon__moves_prepare,
     .bind = tenon__moves_bind,
     .enqueue = tenon__moves_enqueue},
};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("kernel/1", kernels)};

static const tenon_plugin_t plugin = {
    TENON_PLUGIN_HEADER,
    .name = "reference",
    .version = "0.2.0",
    .offerings = TENON_LIST(offerings),
};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  return host != NULL && host->abi_major == TENON_ABI_MAJOR ? &plugin : NULL;
}
