/*
 * The common parts of the kernels of integer products: matching, packed constants, scratch, zero
 * points and epilogues. An epilogue evaluates a slot's program on the sums of a block while they are
 * in the cache, for example a scale, rounding and a cast to 8 bits. It accepts programs of all types
 * (rows.h).
 */
#ifndef TENON_CPU_INTEGER_EPILOGUE_H_
#define TENON_CPU_INTEGER_EPILOGUE_H_

#include "kernels.h"
#include "rows.h"

/* Inputs of mat_mul_integer and convolution_integer. */
enum {
  TENON_CPU_INTEGER_A,
  TENON_CPU_INTEGER_B,
  TENON_CPU_INTEGER_A_ZERO,
  TENON_CPU_INTEGER_B_ZERO,
  TENON_CPU_INTEGER_INPUTS
};

/* Checks that both operands have 8 bits, that the program is accepted and that there are not too
 * many inputs. */
bool tenon__cpu_integer_accepts(const tenon__cpu_isa_t* isa, tenon__cpu_region_t region,
                                tenon_refusal_t* out_refusal);

/* Accepts any layout for the slot's operands, which follow the operator's inputs. */
void tenon__cpu_integer_operand_rules(tenon__cpu_region_t region, tenon_argument_rule_t* out_rules);
/* Returns true if b is packed when the plan is built. The tactic's configuration, one byte, records
 * this, because the data may be missing when the plan is loaded. */
bool tenon__cpu_integer_packs_once(const tenon_tactic_t* tactic);

/* The common part of an instance. */
typedef struct tenon__cpu_integer_kernel_t {
  const tenon__cpu_isa_t* isa;
  /* Indices of the region's inputs. TENON_NONE if absent. */
  uint32_t inputs[TENON_CPU_INTEGER_INPUTS];
  tenon__cpu_program_t* program; /* NULL if the slot is empty */
  /* The scratch that the tactic declared. If the extents need more, bind allocates memory instead. */
  uint64_t shared_bytes;
  uint64_t thread_bytes;
  const void* packed; /* a constant b. NULL if b is packed in each run */
} tenon__cpu_integer_kernel_t;

tenon_status_t tenon__cpu_integer_prepare(const tenon_prepare_t* call,
                                          tenon__cpu_integer_kernel_t* out_kernel);
/* The packing of a constant b. Equal weights with an equal format and parameters share packed bytes,
 * so the parameters must contain everything else that the bytes depend on. */
typedef struct tenon__cpu_integer_packing_t {
  const char* format;
  const char* parameters;
  size_t bytes;
} tenon__cpu_integer_packing_t;
/* Sets `packed`. *out_data is the memory to fill, or NULL if it is packed already. */
tenon_status_t tenon__cpu_integer_request(const tenon_prepare_t* call,
                                          const tenon__cpu_integer_packing_t* packing,
                                          tenon__cpu_integer_kernel_t* inout_kernel,
                                          void** out_data);

/* `count` matrices of a constant. Matrix m begins at byte m * stride and has `bytes` packed bytes. */
typedef struct tenon__cpu_integer_constant_t {
  tenon__cpu_integer_source_t source; /* without data */
  size_t count;
  size_t stride;
  size_t bytes;
} tenon__cpu_integer_constant_t;
/* Packs a constant b for products. */
tenon_status_t tenon__cpu_integer_pack_constant(const tenon_prepare_t* call,
                                                const tenon__cpu_integer_constant_t* constant,
                                                tenon__cpu_integer_kernel_t* inout_kernel);

/* Returns the bytes of scratch of one thread, a multiple of 64. `program` may be NULL. */
size_t tenon__cpu_integer_thread_bytes(const tenon__cpu_integers_t* integers,
                                       const tenon_program_t* program, size_t depth);

/* The extents of a call. */
typedef struct tenon__cpu_integer_request_t {
  const tenon__cpu_integer_kernel_t* kernel;
  tenon__cpu_row_shape_t shape; /* c_stride: elements between rows of y */
  size_t depth;
  size_t strip_columns; /* of one product */
  size_t columns;       /* of all products */
  size_t rows;          /* number of zero points of a. 1 if all rows have the same */
  size_t packed_bytes;  /* of all matrices of b */
} tenon__cpu_integer_request_t;

/* The common part of a bound kernel. Each run writes the zero points. */
typedef struct tenon__cpu_integer_bound_t {
  const tenon__cpu_integer_kernel_t* kernel;
  tenon__cpu_rows_t* rows; /* of the program */
  void* shared;            /* memory for packed b. NULL: the tactic's scratch */
  char* threads;           /* memory of threads. NULL: the tactic's scratch */
  size_t thread_bytes;
  size_t product_bytes; /* of a thread, before the buffers of the program */
  int32_t* a_zeros;     /* [a_zero_count] */
  size_t a_zero_count;
  int32_t* b_zeros; /* [columns] */
  size_t columns;
  size_t y_stride;
} tenon__cpu_integer_bound_t;
/* The only error is OUT_OF_MEMORY. */
tenon_status_t tenon__cpu_integer_bind(const tenon__cpu_integer_request_t* request,
                                       tenon_binding_t* binding, const tenon_bind_table_t* host,
                                       tenon__cpu_integer_bound_t* out_bound);

/* One run: its memory and encoded zero points. */
typedef struct tenon__cpu_integer_call_t {
  const tenon__cpu_integer_bound_t* bound;
  const tenon_argument_t* inputs;
  void* packed; /* memory for b if it is packed in each run */
  char* threads;
  char* y;
  size_t y_bytes; /* of an element */
  bool has_b_zeros;
} tenon__cpu_integer_call_t;
void tenon__cpu_integer_start(const tenon_enqueue_t* call, const tenon__cpu_integer_bound_t* bound,
                              tenon__cpu_integer_call_t* out_call);

/* A product that is a part of y. tenon__cpu_integer_part sets `call` and `buffers`. */
typedef struct tenon__cpu_integer_part_t {
  size_t row;    /* its first row in y */
  size_t column; /* its first column in y */
  const tenon__cpu_integer_call_t* call;
  char* buffers;
} tenon__cpu_integer_part_t;
/* Sets the functions, zero points and output of a product. Returns the thread's scratch. */
char* tenon__cpu_integer_part(const tenon__cpu_integer_call_t* call, uint32_t thread,
                              tenon__cpu_integer_part_t* inout_part,
                              tenon__cpu_integer_product_t* inout_product);

#endif
