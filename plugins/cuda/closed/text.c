/* The text of a node's kernels: what all families share, definitions, the family's own. */
#include "../text.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "../analysis.h"
#include "../texts.h"
#include "closed.h"

#define ADD tenon__cuda_text_add

/* `name`: IN or OUT; HAS_IN2, IN2_RANK, IN2_f16, IN2_CLASS_f. */
static void write_facts(const tenon__closed_shape_t* shape, const char* name, uint32_t k,
                        tenon__cuda_text_t* text) {
  ADD(text, "#define HAS_%s%u %d\n#define %s%u_RANK %u\n", name, k, shape->present ? 1 : 0, name, k,
      shape->rank);
  if (shape->present) {
    ADD(text, "#define %s%u_%s 1\n#define %s%u_CLASS_%c 1\n#define %s%u_BITS %u\n", name, k,
        tenon__cuda_mnemonic(shape->dtype), name, k, tenon__cuda_class(shape->dtype), name, k,
        tenon__cuda_bits(shape->dtype));
  }
}

static void write_input(const tenon__closed_shape_t* shape, uint32_t k, tenon__cuda_text_t* text) {
  write_facts(shape, "IN", k, text);
  if (shape->present) {
    const char* name = tenon__cuda_mnemonic(shape->dtype);
    ADD(text, "#define IN%u_OF(t, i) load_%s((t), (i))\n#define IN%u(i) IN%u_OF(p.in[%u], i)\n", k,
        name, k, k, k);
    ADD(text,
        "#define IN%u_STORED stored_%s\n#define IN%u_VALUE value_%s\n#define IN%u_ELEMENT "
        "store_%s\n",
        k, name, k, name, k, name);
  } else {
    ADD(text, "#define IN%u(i) ((sum_t)0)\n", k);
  }
}

static void write_output(const tenon__closed_shape_t* shape, uint32_t k, tenon__cuda_text_t* text) {
  write_facts(shape, "OUT", k, text);
  if (shape->present) {
    const char* type = tenon__cuda_mnemonic(shape->dtype);
    ADD(text, "#define OUT%u(i, x) put_%s(p.out[%u], (i), (x))\n", k, type, k);
    ADD(text, "#define OUT%u_STORED stored_%s\n#define OUT%u_STORE store_%s\n", k, type, k, type);
  } else {
    ADD(text, "#define OUT%u(i, x) ((void)(x))\n", k);
  }
}

/* What numbers of a type are added up in. */
static const char* sum_type(tenon_dtype_t dtype) {
  const int kind = tenon__cuda_class(dtype);
  return dtype == TENON_DTYPE_FLOAT64  ? "double"
         : kind == 'f'                 ? "float"
         : dtype == TENON_DTYPE_UINT64 ? "u64"
                                       : "i64";
}

static void write_word(tenon__cuda_text_t* text, const char* word) {
  for (; *word != '\0'; word++) {
    ADD(text, "%c", isalnum((unsigned char)*word) ? *word : '_');
  }
}

/* By its bits, so that it is the same, infinite or not. */
static void write_number(tenon__cuda_text_t* text, double number) {
  int64_t bits = 0;
  memcpy(&bits, &number, sizeof(bits));
  ADD(text, "0x%" PRIx64 "ll", (uint64_t)bits);
}

static void write_attribute(const tenon__closed_work_t* work, const char* name,
                            tenon__cuda_text_t* text) {
  const tenon_region_table_t* table = work->table;
  int64_t integer = 0;
  double number = 0;
  const char* string = NULL;
  const int64_t* integers = NULL;
  const double* numbers = NULL;
  size_t count = 0;
  if (table->attribute_int(work->region, 0, name, &integer) == TENON_OK) {
    ADD(text, "#define A_%s ((i64)0x%" PRIx64 "ull)\n", name, (uint64_t)integer);
  } else if (table->attribute_float(work->region, 0, name, &number) == TENON_OK) {
    ADD(text, "#define A_%s __longlong_as_double(", name);
    write_number(text, number);
    ADD(text, ")\n");
  } else if (table->attribute_string(work->region, 0, name, &string) == TENON_OK) {
    ADD(text, "#define A_%s_", name);
    write_word(text, string);
    ADD(text, " 1\n");
  } else if (table->attribute_ints(work->region, 0, name, &integers, &count) == TENON_OK) {
    ADD(text, "#define A_%s_count %zu\nstatic __device__ const i64 A_%s[] = {", name, count, name);
    for (size_t k = 0; k < count; k++) {
      ADD(text, "(i64)0x%" PRIx64 "ull, ", (uint64_t)integers[k]);
    }
    ADD(text, "0};\n");
  } else if (table->attribute_floats(work->region, 0, name, &numbers, &count) == TENON_OK) {
    ADD(text, "#define A_%s_count %zu\nstatic __device__ const i64 A_%s_bits[] = {", name, count,
        name);
    for (size_t k = 0; k < count; k++) {
      write_number(text, numbers[k]);
      ADD(text, ", ");
    }
    ADD(text, "0};\n#define A_%s(k) __longlong_as_double(A_%s_bits[k])\n", name, name);
  }
}

void tenon__closed_write(const tenon__closed_work_t* work, tenon__cuda_text_t* text) {
  const bool by_output = (work->row->flags & TENON_CLOSED_SUMS_OUTPUT) != 0;
  tenon__cuda_text_copy(text, tenon__cuda_arithmetic_text);
  tenon__cuda_text_copy(text, tenon__cuda_launch_text);
  tenon__cuda_text_copy(text, tenon__cuda_closed_frame_text);
  ADD(text, "#define OP_%s 1\ntypedef %s sum_t;\n", work->row->name,
      sum_type(by_output ? work->out[0].dtype : work->in[0].dtype));
  for (uint32_t k = 0; k < TENON_CLOSED_INPUTS; k++) {
    write_input(&work->in[k], k, text);
  }
  for (uint32_t k = 0; k < TENON_CLOSED_OUTPUTS; k++) {
    write_output(&work->out[k], k, text);
  }
  for (const char* const* name = work->row->attributes; *name != NULL; name++) {
    write_attribute(work, *name, text);
  }
  if (work->row->building_blocks != NULL) {
    tenon__cuda_text_copy(text, work->row->building_blocks);
  }
  tenon__cuda_text_copy(text, work->row->text);
}
