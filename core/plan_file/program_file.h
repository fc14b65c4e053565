/*
 * Programs in a plan: space, operands with their accesses, coordinates, instructions, outputs.
 *
 * The reader's result has passed tenon__program_check, and its dimensions are in the pool. The
 * caller checks that its operands are inputs of its node, with the same types.
 */
#ifndef TENON_CORE_PLAN_FILE_PROGRAM_FILE_H_
#define TENON_CORE_PLAN_FILE_PROGRAM_FILE_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"
#include "core/program/program.h"

struct tenon__byte_writer_t;
struct tenon__byte_reader_t;

/* Writes the expression unchanged, in normal form or not. */
void tenon__expression_write(const tenon__expression_t* expression,
                             struct tenon__byte_writer_t* writer);
/* Reads an expression to the arena, with dimensions of `pool`. Returns INVALID_DATA with a
 * message. */
tenon_status_t tenon__expression_read(struct tenon__byte_reader_t* reader,
                                      const tenon__dim_pool_t* pool, tenon__arena_t* arena,
                                      const tenon_sink_t* sink,
                                      tenon__expression_t* out_expression);

#endif
