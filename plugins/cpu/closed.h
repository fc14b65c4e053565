/*
 * What kernels of closed operators on dense tensors share: a descriptor with one tactic, the place of
 * each port among the arguments, division of work, errors in data. Such a kernel has a function that
 * matches, one that copies attributes, and one that runs; its arguments are row-major.
 */
#ifndef TENON_CPU_CLOSED_H_
#define TENON_CPU_CLOSED_H_

#include <math.h>
#include <string.h>

#include "kernels.h"

enum { TENON_CPU_CLOSED_PORTS = 8 };

/* The first member of an instance. */
typedef struct tenon__cpu_closed_t {
  const tenon__cpu_isa_t* isa;
  uint32_t inputs[TENON_CPU_CLOSED_PORTS]; /* of each port: which argument; TENON_NONE: absent */
  tenon_dtype_t dtype;                     /* of input 0 */
} tenon__cpu_closed_t;

/* Zeros but for its first member; NULL when memory is out. */
void* tenon__cpu_closed_create(const tenon_prepare_t* call, size_t size_bytes);

/* The tensor of a port; NULL when it is absent, or an output that nobody reads. */
const tenon_tensor_view_t* tenon__cpu_closed_input(const tenon_enqueue_t* call, uint32_t port);
const tenon_tensor_view_t* tenon__cpu_closed_output(const tenon_enqueue_t* call, uint32_t index);
/* An integer of a tensor of i32 or i64, `otherwise` when that is absent or empty. */
int64_t tenon__cpu_closed_integer(const tenon_tensor_view_t* view, int64_t otherwise);

/* Makes output `index`, whose extents the run finds; dense. *out_data is NULL when nobody reads it. */
tenon_status_t tenon__cpu_closed_allocate(const tenon_enqueue_t* call, uint32_t index,
                                          uint32_t rank, const int64_t* dims, void** out_data);

/* INVALID_DATA, with a message of printf's kind. */
tenon_status_t tenon__cpu_closed_fail(const tenon_enqueue_t* call, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

/* For a kernel that numbers `count` things by 32 bits: returns UNSUPPORTED, with a message, if they
 * are too many. The message names the things: "elements of a plane", say. */
tenon_status_t tenon__cpu_closed_check_count(const tenon_enqueue_t* call, int64_t count,
                                             const char* things);
tenon_status_t tenon__cpu_closed_check_bound(tenon_binding_t* binding,
                                             const tenon_bind_table_t* host, int64_t count,
                                             const char* things);

/* Product of dims[begin, end). */
int64_t tenon__cpu_closed_count(const tenon_tensor_view_t* view, uint32_t begin, uint32_t end);

/* Divides [0, count) among threads, in parts of at least some ten microseconds if each item takes so
 * many nanoseconds. `thread` is below the run's thread count. */
typedef void (*tenon__cpu_range_t)(void* user, int64_t begin, int64_t end, uint32_t thread);
void tenon__cpu_closed_divide(const tenon_enqueue_t* call, int64_t count, double item_ns,
                              tenon__cpu_range_t body, void* user);

/* One tactic, "dense". */
tenon_status_t tenon__cpu_closed_tactics(void* state, const tenon_region_t* region,
                                         const tenon_region_table_t* table, tenon_emit_t* emit,
                                         tenon_status_t (*add)(tenon_emit_t*,
                                                               const tenon_tactic_t*));
/* Takes f32 alone, for match. */
int32_t tenon__cpu_closed_match_f32(void* state, const tenon_region_t* region,
                                    const tenon_region_table_t* table,
                                    tenon_refusal_t* out_refusal);

/* tenon__cpu_ID_kernel, from functions that the file has. */
#define TENON_CPU_CLOSED(id, text, operator_list, attribute_list, match_function,        \
                         prepare_function, bind_function, enqueue_function)              \
  const tenon_kernel_t tenon__cpu_##id##_kernel = {.size = sizeof(tenon_kernel_t),       \
                                                   .name = (text),                       \
                                                   .device = "cpu",                      \
                                                   .operators = (operator_list),         \
                                                   .attributes = (attribute_list),       \
                                                   .version = 1,                         \
                                                   .match = (match_function),            \
                                                   .tactics = tenon__cpu_closed_tactics, \
                                                   .prepare = (prepare_function),        \
                                                   .bind = (bind_function),              \
                                                   .enqueue = (enqueue_function)}

#endif
