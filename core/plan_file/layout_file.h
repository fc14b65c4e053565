/* Layouts and lists of numbers in a plan. Readers return INVALID_DATA without a message. Counts are
 * checked against the remaining bytes. */
#ifndef TENON_CORE_PLAN_FILE_LAYOUT_FILE_H_
#define TENON_CORE_PLAN_FILE_LAYOUT_FILE_H_

#include "core/base/arena.h"
#include "core/base/bytes.h"
#include "core/dimension/dimension.h"

void tenon__layout_write(const tenon_layout_t* layout, tenon__byte_writer_t* writer);
/* Reads a valid layout (tenon__layout_valid) of that rank. The name is borrowed from the reader's
 * data. */
tenon_status_t tenon__layout_read(tenon__byte_reader_t* reader, uint32_t rank,
                                  tenon__arena_t* arena, const tenon_layout_t** out_layout);

/* Reads `count` ids of the pool. They are copied, because the reader's data are not aligned. */
tenon_status_t tenon__dims_read(tenon__byte_reader_t* reader, const tenon__dim_pool_t* pool,
                                uint32_t count, tenon__arena_t* arena,
                                const tenon_dim_t** out_dims);
void tenon__dims_write(const tenon_dim_t* dims, uint32_t count, tenon__byte_writer_t* writer);

/* Reads `count` numbers, which the caller checks. */
tenon_status_t tenon__numbers_read(tenon__byte_reader_t* reader, uint32_t count,
                                   tenon__arena_t* arena, uint32_t** out_numbers);
void tenon__numbers_write(const uint32_t* numbers, uint32_t count, tenon__byte_writer_t* writer);

#endif
