/* Any bytes as a pool; what is taken is used: evaluated, printed, calculated with, written and read
 * again. */
#include <stdlib.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/arena.h"
#include "core/base/bytes.h"
#include "core/dimension/dimension.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_evaluate.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_text.h"
#include "core/plan_file/dimension_file.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

enum { MOST_NODES = 64 };

static void require(bool condition) {
  if (!condition) {
    abort();
  }
}

static void calculate(tenon__dim_pool_t* pool, tenon__arena_t* arena, uint32_t count) {
  static const uint32_t opcodes[] = {TENON_OPCODE_ADD, TENON_OPCODE_MUL, TENON_OPCODE_FLOOR_DIV,
                                     TENON_OPCODE_MOD, TENON_OPCODE_MIN, TENON_OPCODE_LT,
                                     TENON_OPCODE_EQ};
  for (uint32_t i = 0; i < count; ++i) {
    const tenon_dim_t a = {i};
    const tenon_dim_t b = {(i * 5 + 1) % count};
    tenon_dim_t base = {0};
    tenon_dim_t parts[4];
    (void)tenon__dim_text(pool, a, arena);
    (void)tenon__dim_select(pool, a, b, tenon__dim_constant(pool, 3));
    (void)tenon__dim_combine(pool, opcodes[i % 7], a, b);
    (void)tenon__dim_affine(pool, a, 4, &base, parts);
    (void)tenon__dim_substitute(pool, a, &b, 1, NULL);
  }
}

static void evaluate(const tenon__dim_pool_t* pool) {
  const tenon_allocator_t allocator = tenon__allocator_default();
  const uint32_t count = tenon__dim_pool_count(pool);
  const uint32_t symbols = tenon__symbol_count(pool);
  int64_t* values = tenon__allocate(allocator, (size_t)count + symbols, sizeof(*values));
  uint8_t* known = tenon__allocate(allocator, (size_t)count + symbols, 1);
  if (values != NULL && known != NULL) {
    for (uint32_t i = 0; i < symbols; ++i) {
      values[count + i] = tenon__symbol_get(pool, i)->min;
      known[count + i] = 1;
    }
    tenon__dim_pool_evaluate(pool, values + count, known + count, values, known);
    const int64_t coordinates[4] = {1, 0, 2, 3};
    const tenon__dim_point_t point = {
        .values = values, .known = known, .coordinates = coordinates, .coordinate_count = 4};
    for (uint32_t i = 0; i < count && i < MOST_NODES; ++i) {
      int64_t base = 0;
      int64_t parts[4];
      (void)tenon__dim_value_at(pool, (tenon_dim_t){i}, &point, &base);
      (void)tenon__dim_affine_at(pool, (tenon_dim_t){i}, &point, &base, parts);
    }
  }
  tenon__free(allocator, values, ((size_t)count + symbols) * sizeof(*values));
  tenon__free(allocator, known, (size_t)count + symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const tenon_allocator_t allocator = tenon__allocator_default();
  struct tenon__byte_reader_t reader;
  tenon__dim_pool_t* pool = NULL;
  tenon__byte_reader_initialize(&reader, data, size);
  if (tenon__dim_pool_read(allocator, &reader, NULL, &pool) != TENON_OK) {
    return 0;
  }
  struct tenon__byte_writer_t writer;
  struct tenon__byte_writer_t again;
  tenon__dim_pool_t* copy = NULL;
  tenon__byte_writer_initialize(&writer, allocator);
  tenon__byte_writer_initialize(&again, allocator);
  tenon__dim_pool_write(pool, &writer);
  tenon__byte_reader_initialize(&reader, writer.data, writer.size);
  require(tenon__dim_pool_read(allocator, &reader, NULL, &copy) == TENON_OK);
  tenon__dim_pool_write(copy, &again);
  require(writer.size == again.size && memcmp(writer.data, again.data, writer.size) == 0);
  tenon__byte_writer_deinitialize(&again);
  tenon__byte_writer_deinitialize(&writer);
  evaluate(pool);
  const uint32_t count = tenon__dim_pool_count(pool);
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, allocator);
  calculate(copy, &arena, count < MOST_NODES ? count : MOST_NODES);
  tenon__arena_deinitialize(&arena);
  tenon__dim_pool_destroy(copy);
  tenon__dim_pool_destroy(pool);
  return 0;
}
