/*
 * Epilogues of integer products: a slot's program on the sums of a block while they are in the
 * cache, for example a scale, rounding and a cast to 8 bits. Programs of all types are accepted
 * (rows.h). Parts of scratch and zero points that kernels of integer products share are here too.
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

/* Sets the rules of the slot's operands, which follow the operator's inputs: any layout. */
void tenon__cpu_integer_operand_rules(tenon__cpu_region_t region, tenon_argument_rule_t* out_rules);
/* Returns true if b is packed when the plan is built. Its data may be missing when the plan is
 * loaded, so the tactic records it: its configuration is one byte. */
bool tenon__cpu_integer_packs_once(const tenon_tactic_t* tactic);

/* The common part of an instance. */
typedef struct tenon__cpu_integer_kernel_t {
  const tenon__cpu_isa_t* isa;
  /* Which of the region's inputs; TENON_NONE if absent. */
  uint32_t inputs[TENON_CPU_INTEGER_INPUTS];
  tenon__cpu_program_t* program; /* NULL: the slot is empty */
  /* Of the tactic. If extents need more, bind allocates instead. */
  uint64_t shared_bytes;
  uint64_t thread_bytes;
  const void* packed; /* a constant b; NULL: b is packed in each run */
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

/* Bytes of scratch of one thread, a multiple of 64. `program` may be NULL. */
size_t tenon__cpu_integer_thread_bytes(const tenon__cpu_integers_t* integers,
                                       const tenon_program_t* program, size_t depth);

/* The extents of a call. */
typedef struct tenon__cpu_integer_request_t {
  const tenon__cpu_integer_kernel_t* kernel;
  tenon__cpu_row_shape_t shape; /* c_stride: elements between rows of y */
  size_t depth;
  size_t strip_columns; /* of one product */
  size_t columns;       /* of all products, with a zero point each */
  size_t rows;          /* with zero points of their own; 1: all rows have the same */
  size_t packed_bytes;  /* of all matrices of b */
} tenon__cpu_integer_request_t;

/* The common part of a bound kernel. A run writes zero points. */
typedef struct tenon__cpu_integer_bound_t {
  const tenon__cpu_integer_kernel_t* kernel;
  tenon__cpu_rows_t* rows; /* of the program */
  void* shared;            /* packed b; NULL: in the tactic's scratch */
  char* threads;           /* NULL: the tactic's scratch */
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
  void* packed; /* room for b if it is packed in each run */
  char* threads;
  char* y;
  size_t y_bytes; /* of an element */
  bool has_b_zeros;
} tenon__cpu_integer_call_t;
void tenon__cpu_integer_start(const tenon_enqueue_t* call, const tenon__cpu_integer_bound_t* bound,
                              tenon__cpu_integer_call_t* out_call);

/* A product that is a part of y: its first row and column. */
typedef struct tenon__cpu_integer_part_t {
  size_t row;
  size_t column;
  const tenon__cpu_integer_call_t* call; /* these are set by the function below */
  char* buffers;
} tenon__cpu_integer_part_t;
/* Sets the table, the zero points and the output of a product. Returns the thread's scratch. */
char* tenon__cpu_integer_part(const tenon__cpu_integer_call_t* call, uint32_t thread,
                              tenon__cpu_integer_part_t* inout_part,
                              tenon__cpu_integer_product_t* inout_product);

#endif
