/*
 * Programs in a plan: space, operands with their accesses, coordinates, instructions, outputs.
 *
 * What the reader gives back has passed tenon__program_check, and each dimension in it is one of
 * the pool. Whether its operands are inputs of its node, and of these types, is for the caller.
 */
#ifndef TENON_CORE_PLAN_FILE_PROGRAM_FILE_H_
#define TENON_CORE_PLAN_FILE_PROGRAM_FILE_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"
#include "core/program/program.h"

struct tenon__byte_writer_t;
struct tenon__byte_reader_t;

/* In normal form or not: it is written as it stands. */
void tenon__expression_write(const tenon__expression_t* expression,
                             struct tenon__byte_writer_t* writer);
/* In the arena, dimensions of `pool`. INVALID_DATA, reported. */
tenon_status_t tenon__expression_read(struct tenon__byte_reader_t* reader,
                                      const tenon__dim_pool_t* pool, tenon__arena_t* arena,
                                      const tenon_sink_t* sink,
                                      tenon__expression_t* out_expression);

#endif
