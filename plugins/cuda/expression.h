/* The expression kernel's answers to who asks for a region; its life is in expression.c. */
#ifndef PLUGINS_CUDA_EXPRESSION_H_
#define PLUGINS_CUDA_EXPRESSION_H_

#include "tenon/plugin.h"

int32_t tenon__cuda_expression_match(void* state, const tenon_region_t* region,
                                     const tenon_region_table_t* table,
                                     tenon_refusal_t* out_refusal);
/* A tactic's configuration is a tenon__cuda_choice_t (form.h). */
tenon_status_t tenon__cuda_expression_tactics(void* state, const tenon_region_t* region,
                                              const tenon_region_table_t* table, tenon_emit_t* emit,
                                              tenon_status_t (*add)(tenon_emit_t*,
                                                                    const tenon_tactic_t*));

#endif
