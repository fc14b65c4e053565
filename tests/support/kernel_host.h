/*
 * A host for unit tests of kernels: one region with one node or several, one program or one move,
 * its attributes and arguments, and all the tables that a kernel calls. What a plugin's tests add,
 * in their fake_host.h: how arguments are laid out, and how its kernels are driven and judged.
 * Attributes, programs and moves are borrowed.
 */
#ifndef TESTS_SUPPORT_KERNEL_HOST_H_
#define TESTS_SUPPORT_KERNEL_HOST_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/thread_pool.h"
#include "tenon/plugin.h"

enum { FAKE_VALUES = 24, FAKE_RANK = 8, FAKE_ATTRIBUTES = 24, FAKE_BLOCKS = 4096 };

/* Of kernels that lay out their arguments. `numbers` are row-major; of an output what came out. */
typedef struct fake_value_t {
  tenon_value_info_t info;
  int64_t dims[FAKE_RANK];
  double* numbers;
  void* dense;  /* in its dtype, row-major */
  void* memory; /* as the tactic wants it */
  int64_t strides[FAKE_RANK];
  int64_t view_dims[FAKE_RANK];
  int64_t view_strides[FAKE_RANK];
} fake_value_t;

typedef struct fake_attribute_t {
  const char* name;
  uint32_t kind;
  size_t count; /* of a list */
  int64_t integer;
  double number;
  const char* string;
  const int64_t* integers;
  const double* numbers;
  const char* const* strings;
} fake_attribute_t;

/* One of several nodes; inputs and output are numbers of values. */
typedef struct fake_node_t {
  const char* op;
  uint32_t inputs[4];
  uint32_t input_count;
  uint32_t output;
  const tenon_program_t* program;
} fake_node_t;

typedef struct fake_t {
  uint32_t kind;
  const char* op; /* NULL: a region without nodes; of several nodes that of the main one */
  const fake_node_t* nodes; /* NULL: at most one, whose inputs are the region's */
  uint32_t several_count;   /* of these */
  uint32_t inner_count;     /* values behind the outputs that are made and used up inside */
  fake_attribute_t attributes[FAKE_ATTRIBUTES];
  uint32_t attribute_count;
  fake_value_t values[FAKE_VALUES]; /* inputs of the node, inputs of slots, outputs */
  uint32_t value_count;
  uint32_t node_input_count;
  uint32_t input_count;
  uint32_t output_count;
  const tenon_program_t* slot;     /* number 0, in `space` */
  const tenon_program_t* prologue; /* number 1 */
  int64_t prologue_space[FAKE_RANK];
  const tenon_program_t* program;
  const tenon_move_t* move;
  int64_t space[FAKE_RANK];
  uint32_t space_rank;
  uint32_t threads;
  tenon__thread_pool_t* pool; /* NULL: all bodies run on the caller, as if on several threads */
  unsigned seed;
  bool in_place; /* outputs overwrite inputs where the tactic lets them */
  /* While running. */
  void* blocks[FAKE_BLOCKS];
  uint32_t block_count;
  tenon_argument_t inputs[FAKE_VALUES];
  tenon_argument_t outputs[FAKE_VALUES];
  tenon_tensor_view_t results[FAKE_VALUES]; /* outputs, once those of open extents are there */
  tenon_argument_t items[FAKE_VALUES];      /* appended to output 0 */
  uint32_t item_count;
  void* scratch;
  uint64_t persistent;
  char failure[256]; /* what the kernel said; "": nothing */
  char packing[160]; /* format and parameters of the last packing; "": none */
  uint32_t tactic_count;
  uint32_t tactic_index;
  tenon_tactic_t tactic;
  char tactic_name[96];
  tenon_numerics_t numerics;
  tenon_argument_rule_t rules[2][FAKE_VALUES];
  uint8_t configuration[256];
  double seconds; /* of enqueue, the fastest of `repeats` */
  uint32_t repeats;
} fake_t;

static inline fake_t* fake_from(const void* handle) {
  return (fake_t*)handle; /* const for its users alone */
}

/* As a host does: what a kernel emits is its own, and gone when it returns. Without rules the
 * tactic has none; with some, so many as there are arguments. Numerics are there, all zero where it
 * says none. */
static inline void fake_keep_tactic(fake_t* fake, const tenon_tactic_t* tactic) {
  fake->tactic = *tactic;
  memset(fake->rules, 0, sizeof(fake->rules));
  if (tactic->inputs != NULL) {
    memcpy(fake->rules[0], tactic->inputs, fake->input_count * sizeof(tenon_argument_rule_t));
    fake->tactic.inputs = fake->rules[0];
  }
  if (tactic->outputs != NULL) {
    memcpy(fake->rules[1], tactic->outputs, fake->output_count * sizeof(tenon_argument_rule_t));
    fake->tactic.outputs = fake->rules[1];
  }
  (void)snprintf(fake->tactic_name, sizeof(fake->tactic_name), "%s",
                 tactic->name == NULL ? "" : tactic->name);
  fake->tactic.name = fake->tactic_name;
  fake->numerics = tactic->numerics == NULL ? (tenon_numerics_t){0} : *tactic->numerics;
  fake->tactic.numerics = &fake->numerics;
  memcpy(fake->configuration, tactic->configuration == NULL ? "" : tactic->configuration,
         tactic->configuration_size);
  fake->tactic.configuration = fake->configuration;
}

/* Keeps tactic number tactic_index, and counts them all. */
static inline tenon_status_t fake_add_tactic(tenon_emit_t* emit, const tenon_tactic_t* tactic) {
  fake_t* fake = fake_from(emit);
  if (fake->tactic_count++ == fake->tactic_index) {
    fake_keep_tactic(fake, tactic);
  }
  return TENON_OK;
}

/* ---- Memory ---- */

/* Zeros, freed by fake_done; NULL when there were too many. */
static inline void* fake_allocate(fake_t* fake, size_t size) {
  const size_t whole = (size + 127) / 64 * 64;
  void* block = fake->block_count < FAKE_BLOCKS ? aligned_alloc(64, whole) : NULL;
  if (block != NULL) {
    memset(block, 0, whole);
    fake->blocks[fake->block_count++] = block;
  }
  return block;
}
static inline void fake_done(fake_t* fake) {
  for (uint32_t k = 0; k < fake->block_count; k++) {
    free(fake->blocks[k]);
  }
  fake->block_count = 0;
}

/* A dense tensor of zeros, with room for any element type. */
static inline tenon_tensor_view_t fake_tensor(fake_t* fake, tenon_dtype_t dtype, uint32_t rank,
                                              const int64_t* dims) {
  int64_t* own_dims = fake_allocate(fake, (rank + 1) * sizeof(int64_t));
  int64_t* strides = fake_allocate(fake, (rank + 1) * sizeof(int64_t));
  int64_t count = 1;
  for (uint32_t axis = rank; axis-- > 0;) {
    own_dims[axis] = dims[axis];
    strides[axis] = count;
    count *= dims[axis];
  }
  return (tenon_tensor_view_t){.data = fake_allocate(fake, (size_t)count * 16),
                               .dims = own_dims,
                               .strides = strides,
                               .rank = rank,
                               .dtype = dtype,
                               .layout = TENON_NONE};
}

/* ---- Description ---- */

static inline fake_attribute_t* fake_attribute(fake_t* fake, const char* name, uint32_t kind) {
  fake_attribute_t* attribute = &fake->attributes[fake->attribute_count++];
  *attribute = (fake_attribute_t){.name = name, .kind = kind};
  return attribute;
}
static inline void fake_int(fake_t* fake, const char* name, int64_t value) {
  fake_attribute(fake, name, TENON_ATTRIBUTE_INT)->integer = value;
}
static inline void fake_float(fake_t* fake, const char* name, double value) {
  fake_attribute(fake, name, TENON_ATTRIBUTE_FLOAT)->number = value;
}
static inline void fake_string(fake_t* fake, const char* name, const char* value) {
  fake_attribute(fake, name, TENON_ATTRIBUTE_STRING)->string = value;
}
static inline void fake_ints(fake_t* fake, const char* name, size_t count, const int64_t* values) {
  fake_attribute_t* attribute = fake_attribute(fake, name, TENON_ATTRIBUTE_INTS);
  attribute->integers = values;
  attribute->count = count;
}
static inline void fake_floats(fake_t* fake, const char* name, size_t count, const double* values) {
  fake_attribute_t* attribute = fake_attribute(fake, name, TENON_ATTRIBUTE_FLOATS);
  attribute->numbers = values;
  attribute->count = count;
}

static inline void fake_texts(fake_t* fake, const char* name, size_t count,
                              const char* const* values) {
  fake_attribute_t* attribute = fake_attribute(fake, name, TENON_ATTRIBUTE_STRINGS);
  attribute->strings = values;
  attribute->count = count;
}

/* The extents that a program runs over. */
static inline void fake_set_space(fake_t* fake, uint32_t rank, const int64_t* extents) {
  fake->space_rank = rank;
  memcpy(fake->space, extents, rank * sizeof(int64_t));
}

/* ---- The region ---- */

static inline uint32_t fake_kind(const tenon_region_t* r) {
  return fake_from(r)->kind;
}
static inline uint32_t fake_node_count(const tenon_region_t* r) {
  const fake_t* fake = fake_from(r);
  return fake->nodes != NULL ? fake->several_count : fake->op != NULL ? 1 : 0;
}
static inline const fake_node_t* fake_node(const tenon_region_t* r, uint32_t node) {
  return fake_from(r)->nodes == NULL ? NULL : &fake_from(r)->nodes[node];
}
static inline const char* fake_op(const tenon_region_t* r, uint32_t node) {
  return fake_node(r, node) != NULL ? fake_node(r, node)->op : fake_from(r)->op;
}
static inline uint32_t fake_node_inputs(const tenon_region_t* r, uint32_t node) {
  return fake_node(r, node) != NULL ? fake_node(r, node)->input_count
                                    : fake_from(r)->node_input_count;
}
static inline uint32_t fake_node_outputs(const tenon_region_t* r, uint32_t node) {
  return fake_node(r, node) != NULL ? 1 : fake_from(r)->output_count;
}
/* An input or output of rank FAKE_RANK stands for one that is absent. */
static inline uint32_t fake_node_input(const tenon_region_t* r, uint32_t node, uint32_t index) {
  if (fake_node(r, node) != NULL) {
    return index < fake_node(r, node)->input_count ? fake_node(r, node)->inputs[index] : TENON_NONE;
  }
  return fake_from(r)->values[index].info.rank == FAKE_RANK ? TENON_NONE : index;
}
static inline uint32_t fake_node_output(const tenon_region_t* r, uint32_t node, uint32_t index) {
  if (fake_node(r, node) != NULL) {
    return index == 0 ? fake_node(r, node)->output : TENON_NONE;
  }
  const uint32_t value = fake_from(r)->input_count + index;
  const bool is_there =
      index < fake_from(r)->output_count && fake_from(r)->values[value].info.rank != FAKE_RANK;
  return is_there ? value : TENON_NONE;
}
static inline const fake_attribute_t* fake_find(const tenon_region_t* r, const char* name,
                                                uint32_t kind) {
  const fake_t* fake = fake_from(r);
  for (uint32_t k = 0; k < fake->attribute_count; k++) {
    if (strcmp(fake->attributes[k].name, name) == 0 && fake->attributes[k].kind == kind) {
      return &fake->attributes[k];
    }
  }
  return NULL;
}
#define FAKE_GETTER(function, type, attribute_kind, field)                                        \
  static inline tenon_status_t function(const tenon_region_t* r, uint32_t node, const char* name, \
                                        type out_value) {                                         \
    const fake_attribute_t* found = fake_find(r, name, attribute_kind);                           \
    (void)node;                                                                                   \
    if (found != NULL) {                                                                          \
      *out_value = found->field;                                                                  \
    }                                                                                             \
    return found != NULL ? TENON_OK : TENON_ERROR_NOT_FOUND;                                      \
  }
FAKE_GETTER(fake_get_int, int64_t*, TENON_ATTRIBUTE_INT, integer)
FAKE_GETTER(fake_get_float, double*, TENON_ATTRIBUTE_FLOAT, number)
FAKE_GETTER(fake_get_string, const char**, TENON_ATTRIBUTE_STRING, string)
#define FAKE_LIST_GETTER(function, type, attribute_kind, field)                                   \
  static inline tenon_status_t function(const tenon_region_t* r, uint32_t node, const char* name, \
                                        type out_values, size_t* out_count) {                     \
    const fake_attribute_t* found = fake_find(r, name, attribute_kind);                           \
    (void)node;                                                                                   \
    if (found != NULL) {                                                                          \
      *out_values = found->field;                                                                 \
      *out_count = found->count;                                                                  \
    }                                                                                             \
    return found != NULL ? TENON_OK : TENON_ERROR_NOT_FOUND;                                      \
  }
FAKE_LIST_GETTER(fake_get_ints, const int64_t**, TENON_ATTRIBUTE_INTS, integers)
FAKE_LIST_GETTER(fake_get_floats, const double**, TENON_ATTRIBUTE_FLOATS, numbers)
FAKE_LIST_GETTER(fake_get_strings, const char* const**, TENON_ATTRIBUTE_STRINGS, strings)
static inline uint32_t fake_value_count(const tenon_region_t* r) {
  return fake_from(r)->value_count + fake_from(r)->inner_count;
}
static inline const tenon_value_info_t* fake_value(const tenon_region_t* r, uint32_t value) {
  return value < fake_value_count(r) ? &fake_from(r)->values[value].info : NULL;
}
static inline uint32_t fake_input_count(const tenon_region_t* r) {
  return fake_from(r)->input_count;
}
static inline uint32_t fake_output_count(const tenon_region_t* r) {
  return fake_from(r)->output_count;
}
static inline uint32_t fake_input_value(const tenon_region_t* r, uint32_t index) {
  const fake_t* fake = fake_from(r);
  return index < fake->input_count && fake->values[index].info.rank != FAKE_RANK ? index
                                                                                 : TENON_NONE;
}
static inline uint32_t fake_output_value(const tenon_region_t* r, uint32_t index) {
  return fake_from(r)->input_count + index;
}
static inline const tenon_program_t* fake_slot(const tenon_region_t* r, uint32_t slot) {
  return slot == 0 ? fake_from(r)->slot : slot == 1 ? fake_from(r)->prologue : NULL;
}
static inline const tenon_program_t* fake_program(const tenon_region_t* r) {
  return fake_from(r)->program;
}
static inline const tenon_program_t* fake_node_program(const tenon_region_t* r, uint32_t node) {
  return fake_node(r, node) == NULL ? NULL : fake_node(r, node)->program;
}
static const tenon_region_table_t fake_region_table = {sizeof(tenon_region_table_t),
                                                       fake_kind,
                                                       fake_node_count,
                                                       fake_op,
                                                       fake_op,
                                                       fake_node_inputs,
                                                       fake_node_outputs,
                                                       fake_node_input,
                                                       fake_node_output,
                                                       fake_get_int,
                                                       fake_get_float,
                                                       fake_get_string,
                                                       fake_get_ints,
                                                       fake_get_floats,
                                                       fake_get_strings,
                                                       fake_value_count,
                                                       fake_value,
                                                       fake_input_count,
                                                       fake_output_count,
                                                       fake_input_value,
                                                       fake_output_value,
                                                       fake_slot,
                                                       fake_program,
                                                       fake_node_program};

/* ---- Preparing and binding ---- */

static inline void* fake_prepare_allocate(tenon_preparation_t* p, size_t size) {
  return fake_allocate(fake_from(p), size);
}
static inline tenon_status_t fake_pack(tenon_preparation_t* p, const tenon_packing_t* packing,
                                       void** out, int32_t* out_ready) {
  fake_t* fake = fake_from(p);
  (void)snprintf(fake->packing, sizeof(fake->packing), "%s %s", packing->format,
                 packing->parameters == NULL ? "" : packing->parameters);
  *out = fake_allocate(fake, packing->size_bytes);
  *out_ready = 0;
  return TENON_OK;
}
static const tenon_prepare_table_t fake_prepare_table = {
    .size = sizeof(tenon_prepare_table_t), .allocate = fake_prepare_allocate, .pack = fake_pack};

static inline void* fake_bind_allocate(tenon_binding_t* b, size_t size) {
  return fake_allocate(fake_from(b), size);
}
static inline const tenon_argument_t* fake_bind_input(tenon_binding_t* b, uint32_t index) {
  return &fake_from(b)->inputs[index];
}
static inline const tenon_argument_t* fake_bind_output(tenon_binding_t* b, uint32_t index) {
  return &fake_from(b)->outputs[index];
}
static inline const tenon_move_t* fake_bind_move(tenon_binding_t* b) {
  return fake_from(b)->move;
}
static inline const int64_t* fake_bind_space(tenon_binding_t* b, uint32_t slot) {
  return slot == 1 ? fake_from(b)->prologue_space : fake_from(b)->space;
}
static inline uint32_t fake_bind_threads(tenon_binding_t* b) {
  return fake_from(b)->threads;
}
static const tenon_bind_table_t fake_bind_table = {.size = sizeof(tenon_bind_table_t),
                                                   .allocate = fake_bind_allocate,
                                                   .input = fake_bind_input,
                                                   .output = fake_bind_output,
                                                   .move = fake_bind_move,
                                                   .space = fake_bind_space,
                                                   .thread_count = fake_bind_threads};

/* ---- Running ---- */

static inline void* fake_run_scratch(tenon_run_t* r) {
  return fake_from(r)->scratch;
}
static inline void* fake_run_persistent(tenon_run_t* r) {
  return &fake_from(r)->persistent;
}
static inline void fake_parallel(tenon_run_t* r, uint32_t count,
                                 void (*body)(void*, uint32_t, uint32_t), void* user) {
  if (fake_from(r)->pool != NULL) {
    tenon__thread_pool_run(fake_from(r)->pool, count, body, user);
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    body(user, i, i % fake_from(r)->threads);
  }
}
static inline uint32_t fake_run_threads(tenon_run_t* r) {
  return fake_from(r)->threads;
}
static inline tenon_status_t fake_allocate_output(tenon_run_t* r, uint32_t output, uint32_t rank,
                                                  const int64_t* dims, void** out_data) {
  fake_t* fake = fake_from(r);
  fake->results[output] = fake_tensor(fake, fake->outputs[output].tensor.dtype, rank, dims);
  *out_data = fake->results[output].data;
  return TENON_OK;
}
static inline tenon_status_t fake_append_output(tenon_run_t* r, uint32_t output,
                                                const tenon_argument_t* item) {
  fake_t* fake = fake_from(r);
  (void)output;
  fake->items[fake->item_count++] = *item;
  return TENON_OK;
}
static inline tenon_status_t fake_copy_string(tenon_run_t* r, uint32_t output,
                                              tenon_string_view_t text,
                                              tenon_string_view_t* out_copy) {
  char* copy = fake_allocate(fake_from(r), text.size + 1);
  (void)output;
  memcpy(copy, text.size > 0 ? text.data : "", text.size);
  *out_copy = (tenon_string_view_t){copy, text.size};
  return TENON_OK;
}
static inline tenon_status_t fake_fail(tenon_run_t* r, tenon_status_t status, const char* message) {
  (void)snprintf(fake_from(r)->failure, sizeof(fake_from(r)->failure), "%s", message);
  return status;
}
static const tenon_run_table_t fake_run_table = {.size = sizeof(tenon_run_table_t),
                                                 .scratch = fake_run_scratch,
                                                 .persistent = fake_run_persistent,
                                                 .parallel = fake_parallel,
                                                 .thread_count = fake_run_threads,
                                                 .allocate_output = fake_allocate_output,
                                                 .append_output = fake_append_output,
                                                 .copy_string = fake_copy_string,
                                                 .fail = fake_fail};

/* ---- Calls ---- */

/* The region, and the tactic that was kept. Who plays the host otherwise puts its own table in. */
static inline tenon_prepare_t fake_prepare_call(fake_t* fake, void* state) {
  return (tenon_prepare_t){.size = sizeof(tenon_prepare_t),
                           .state = state,
                           .region = (const tenon_region_t*)(void*)fake,
                           .table = &fake_region_table,
                           .tactic = &fake->tactic,
                           .preparation = (tenon_preparation_t*)(void*)fake,
                           .host = &fake_prepare_table};
}
/* The fake's own arguments; likewise. */
static inline tenon_enqueue_t fake_enqueue_call(fake_t* fake, void* instance, void* bound) {
  return (tenon_enqueue_t){.size = sizeof(tenon_enqueue_t),
                           .instance = instance,
                           .bound = bound,
                           .run = (tenon_run_t*)(void*)fake,
                           .host = &fake_run_table,
                           .inputs = fake->inputs,
                           .outputs = fake->outputs,
                           .input_count = fake->input_count,
                           .output_count = fake->output_count};
}

#endif
