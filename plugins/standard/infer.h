/* Shape rules that do not fit a text. [build] Each is called once for a node, on symbols. */
#ifndef PLUGINS_STANDARD_INFER_H_
#define PLUGINS_STANDARD_INFER_H_

#include "tenon/plugin.h"

/* Axes that a rule can handle. */
enum { TENON__INFER_MAX_RANK = 64 };

tenon_status_t tenon__infer_reshape(void* state, tenon_shape_builder_t* builder,
                                    const tenon_shape_table_t* table);
tenon_status_t tenon__infer_broadcast_to(void* state, tenon_shape_builder_t* builder,
                                         const tenon_shape_table_t* table);
tenon_status_t tenon__infer_squeeze(void* state, tenon_shape_builder_t* builder,
                                    const tenon_shape_table_t* table);
tenon_status_t tenon__infer_unsqueeze(void* state, tenon_shape_builder_t* builder,
                                      const tenon_shape_table_t* table);
tenon_status_t tenon__infer_mat_mul(void* state, tenon_shape_builder_t* builder,
                                    const tenon_shape_table_t* table);
/* mat_mul with an i32 result. */
tenon_status_t tenon__infer_mat_mul_integer(void* state, tenon_shape_builder_t* builder,
                                            const tenon_shape_table_t* table);
tenon_status_t tenon__infer_einsum(void* state, tenon_shape_builder_t* builder,
                                   const tenon_shape_table_t* table);
tenon_status_t tenon__infer_tfidf_vectorizer(void* state, tenon_shape_builder_t* builder,
                                             const tenon_shape_table_t* table);

/* Says why on the builder; returns INVALID_DATA. */
tenon_status_t tenon__infer_refuse(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                                   const char* format, ...);
/* Two extents that must be the same; those that are known were compared. */
void tenon__infer_require_equal(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                                tenon_dim_t a, tenon_dim_t b, const char* message);
/* The extent of two axes that broadcast to one another. */
tenon_dim_t tenon__infer_broadcast(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                                   tenon_dim_t a, tenon_dim_t b);

#endif
