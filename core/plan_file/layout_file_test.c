#include "core/plan_file/layout_file.h"

#include "core/base/test.h"
#include "core/tensor/layout.h"

static const uint32_t order[4] = {0, 2, 3, 1};
static const tenon_layout_t channels_last = {
    .size = sizeof(tenon_layout_t), .name = "channels last", .order = order, .rank = 4};

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
  static const tenon_layout_t* const layouts[] = {&channels_last, &plain};
  for (int k = 0; k < 2; ++k) {
    scene_t s;
    const tenon_layout_t* layout = NULL;
    start(&s, layouts[k]);
    EXPECT_STATUS(read_back(&s, s.bytes.size, layouts[k]->rank, &layout), TENON_OK);
    REQUIRE(layout != NULL);
    EXPECT(tenon__layout_equal(layout, layouts[k]));
    EXPECT_TEXT(layout->name, k == 0 ? "channels last" : "");
    stop(&s);
  }
}

TENON_TEST(refuses_every_truncation) {
  scene_t s;
  const tenon_layout_t* layout = NULL;
  start(&s, &channels_last);
  for (size_t size = 0; size < s.bytes.size; ++size) {
    EXPECT_STATUS(read_back(&s, size, 4, &layout), TENON_ERROR_INVALID_DATA);
  }
  EXPECT(layout == NULL);
  stop(&s);
}

TENON_TEST(refuses_layouts_of_another_rank) {
  scene_t s;
  const tenon_layout_t* layout = NULL;
  start(&s, &channels_last);
  EXPECT_STATUS(read_back(&s, s.bytes.size, 3, &layout), TENON_ERROR_INVALID_DATA);
  stop(&s);
}

TENON_TEST(refuses_what_is_no_layout) {
  static const uint32_t twice[4] = {0, 2, 2, 1};
  tenon_layout_t fault = channels_last;
  scene_t s;
  const tenon_layout_t* layout = NULL;
  fault.order = twice;
  start(&s, &fault);
  EXPECT_STATUS(read_back(&s, s.bytes.size, 4, &layout), TENON_ERROR_INVALID_DATA);
  stop(&s);
}
