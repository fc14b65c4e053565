/*
 * Shape rules that do not fit a text. [build] Each is called once for a node, on symbols: an extent
 * may be a number or an expression of the inputs' extents, and what cannot be decided is required
 * of the run (tenon__infer_require_equal). A rule that refuses has said why.
 */
#ifndef PLUGINS_STANDARD_INFER_H_
#define PLUGINS_STANDARD_INFER_H_

#include "tenon/plugin.h"

/* Axes that a rule can handle: masks of axes are 64 bits. */
/* Entries from the shape operand, else attribute fixed_dims; -1 is what remains, 0 copies x's
 * extent unless allow_zero is set, also where only the run knows which it is. Refuses when the
 * number of elements surely differs. */
tenon_status_t tenon__infer_reshape(void* state, tenon_shape_builder_t* builder,
                                    const tenon_shape_table_t* table);
/* Both ways: an extent of x stays where the operand says 1. */
tenon_status_t tenon__infer_broadcast_to(void* state, tenon_shape_builder_t* builder,
                                         const tenon_shape_table_t* table);
/* Axes must be known when building. Without any, those of extent 1 go, as far as that is known. */
tenon_status_t tenon__infer_squeeze(void* state, tenon_shape_builder_t* builder,
                                    const tenon_shape_table_t* table);
tenon_status_t tenon__infer_unsqueeze(void* state, tenon_shape_builder_t* builder,
                                      const tenon_shape_table_t* table);
/* A vector on the left is a row, on the right a column, and its axis is not in the result; the
 * others broadcast. */
tenon_status_t tenon__infer_mat_mul(void* state, tenon_shape_builder_t* builder,
                                    const tenon_shape_table_t* table);
/* mat_mul with an i32 result. */
tenon_status_t tenon__infer_mat_mul_integer(void* state, tenon_shape_builder_t* builder,
                                            const tenon_shape_table_t* table);
/* Letters and "..." as NumPy has them; one letter has one extent everywhere, or 1. */
tenon_status_t tenon__infer_einsum(void* state, tenon_shape_builder_t* builder,
                                   const tenon_shape_table_t* table);
/* [C] becomes [targets], [N, C] becomes [N, targets]: one more than the largest of
 * ngram_indexes. */
tenon_status_t tenon__infer_tfidf_vectorizer(void* state, tenon_shape_builder_t* builder,
                                             const tenon_shape_table_t* table);

/* Says why on the builder, cut at 255 bytes; returns INVALID_DATA. */
tenon_status_t tenon__infer_refuse(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                                   const char* format, ...);
/* Two extents that must be the same; those that are known were compared. The run checks it and
 * says `message`, which must be static. An older host checks nothing. */
void tenon__infer_require_equal(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                                tenon_dim_t a, tenon_dim_t b, const char* message);
/* The extent of two axes that broadcast to one another. Where neither is known, a choice between
 * them, and a requirement that they are equal or one of them 1. Refuses for known ones that do
 * not. */
tenon_dim_t tenon__infer_broadcast(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                                   tenon_dim_t a, tenon_dim_t b);

#endif
