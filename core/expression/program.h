/*
 * Expressions as programs: instantiate a text for a node, compose neighbours, bring into normal
 * form.
 *
 * An expression node's program has one operand for each node input that it reads, with an *access*:
 * for each dimension of that value its coordinate, a dimension expression over the coordinates of
 * the space. Aligned broadcasting, permuted and strided reading are all accesses; at run time an
 * affine access becomes strides. So fusing through a permutation is substitution.
 */
#ifndef TENON_CORE_EXPRESSION_PROGRAM_H_
#define TENON_CORE_EXPRESSION_PROGRAM_H_

#include "core/expression/scope.h"
#include "core/expression/shape_rule.h"
#include "core/expression/text.h"

/* `reserved` of a program's output: what the output's type holds of the value is the value, for
 * whoever reads it. So says a text that casts to a narrow float as an output's whole value: that
 * rounding is arithmetic, not storage, and composition does not drop it. */
enum { TENON_OUTPUT_ROUNDS = 1u };

typedef struct tenon__access_t {
  uint32_t rank;                  /* of the value */
  const tenon_dim_t* coordinates; /* affine in the space's coordinates */
} tenon__access_t;

typedef struct tenon__expression_t {
  tenon_program_t program; /* operands[k].index: the node's input, until a region renumbers it */
  const tenon__access_t*
      accesses;             /* one for each operand; rank TENON_NONE for `indexed` operands */
  const tenon_dim_t* space; /* program.rank extents */
  /* For each output: its own shape's axes in the space. output_axes[o][k]: the axis of the space
   * that axis k of output o runs along (reduced axes that were dropped are missing; kept ones are
   * there). */
  const uint32_t* const* output_axes;
  const uint32_t* output_ranks;
} tenon__expression_t;

/* Instantiates an operator's case for a node. `shapes`: inferred by a shape rule, or NULL: derived
 * here and written to out_shapes (one for each output port). */
tenon_status_t tenon__expression_instantiate(const tenon__scope_t* scope, const tenon__text_t* text,
                                             const tenon__inferred_shape_t* shapes,
                                             tenon__arena_t* arena, const tenon_sink_t* sink,
                                             tenon__expression_t* out_expression,
                                             tenon__inferred_shape_t* out_shapes);
/* What a move may know of a node's input. */
typedef struct tenon__move_input_t {
  tenon_dtype_t dtype; /* UNDEFINED: absent */
  uint32_t rank;
  uint32_t content_count; /* 0 unless the rank is at most 1 */
  const tenon_dim_t* contents;
} tenon__move_input_t;
/* A general (or any) move as an expression with LOADs. A symbol in its coordinates that no extent
 * of the output gives is read from an input whose contents it is. */
tenon_status_t tenon__expression_from_move(tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                                           tenon_dtype_t dtype, const tenon__move_input_t* inputs,
                                           uint32_t input_count, tenon__arena_t* arena,
                                           const tenon_sink_t* sink,
                                           tenon__expression_t* out_expression);

/* Composition. `consumer` reads, through operands `slots` (a set of its operand numbers), output
 * `producer_output` of `producer`. All producer operands are appended with accesses substituted
 * through the consumer's access; equal operands merge. If `keep_output` the producer's value
 * becomes an output too (only when the spaces are equal and the access is the identity).
 * UNSUPPORTED, silently, when the producer reduces and the access is not the identity, when ranks
 * exceed 64, when an indexed operand is involved, when the producer's output rounds, or when
 * `strict` rounding forbids it. Operand `index` fields: producer's are kept with
 * `producer_index_base` added. */
tenon_status_t tenon__expression_compose(tenon__dim_pool_t* pool,
                                         const tenon__expression_t* consumer, const uint32_t* slots,
                                         uint32_t slot_count, const tenon__expression_t* producer,
                                         uint32_t producer_output, bool keep_output,
                                         uint32_t producer_index_base, bool strict,
                                         tenon__arena_t* arena,
                                         tenon__expression_t* out_expression);

/* Normal form: constants folded, common instructions merged, dead ones dropped, operands of
 * commutative operations ordered, x+0, x*1, double casts and double negations removed (only where
 * exact), comparisons oriented, sigmoid/softplus recognised; instruction order is depth-first from
 * the outputs. Equal meaning in the cases above gives equal programs. Idempotent. */
tenon_status_t tenon__expression_normalise(const tenon__expression_t* expression,
                                           tenon__arena_t* arena,
                                           tenon__expression_t* out_expression);
/* A small integer cost: instructions weighted by kind, for estimates. */
uint32_t tenon__program_cost(const tenon_program_t* program);
/* "max(in0 + in1, 0)": for reports. */
const char* tenon__program_text(const tenon_program_t* program, uint32_t output,
                                tenon__arena_t* arena);

/* x * scale + shift with scale and shift free of operand `operand` (both as expressions over the
 * others)? This is how the pass that moves per-channel scales recognises them. UNSUPPORTED when it
 * is something else. */
tenon_status_t tenon__expression_linear_in(const tenon__expression_t* expression, uint32_t operand,
                                           tenon__arena_t* arena, tenon__expression_t* out_scale,
                                           tenon__expression_t* out_shift);

/* Instructions that a program may have: what plans are read with, and so what nodes are made with.
 */
enum { TENON__MOST_INSTRUCTIONS = 1 << 20 };
/* Checks a program from outside (a plan): operand order, types, ranges. INVALID_DATA with the
 * place. */
tenon_status_t tenon__program_check(const tenon_program_t* program, const tenon_sink_t* sink);
/* Does each LOAD of that operand have as many coordinates as its tensor has dimensions? */
bool tenon__program_loads_fit(const tenon_program_t* program, uint32_t operand, uint32_t rank);
/* For the plan. */
struct tenon__byte_writer_t;
struct tenon__byte_reader_t;
void tenon__expression_write(const tenon__expression_t* expression,
                             struct tenon__byte_writer_t* writer);
tenon_status_t tenon__expression_read(struct tenon__byte_reader_t* reader,
                                      const tenon__dim_pool_t* pool, tenon__arena_t* arena,
                                      const tenon_sink_t* sink,
                                      tenon__expression_t* out_expression);

#endif
