#include "core/plan_file/layout_file.h"

#include "core/base/test.h"
#include "core/tensor/layout.h"

static const uint32_t order[4] = {0, 2, 3, 1};
static const uint32_t block_dims[2] = {1, 0};
static const uint32_t block_sizes[2] = {16, 4};
static const uint32_t multiples[4] = {1, 16, 1, 1};
static const uint32_t borders[4] = {0, 0, 1, 1};
static const tenon_layout_t blocked = {.size = sizeof(tenon_layout_t),
                                       .name = "blocks of 16",
                                       .order = order,
                                       .block_dims = block_dims,
                                       .block_sizes = block_sizes,
                                       .multiples = multiples,
                                       .borders = borders,
                                       .rank = 4,
                                       .block_count = 2,
                                       .planes = 2,
                                       .scale_companion = 1};

typedef struct scene_t {
  tenon__byte_writer_t bytes;
  tenon__arena_t arena;
} scene_t;

static void start(scene_t* s, const tenon_layout_t* layout) {
  tenon__byte_writer_initialize(&s->bytes, tenon__allocator_default());
  tenon__arena_initialize(&s->arena, tenon__allocator_default());
  tenon__layout_write(layout, &s->bytes);
  EXPECT(!s->bytes.failed);
}

static tenon_status_t read_back(scene_t* s, size_t size, uint32_t rank,
                                const tenon_layout_t** out_layout) {
  tenon__byte_reader_t reader;
  tenon__byte_reader_initialize(&reader, s->bytes.data, size);
  const tenon_status_t status = tenon__layout_read(&reader, rank, &s->arena, out_layout);
  EXPECT(status != TENON_OK || reader.position == size);
  return status;
}

static void stop(scene_t* s) {
  tenon__byte_writer_deinitialize(&s->bytes);
  tenon__arena_deinitialize(&s->arena);
}

TENON_TEST(layouts_come_back_whole) {
  static const tenon_layout_t plain = {.size = sizeof(tenon_layout_t), .rank = 3};
  static const tenon_layout_t* const layouts[] = {&blocked, &plain};
  for (int k = 0; k < 2; ++k) {
    scene_t s;
    const tenon_layout_t* layout = NULL;
    start(&s, layouts[k]);
    EXPECT_STATUS(read_back(&s, s.bytes.size, layouts[k]->rank, &layout), TENON_OK);
    REQUIRE(layout != NULL);
    EXPECT(tenon__layout_equal(layout, layouts[k]));
    EXPECT_TEXT(layout->name, k == 0 ? "blocks of 16" : "");
    stop(&s);
  }
}

TENON_TEST(refuses_every_truncation) {
  scene_t s;
  const tenon_layout_t* layout = NULL;
  start(&s, &blocked);
  for (size_t size = 0; size < s.bytes.size; ++size) {
    EXPECT_STATUS(read_back(&s, size, 4, &layout), TENON_ERROR_INVALID_DATA);
  }
  EXPECT(layout == NULL);
  stop(&s);
}

TENON_TEST(refuses_layouts_of_another_rank) {
  scene_t s;
  const tenon_layout_t* layout = NULL;
  start(&s, &blocked);
  EXPECT_STATUS(read_back(&s, s.bytes.size, 3, &layout), TENON_ERROR_INVALID_DATA);
  stop(&s);
}

TENON_TEST(refuses_what_is_no_layout) {
  static const uint32_t twice[4] = {0, 2, 2, 1};
  static const uint32_t outside[2] = {1, 4};
  static const uint32_t nothing[2] = {16, 0};
  tenon_layout_t faults[3] = {blocked, blocked, blocked};
  faults[0].order = twice;
  faults[1].block_dims = outside;
  faults[2].block_sizes = nothing;
  for (int k = 0; k < 3; ++k) {
    scene_t s;
    const tenon_layout_t* layout = NULL;
    start(&s, &faults[k]);
    EXPECT_STATUS(read_back(&s, s.bytes.size, 4, &layout), TENON_ERROR_INVALID_DATA);
    stop(&s);
  }
}
