/* A plan written is the plan read; whatever is damaged is refused. */
#include "core/network/fault.h"
#include "core/plan/report.h"
#include "core/plan_file/plan_file.h"
#include "core/plan_file/sample_plan.h"

/* After the sample's headers: its own are for any program. */
#include "core/base/test.h"
#include "core/plan_file/reader.h"
#include "core/plan_file/writer.h"
#include "core/region/region_finish.h"
#include "core/region/region_signature.h"

typedef struct file_t {
  sample_library_t library;
  tenon__test_messages_t messages;
  const tenon_sink_t* sink;
  tenon__plan_t* plan; /* as made */
  uint8_t* data;
  size_t size;
} file_t;

static bool start(file_t* f) {
  memset(f, 0, sizeof *f);
  f->sink = tenon__test_listen(&f->messages);
  void* data = NULL;
  if (!sample_library_create(&f->library, f->sink)) {
    (void)fputs(f->messages.text, stderr);
    return false;
  }
  f->plan = sample_plan_create(&f->library, tenon__allocator_default(), f->sink);
  if (f->plan == NULL || tenon__plan_write(f->plan, tenon__allocator_default(), NULL, f->sink,
                                           &data, &f->size) != TENON_OK) {
    (void)fputs(f->messages.text, stderr);
    return false;
  }
  f->data = data;
  return true;
}

static void stop(file_t* f) {
  tenon__free(tenon__allocator_default(), f->data, f->size);
  tenon__plan_destroy(f->plan);
  sample_library_destroy(&f->library);
}

static tenon_status_t read_with(file_t* f, tenon_allocator_t allocator, tenon__plan_t** out_plan) {
  return tenon__plan_read(allocator,
                          &(tenon__plan_source_t){f->data, f->size, sample_find, &f->library},
                          tenon__test_listen(&f->messages), out_plan);
}

static tenon_status_t read_plan(file_t* f, tenon__plan_t** out_plan) {
  const tenon_status_t status = read_with(f, tenon__allocator_default(), out_plan);
  if (status != TENON_OK && f->messages.count == 0) {
    tenon__test_fail(__FILE__, __LINE__, "refused without a word");
  }
  return status;
}

/* Makes size and digest right again after the structure was changed. */
static void seal(file_t* f) {
  const tenon__digest_t digest =
      tenon__plan_file_digest(f->data, *(const uint64_t*)(const void*)(f->data + 24));
  memcpy(f->data + TENON_PLAN_DIGEST_OFFSET, &digest, sizeof digest);
}

TENON_TEST(what_was_written_is_read) {
  file_t f;
  tenon__plan_t* plan = NULL;
  REQUIRE(start(&f));
  EXPECT_STATUS(read_plan(&f, &plan), TENON_OK);
  if (plan == NULL) {
    (void)fputs(f.messages.text, stderr);
  }
  REQUIRE(plan != NULL);
  EXPECT_TEXT(plan->devices[0].name, "machine");
  EXPECT_TEXT(plan->devices[0].fingerprint, "a machine");
  EXPECT_TEXT(plan->patches, "fold: sum\n");
  EXPECT_INT(plan->thread_count, 2);
  EXPECT_INT(plan->flags, TENON_PLAN_STRICT);
  EXPECT_INT(plan->devices[0].scratch_bytes, f.plan->devices[0].scratch_bytes);
  EXPECT_INT(plan->plugin_count, 2);
  EXPECT_TEXT(plan->plugins[0].name, "test");
  EXPECT_INT(plan->plugins[0].digest.bytes[0], 9);
  EXPECT_INT(plan->schedule_count, f.plan->schedule_count);
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    const tenon__schedule_t* a = &f.plan->schedules[g];
    const tenon__schedule_t* b = &plan->schedules[g];
    EXPECT_INT(b->memory_bytes[0], a->memory_bytes[0]);
    EXPECT_INT(b->alive_bytes[0], a->alive_bytes[0]);
    EXPECT_INT(b->place_count, a->place_count);
    EXPECT_INT(b->step_count, a->step_count);
    for (uint32_t k = 0; k < a->place_count; ++k) {
      EXPECT_INT(b->places[k].storage, a->places[k].storage);
      EXPECT_INT(b->places[k].is_dynamic, a->places[k].is_dynamic);
      EXPECT_INT(b->places[k].offset, a->places[k].offset);
      EXPECT_INT(b->places[k].size_bytes, a->places[k].size_bytes);
    }
    for (uint32_t k = 0; k < a->step_count; ++k) {
      EXPECT_TEXT(b->steps[k].name, a->steps[k].name);
      EXPECT_INT(b->steps[k].is_dynamic, a->steps[k].is_dynamic);
      EXPECT_INT(b->steps[k].body_offset[0], a->steps[k].body_offset[0]);
    }
  }
  tenon__plan_destroy(plan);
  stop(&f);
}

TENON_TEST(steps_come_back_with_regions_and_tactics) {
  file_t f;
  tenon__plan_t* plan = NULL;
  REQUIRE(start(&f));
  EXPECT_STATUS(read_plan(&f, &plan), TENON_OK);
  REQUIRE(plan != NULL);
  const tenon__step_t* step = &plan->schedules[0].steps[1];
  EXPECT_TEXT(step->plugin, "test");
  EXPECT_TEXT(step->kernel, "plain");
  EXPECT_INT(step->kernel_version, 3);
  EXPECT_TEXT(step->validity, "library 7");
  EXPECT_NEAR(step->measured_seconds, 0.25, 0);
  EXPECT_TEXT(step->refusals, "other:kernel: was slower\n");
  EXPECT_TEXT(step->tactic.name, "tile 4");
  EXPECT_INT(step->tactic.configuration_size, 5);
  EXPECT(memcmp(step->tactic.configuration, "\1\2\3\4\5", 5) == 0);
  EXPECT_INT(step->tactic.output_rules[0].kind, TENON_LAYOUT_EXACT);
  EXPECT_TEXT(step->tactic.output_rules[0].layout->name, "columns");
  EXPECT_INT(step->tactic.output_rules[0].layout->order[0], 1);
  EXPECT_INT(step->tactic.input_rules[0].flags, TENON_RULE_STRIDED);
  EXPECT_INT(step->tactic.input_rules[1].kind, TENON_LAYOUT_FOLLOWS);
  EXPECT_INT(step->tactic.numerics.accumulator_dtype, TENON_DTYPE_FLOAT32);
  EXPECT_INT(step->region->covered_count, 2);
  EXPECT_INT(step->region->slot_count, 1);
  EXPECT_INT(step->region->value_count, 4); /* a, the slot's x, its output, the node's own */
  for (uint32_t k = 0; k < plan->schedules[0].step_count; ++k) {
    const struct tenon_region_t* region = plan->schedules[0].steps[k].region;
    if (region != NULL) {
      struct tenon_region_t made = *f.plan->schedules[0].steps[k].region;
      EXPECT_STATUS(tenon__region_finish(&f.plan->arena, &f.plan->profile, &made), TENON_OK);
      const tenon__digest_t before = tenon__region_signature(&made);
      const tenon__digest_t after = tenon__region_signature(region);
      EXPECT(memcmp(&before, &after, sizeof before) == 0);
    }
  }
  tenon__plan_destroy(plan);
  stop(&f);
}

TENON_TEST(parts_of_one_whole_share_its_map) {
  file_t f;
  tenon__plan_t* plan = NULL;
  const tenon__place_t* first = NULL;
  uint32_t count = 0;
  REQUIRE(start(&f));
  EXPECT_STATUS(read_plan(&f, &plan), TENON_OK);
  REQUIRE(plan != NULL);
  for (uint32_t k = 0; k < plan->schedules[0].place_count; ++k) {
    const tenon__place_t* place = &plan->schedules[0].places[k];
    if (place->storage == TENON_STORAGE_PART) {
      first = first == NULL ? place : first;
      EXPECT(place->base == first->base && place->map == first->map);
      ++count;
    }
  }
  EXPECT_INT(count, 2);
  tenon__plan_destroy(plan);
  stop(&f);
}

TENON_TEST(weights_are_used_where_they_lie) {
  file_t f;
  tenon__plan_t* plan = NULL;
  REQUIRE(start(&f));
  EXPECT_STATUS(read_plan(&f, &plan), TENON_OK);
  REQUIRE(plan != NULL);
  const tenon__weights_t* w = &plan->network->weights[0];
  const uint8_t* data = w->data;
  EXPECT(data > f.data && data + 16 <= f.data + f.size);
  EXPECT_INT((uintptr_t)data % 64, 0);
  EXPECT_NEAR(((const float*)w->data)[3], 4.0, 0);
  const tenon_string_view_t* labels = plan->network->weights[1].data;
  EXPECT_INT(labels[0].size, 3);
  EXPECT_INT(labels[1].size, 0);
  EXPECT(labels[2].size == 9 && memcmp(labels[2].data, "sea otter", 9) == 0);
  EXPECT_INT(plan->packed_count, 2);
  EXPECT_TEXT(plan->packed[0].format, "panel/1");
  EXPECT_INT(plan->packed[0].key.bytes[0], 1);
  EXPECT_NEAR(((const float*)plan->packed[0].data)[1], 6.0, 0);
  EXPECT_INT((uintptr_t)plan->packed[1].data % 64, 0);
  tenon__plan_destroy(plan);
  stop(&f);
}

TENON_TEST(weights_that_are_not_kept_leave_their_digest) {
  file_t f;
  tenon__plan_t* plan = NULL;
  REQUIRE(start(&f));
  const bool kept[2] = {false, true};
  void* data = NULL;
  f.plan->weights_kept = kept;
  tenon__free(tenon__allocator_default(), f.data, f.size);
  EXPECT_STATUS(tenon__plan_write(f.plan, tenon__allocator_default(), NULL, f.sink, &data, &f.size),
                TENON_OK);
  f.data = data;
  const tenon__digest_t digest = *tenon__weights_digest(f.plan->network, 0);
  EXPECT_STATUS(read_plan(&f, &plan), TENON_OK);
  REQUIRE(plan != NULL);
  EXPECT(plan->network->weights[0].data == NULL);
  EXPECT(plan->network->weights[1].data != NULL);
  EXPECT(!plan->weights_kept[0] && plan->weights_kept[1]);
  EXPECT(memcmp(tenon__weights_digest(plan->network, 0), &digest, sizeof digest) == 0);
  tenon__plan_destroy(plan);
  stop(&f);
}

TENON_TEST(the_same_plan_gives_the_same_bytes) {
  file_t a;
  file_t b;
  REQUIRE(start(&a));
  REQUIRE(start(&b));
  EXPECT_INT(a.size, b.size);
  EXPECT(a.size == b.size && memcmp(a.data, b.data, a.size) == 0);
  /* And what was read is written as it was. */
  tenon__plan_t* plan = NULL;
  void* again = NULL;
  size_t size = 0;
  EXPECT_STATUS(read_plan(&a, &plan), TENON_OK);
  REQUIRE(plan != NULL);
  EXPECT_STATUS(tenon__plan_write(plan, tenon__allocator_default(), NULL, a.sink, &again, &size),
                TENON_OK);
  EXPECT_INT(size, a.size);
  EXPECT(again != NULL && memcmp(again, a.data, size) == 0);
  tenon__free(tenon__allocator_default(), again, size);
  tenon__plan_destroy(plan);
  stop(&a);
  stop(&b);
}

TENON_TEST(plans_without_their_operators_are_read) {
  file_t f;
  tenon__plan_t* plan = NULL;
  REQUIRE(start(&f));
  EXPECT_STATUS(
      tenon__plan_read(tenon__allocator_default(),
                       &(tenon__plan_source_t){f.data, f.size, sample_find, NULL}, f.sink, &plan),
      TENON_OK);
  tenon__plan_destroy(plan);
  stop(&f);
}

TENON_TEST(changed_weights_are_found) {
  file_t f;
  tenon__plan_t* plan = NULL;
  REQUIRE(start(&f));
  EXPECT_STATUS(read_plan(&f, &plan), TENON_OK);
  REQUIRE(plan != NULL);
  EXPECT_STATUS(tenon__plan_verify(plan, false, f.sink), TENON_OK);
  uint8_t* w = (uint8_t*)plan->network->weights[0].data;
  w[5] ^= 1;
  EXPECT_STATUS(tenon__plan_verify(plan, false, tenon__test_listen(&f.messages)),
                TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(f.messages.text, "weights 'w'");
  w[5] ^= 1;
  uint8_t* packed = (uint8_t*)plan->packed[1].data;
  packed[2] ^= 1;
  EXPECT_STATUS(tenon__plan_verify(plan, false, tenon__test_listen(&f.messages)),
                TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(f.messages.text, "'blob'");
  tenon__plan_destroy(plan);
  stop(&f);
}

/* ---- What is refused ---- */

TENON_TEST(refuses_other_files_and_versions) {
  file_t f;
  tenon__plan_t* plan = NULL;
  REQUIRE(start(&f));
  f.data[8] = TENON_PLAN_VERSION + 1;
  EXPECT_STATUS(read_plan(&f, &plan), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(f.messages.text, "format 13");
  f.data[8] = TENON_PLAN_VERSION;
  f.data[0] = 'X';
  EXPECT_STATUS(read_plan(&f, &plan), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(f.messages.text, "no plan");
  stop(&f);
}

TENON_TEST(refuses_every_truncation) {
  file_t f;
  tenon__plan_t* plan = NULL;
  REQUIRE(start(&f));
  const size_t size = f.size;
  for (f.size = 0; f.size < size; f.size += f.size < 200 ? 1 : 97) {
    EXPECT_STATUS(read_plan(&f, &plan), TENON_ERROR_INVALID_DATA);
  }
  f.size = size;
  stop(&f);
}

TENON_TEST(refuses_every_changed_byte_of_the_structure) {
  file_t f;
  tenon__plan_t* plan = NULL;
  REQUIRE(start(&f));
  const size_t end = TENON_PLAN_HEADER_SIZE + (size_t)f.data[24] + ((size_t)f.data[25] << 8);
  for (size_t k = 0; k < end; k += k < 200 ? 1 : 41) {
    f.data[k] ^= 0x40;
    EXPECT(read_plan(&f, &plan) != TENON_OK);
    f.data[k] ^= 0x40;
  }
  stop(&f);
}

/* With the digest made right again a changed byte may change a value; memory stays safe, and the
 * sanitizers watch. */
TENON_TEST(survives_every_changed_byte) {
  file_t f;
  REQUIRE(start(&f));
  const size_t end = TENON_PLAN_HEADER_SIZE + (size_t)f.data[24] + ((size_t)f.data[25] << 8);
  static const uint8_t replacements[] = {0x00, 0x01, 0x7f, 0xff};
  uint32_t refused = 0;
  for (size_t k = TENON_PLAN_HEADER_SIZE; k < end; ++k) {
    const uint8_t old = f.data[k];
    tenon__plan_t* plan = NULL;
    f.data[k] = replacements[k % 4] == old ? (uint8_t)(old + 1) : replacements[k % 4];
    seal(&f);
    if (read_plan(&f, &plan) != TENON_OK) {
      ++refused;
    }
    tenon__plan_destroy(plan);
    f.data[k] = old;
  }
  EXPECT(refused > end / 4);
  stop(&f);
}

TENON_TEST(refuses_plans_at_odd_addresses) {
  file_t f;
  tenon__plan_t* plan = NULL;
  REQUIRE(start(&f));
  EXPECT_STATUS(
      tenon__plan_read(tenon__allocator_default(),
                       &(tenon__plan_source_t){f.data + 8, f.size - 8, sample_find, &f.library},
                       f.sink, &plan),
      TENON_ERROR_INVALID_ARGUMENT);
  stop(&f);
}

/* ---- Failing allocations ---- */

static bool write_once(tenon_allocator_t allocator, void* user) {
  file_t* f = user;
  void* data = NULL;
  size_t size = 0;
  const tenon_status_t status = tenon__plan_write(f->plan, allocator, NULL, f->sink, &data, &size);
  tenon__free(allocator, data, size);
  return status == TENON_OK;
}

static bool read_once(tenon_allocator_t allocator, void* user) {
  file_t* f = user;
  tenon__plan_t* plan = NULL;
  const tenon_status_t status = read_with(f, allocator, &plan);
  tenon__plan_destroy(plan);
  if (status != TENON_OK && status != TENON_ERROR_OUT_OF_MEMORY) {
    tenon__test_fail(__FILE__, __LINE__, "%s instead of out of memory: %s",
                     tenon__status_text(status), f->messages.text);
  }
  return status == TENON_OK;
}

TENON_TEST(every_failing_allocation_is_reported) {
  file_t f;
  REQUIRE(start(&f));
  tenon__test_each_allocation(write_once, &f);
  tenon__test_each_allocation(read_once, &f);
  stop(&f);
}

/* ---- Reports ---- */

TENON_TEST(steps_describe_themselves) {
  file_t f;
  tenon__step_report_t report;
  REQUIRE(start(&f));
  EXPECT_STATUS(tenon__step_describe(f.plan, 0, 1, &f.plan->arena, &report), TENON_OK);
  EXPECT_TEXT(report.kind, "kernel");
  EXPECT_TEXT(report.nodes, "twist, scale");
  EXPECT_CONTAINS(report.expression, "+");
  EXPECT_CONTAINS(report.inputs, "f32[batch,4] row-major");
  EXPECT_CONTAINS(report.inputs, ", x f32[batch,4] row-major");
  EXPECT_CONTAINS(report.outputs, "f32[batch,4] order 1-0");
  EXPECT_TEXT(report.layout, "order 1-0");
  EXPECT_STATUS(tenon__step_describe(f.plan, 0, 2, &f.plan->arena, &report), TENON_OK);
  EXPECT_TEXT(report.kind, "copy");
  EXPECT_TEXT(report.nodes, "");
  EXPECT_STATUS(tenon__step_describe(f.plan, 0, 6, &f.plan->arena, &report), TENON_OK);
  EXPECT_TEXT(report.kind, "choose");
  EXPECT_TEXT(report.nodes, "choose");
  EXPECT_CONTAINS(report.inputs, "condition bool[] row-major");
  EXPECT_CONTAINS(report.inputs, "f32[4,batch] view");
  EXPECT_STATUS(tenon__step_describe(f.plan, 0, 7, &f.plan->arena, &report), TENON_OK);
  EXPECT_TEXT(report.kind, "contents");
  EXPECT_STATUS(tenon__step_describe(f.plan, 0, 3, &f.plan->arena, &report), TENON_OK);
  EXPECT_CONTAINS(report.layout, "row-major, part of ");
  stop(&f);
}

/* The second branch of the choice cannot run. */
static tenon__schedule_t* fail_branch(file_t* f) {
  uint32_t branch = 1;
  tenon__network_t* network = f->plan->network;
  while (strcmp(network->graphs[branch]->name, "else") != 0) {
    ++branch;
  }
  EXPECT_STATUS(tenon__graph_fail(network, branch, TENON_ERROR_UNSUPPORTED, "it is bad"), TENON_OK);
  tenon__graph_empty(network, branch);
  f->plan->schedules[branch].output_count = 0;
  return &f->plan->schedules[branch];
}

TENON_TEST(a_branch_that_cannot_run_is_read) {
  file_t f;
  void* file = NULL;
  tenon__plan_t* plan = NULL;
  REQUIRE(start(&f));
  tenon__schedule_t* schedule = fail_branch(&f);
  schedule->step_count = 0;
  schedule->place_count = 1;
  EXPECT_STATUS(tenon__plan_memory(f.plan, f.sink), TENON_OK);
  tenon__free(tenon__allocator_default(), f.data, f.size);
  EXPECT_STATUS(tenon__plan_write(f.plan, tenon__allocator_default(), NULL, f.sink, &file, &f.size),
                TENON_OK);
  f.data = file;
  EXPECT_STATUS(read_plan(&f, &plan), TENON_OK);
  EXPECT_TEXT(f.messages.text, "");
  REQUIRE(plan != NULL);
  const uint32_t branch = (uint32_t)(schedule - f.plan->schedules);
  EXPECT_TEXT(plan->network->graphs[branch]->fault, "it is bad");
  EXPECT_INT(plan->network->graphs[branch]->fault_status, TENON_ERROR_UNSUPPORTED);
  EXPECT_INT(plan->schedules[branch].step_count, 0);
  tenon__step_report_t report;
  uint32_t choice = 0;
  while (plan->schedules[0].steps[choice].kind != TENON_STEP_CHOOSE) {
    ++choice;
  }
  EXPECT_STATUS(tenon__step_describe(plan, 0, choice, &plan->arena, &report), TENON_OK);
  EXPECT_TEXT(report.faults, "'else' cannot run: it is bad\n");
  tenon__plan_destroy(plan);
  stop(&f);
}

TENON_TEST(a_branch_that_cannot_run_has_no_steps) {
  file_t f;
  void* file = NULL;
  tenon__plan_t* plan = NULL;
  REQUIRE(start(&f));
  (void)fail_branch(&f);
  tenon__free(tenon__allocator_default(), f.data, f.size);
  f.data = NULL;
  EXPECT_STATUS(tenon__plan_write(f.plan, tenon__allocator_default(), NULL, f.sink, &file, &f.size),
                TENON_OK);
  f.data = file;
  EXPECT_STATUS(read_plan(&f, &plan), TENON_ERROR_INVALID_DATA);
  stop(&f);
}

/* Weights that not every run reads lie behind all that is read, packed weights included. */
TENON_TEST(cold_weights_lie_apart) {
  file_t f;
  REQUIRE(start(&f));
  const bool hot[] = {false, true};
  void* file = NULL;
  size_t size = 0;
  f.plan->weights_hot = hot;
  REQUIRE(tenon__plan_write(f.plan, tenon__allocator_default(), NULL, NULL, &file, &size) ==
          TENON_OK);
  tenon__plan_t* plan = NULL;
  REQUIRE(tenon__plan_read(tenon__allocator_default(),
                           &(tenon__plan_source_t){file, size, sample_find, &f.library}, NULL,
                           &plan) == TENON_OK);
  const uint8_t* cold = (const uint8_t*)file + tenon__plan_cold_offset(file, size);
  EXPECT(plan->cold_data == cold && plan->cold_size == (size_t)((uint8_t*)file + size - cold));
  EXPECT((const uint8_t*)plan->network->weights[0].data >= cold);
  /* Strings: their texts are in the file. */
  const tenon_string_view_t* labels = plan->network->weights[1].data;
  EXPECT((const uint8_t*)labels[0].data < cold && (const void*)labels[0].data > file);
  for (uint32_t k = 0; k < plan->packed_count; ++k) {
    EXPECT((const uint8_t*)plan->packed[k].data + plan->packed[k].size_bytes <= cold);
  }
  tenon__plan_destroy(plan);
  tenon__free(tenon__allocator_default(), file, size);
  stop(&f);
}
