/* Kernels of the device `far`: when they compute, on what, and what they find wrong. The kernel is
 * the one for moves: its call copies x into y, `MOST` bytes. */
#include "device_world.h"
#include "plugins/reference/kernels.h"
#include "tests/support/kernel_host.h"

enum { MOST = 64 };

/* ---- One bound kernel ---- */

/* The first member is what the fake host's tables take it for. */
typedef struct scene_t {
  fake_t fake;
  world_t world;
  const tenon_kernel_t* kernel;
  tenon_stream_t* stream; /* what the run gives: perhaps NULL */
  void* instance;
  void* bound;
  char* x;
  char* y;
  char* scratch;
  char* zeroed;
  char* persistent;
} scene_t;

static const int64_t extent[] = {MOST};
static const int64_t begin[] = {0};
static const int64_t one[] = {1};
static const tenon_move_piece_t piece = {.begin = begin, .extent = extent, .strides = one};
static const tenon_move_t move = {
    .rank = 1, .piece_count = 1, .fill_argument = TENON_NONE, .covers_output = 1, .pieces = &piece};

static scene_t* scene_of(const void* handle) {
  return (scene_t*)handle; /* const for its users alone */
}

static tenon_status_t keep_tactic(tenon_emit_t* emit, const tenon_tactic_t* tactic) {
  fake_keep_tactic(&scene_of(emit)->fake, tactic);
  return TENON_OK;
}

static const tenon_kernel_t* find_kernel(const world_t* world, const char* name) {
  const tenon_offering_t* offering = far_plugin_offering(world->plugin, "kernel/1");
  const tenon_kernel_t* kernels = offering->items.items;
  for (uint32_t index = 0; index < offering->items.count; ++index) {
    if (strcmp(kernels[index].name, name) == 0) {
      return &kernels[index];
    }
  }
  return NULL;
}

static tenon_argument_t bytes_at(void* data) {
  return (tenon_argument_t){.kind = TENON_ARGUMENT_TENSOR,
                            .tensor = {.data = data,
                                       .dims = extent,
                                       .strides = one,
                                       .rank = 1,
                                       .dtype = TENON_DTYPE_UINT8,
                                       .layout = TENON_NONE}};
}

/* Prepares and binds; `fake` has kind, operator and arguments. */
static void scene_bind(scene_t* s) {
  const tenon_region_t* region = (const tenon_region_t*)(void*)s;
  EXPECT_STATUS(
      s->kernel->tactics(NULL, region, &fake_region_table, (tenon_emit_t*)(void*)s, keep_tactic),
      TENON_OK);
  const tenon_prepare_t making = fake_prepare_call(&s->fake, NULL);
  EXPECT_STATUS(s->kernel->prepare(&making, &s->instance), TENON_OK);
  EXPECT_STATUS(
      s->kernel->bind(s->instance, (tenon_binding_t*)(void*)s, &fake_bind_table, &s->bound),
      TENON_OK);
  s->scratch = world_allocate(&s->world, s->fake.tactic.scratch_bytes);
  s->zeroed = world_allocate(&s->world, s->fake.tactic.zeroed_bytes);
  s->persistent = world_allocate(&s->world, s->fake.tactic.persistent_bytes);
  EXPECT_STATUS(s->world.table->fill(s->world.device, NULL, s->zeroed, 0, 64), TENON_OK);
  EXPECT_STATUS(s->world.table->fill(s->world.device, NULL, s->persistent, 0, 64), TENON_OK);
}

static bool scene_open(scene_t* s, const char* kernel) {
  memset(s, 0, sizeof(*s));
  if (!world_open(&s->world, 0)) {
    return false;
  }
  world_set(&s->world, FAR_SETTING_LAZY, 1);
  s->stream = s->world.stream;
  s->kernel = find_kernel(&s->world, kernel);
  s->x = world_allocate(&s->world, MOST);
  s->y = world_allocate(&s->world, MOST);
  s->fake.inputs[0] = bytes_at(s->x);
  s->fake.outputs[0] = bytes_at(s->y);
  s->fake.input_count = 1;
  s->fake.output_count = 1;
  return s->kernel != NULL;
}

static bool scene_open_move(scene_t* s) {
  const bool open = scene_open(s, "moves");
  if (open) {
    s->fake.kind = TENON_REGION_MOVE;
    s->fake.move = &move;
    scene_bind(s);
    EXPECT_STATUS(s->world.table->fill(s->world.device, NULL, s->x, 'x', MOST), TENON_OK);
  }
  return open;
}

static void scene_close(scene_t* s) {
  world_free(&s->world, s->x, MOST);
  world_free(&s->world, s->y, MOST);
  world_free(&s->world, s->scratch, s->fake.tactic.scratch_bytes);
  world_free(&s->world, s->zeroed, s->fake.tactic.zeroed_bytes);
  world_free(&s->world, s->persistent, s->fake.tactic.persistent_bytes);
  fake_done(&s->fake);
  world_close(&s->world);
}

/* ---- One call ---- */

static void* scratch_of(tenon_run_t* r) {
  return scene_of(r)->scratch;
}
static void* zeroed_of(tenon_run_t* r) {
  return scene_of(r)->zeroed;
}
static void* persistent_of(tenon_run_t* r) {
  return scene_of(r)->persistent;
}
static tenon_stream_t* stream_of(tenon_run_t* r) {
  return scene_of(r)->stream;
}
/* The extents that were found; the bytes are y's. */
static tenon_status_t allocate_output(tenon_run_t* r, uint32_t output, uint32_t rank,
                                      const int64_t* dims, void** out_data) {
  scene_t* s = scene_of(r);
  (void)output;
  memcpy(s->fake.space, dims, rank * sizeof(int64_t));
  *out_data = s->y;
  return TENON_OK;
}
static const tenon_run_table_t run_table = {.size = sizeof(run_table),
                                            .scratch = scratch_of,
                                            .zeroed = zeroed_of,
                                            .persistent = persistent_of,
                                            .stream = stream_of,
                                            .allocate_output = allocate_output,
                                            .fail = fake_fail};

static tenon_status_t scene_enqueue(scene_t* s, const tenon_argument_t* x,
                                    const tenon_argument_t* y) {
  tenon_enqueue_t call = fake_enqueue_call(&s->fake, s->instance, s->bound);
  call.host = &run_table;
  call.inputs = x;
  call.outputs = y;
  return s->kernel->enqueue(&call);
}

/* y = x, and what the stream says. */
static tenon_status_t scene_run(scene_t* s) {
  const tenon_status_t status = scene_enqueue(s, s->fake.inputs, s->fake.outputs);
  EXPECT_STATUS(status, TENON_OK);
  return world_synchronize(&s->world);
}

static void expect_words(const scene_t* s, const char* part) {
  char words[256];
  s->world.far->words(0, words, sizeof(words));
  EXPECT_CONTAINS(words, part);
}

/* ---- The cases ---- */

TENON_TEST(a_kernel_computes_when_the_stream_gets_there) {
  scene_t s;
  REQUIRE(scene_open_move(&s));
  int64_t dims[] = {MOST};
  tenon_argument_t x = s.fake.inputs[0];
  tenon_argument_t y = s.fake.outputs[0];
  x.tensor.dims = dims;
  y.tensor.dims = dims;
  EXPECT_STATUS(scene_enqueue(&s, &x, &y), TENON_OK);
  /* The call's arguments are the call's: what becomes of them is nothing to the stream. */
  memset(&x, 0xff, sizeof(x));
  memset(&y, 0xff, sizeof(y));
  dims[0] = -1;
  EXPECT_INT(world_byte(&s.world, s.y), 0xDA);
  EXPECT_INT(world_calls(&s.world, FAR_CALL_KERNEL), 1);
  EXPECT_INT(world_calls(&s.world, FAR_CALL_WORK), 4); /* the fills and the look */
  EXPECT_STATUS(world_synchronize(&s.world), TENON_OK);
  EXPECT_INT(world_byte(&s.world, s.y + MOST - 1), 'x');
  scene_close(&s);
}

TENON_TEST(calls_in_flight_have_addresses_of_their_own) {
  scene_t s;
  REQUIRE(scene_open_move(&s));
  char* z = world_allocate(&s.world, MOST);
  const tenon_argument_t in_z = bytes_at(z);
  EXPECT_STATUS(scene_enqueue(&s, s.fake.inputs, s.fake.outputs), TENON_OK);
  EXPECT_STATUS(scene_enqueue(&s, s.fake.outputs, &in_z), TENON_OK);
  EXPECT_STATUS(world_synchronize(&s.world), TENON_OK);
  EXPECT_INT(world_byte(&s.world, z), 'x');
  world_free(&s.world, z, MOST);
  scene_close(&s);
}

TENON_TEST(without_a_stream_a_kernel_computes_at_once) {
  scene_t s;
  REQUIRE(scene_open_move(&s));
  s.stream = NULL;
  EXPECT_STATUS(scene_enqueue(&s, s.fake.inputs, s.fake.outputs), TENON_OK);
  EXPECT_INT(world_byte(&s.world, s.y), 'x');
  scene_close(&s);
}

TENON_TEST(a_call_is_recorded) {
  scene_t s;
  void* recording = NULL;
  REQUIRE(scene_open_move(&s));
  const tenon_device_descriptor_t* table = s.world.table;
  EXPECT_INT(s.fake.tactic.flags, TENON_TACTIC_RECORDABLE);
  EXPECT_STATUS(table->begin_record(s.world.device, s.stream), TENON_OK);
  EXPECT_STATUS(scene_enqueue(&s, s.fake.inputs, s.fake.outputs), TENON_OK);
  EXPECT_STATUS(table->end_record(s.world.device, s.stream, &recording), TENON_OK);
  for (int round = 'a'; round < 'd'; ++round) {
    EXPECT_STATUS(table->fill(s.world.device, s.stream, s.x, round, MOST), TENON_OK);
    EXPECT_STATUS(table->replay(s.world.device, s.stream, recording), TENON_OK);
    EXPECT_STATUS(world_synchronize(&s.world), TENON_OK);
    EXPECT_INT(world_byte(&s.world, s.y), round);
  }
  table->destroy_recording(s.world.device, recording);
  scene_close(&s);
}

TENON_TEST(kernels_fail_as_asked) {
  scene_t s;
  REQUIRE(scene_open_move(&s));
  s.world.far->fail(0, FAR_CALL_KERNEL, 2, TENON_ERROR_OUT_OF_MEMORY);
  EXPECT_STATUS(scene_run(&s), TENON_OK);
  EXPECT_STATUS(scene_enqueue(&s, s.fake.inputs, s.fake.outputs), TENON_ERROR_OUT_OF_MEMORY);
  s.world.far->fail(0, FAR_CALL_WORK, 1, TENON_ERROR_DEVICE);
  EXPECT_STATUS(scene_run(&s), TENON_ERROR_DEVICE);
  EXPECT_STATUS(scene_run(&s), TENON_OK);
  scene_close(&s);
}

/* A host that gives memory of its own, or what is freed before the stream gets there. */
TENON_TEST(arguments_are_the_devices_memory_until_the_call_is_done) {
  scene_t s;
  char here[MOST] = "";
  REQUIRE(scene_open_move(&s));
  world_set(&s.world, FAR_SETTING_TOLERANT, 1);
  const tenon_argument_t on_host = bytes_at(here);
  EXPECT_STATUS(scene_enqueue(&s, &on_host, s.fake.outputs), TENON_OK);
  EXPECT_STATUS(world_synchronize(&s.world), TENON_ERROR_INVALID_ARGUMENT);
  expect_words(&s, "moves: 64 bytes at");
  expect_words(&s, "are not in its memory");
  char* z = world_allocate(&s.world, MOST);
  const tenon_argument_t in_z = bytes_at(z);
  EXPECT_STATUS(scene_enqueue(&s, &in_z, s.fake.outputs), TENON_OK);
  world_free(&s.world, z, MOST);
  EXPECT_STATUS(world_synchronize(&s.world), TENON_ERROR_INVALID_ARGUMENT);
  expect_words(&s, "not allocated");
  const tenon_argument_t beyond = bytes_at(s.x + 1);
  EXPECT_STATUS(scene_enqueue(&s, &beyond, s.fake.outputs), TENON_OK);
  EXPECT_STATUS(world_synchronize(&s.world), TENON_ERROR_INVALID_ARGUMENT);
  expect_words(&s, "more than was allocated there");
  s.stream = NULL;
  char* scratch = s.scratch;
  s.scratch = here;
  EXPECT_STATUS(scene_enqueue(&s, s.fake.inputs, s.fake.outputs), TENON_ERROR_INVALID_ARGUMENT);
  expect_words(&s, "its scratch");
  s.scratch = scratch;
  EXPECT_INT(world_counts(&s.world).mistakes, 4);
  scene_close(&s);
}

/* What each kernel asks for besides, and looks at. */
TENON_TEST(memory_of_a_tactic_is_looked_at) {
  scene_t s;
  REQUIRE(scene_open_move(&s));
  const tenon_device_descriptor_t* table = s.world.table;
  EXPECT_STATUS(scene_run(&s), TENON_OK);
  EXPECT_INT(world_byte(&s.world, s.zeroed), 0);
  EXPECT_STATUS(table->fill(s.world.device, NULL, s.zeroed + 63, 7, 1), TENON_OK);
  EXPECT_STATUS(scene_run(&s), TENON_ERROR_INTERNAL);
  expect_words(&s, "moves: zeroed memory is not zero");
  EXPECT_STATUS(table->fill(s.world.device, NULL, s.zeroed, 0, 64), TENON_OK);
  EXPECT_STATUS(table->fill(s.world.device, NULL, s.persistent, 7, 1), TENON_OK);
  EXPECT_STATUS(scene_run(&s), TENON_ERROR_INTERNAL);
  expect_words(&s, "moves: persistent memory was changed");
  EXPECT_STATUS(table->fill(s.world.device, NULL, s.persistent, 0, 64), TENON_OK);
  /* An output where the scratch is. */
  const tenon_argument_t in_scratch = bytes_at(s.scratch);
  EXPECT_STATUS(scene_enqueue(&s, s.fake.inputs, &in_scratch), TENON_OK);
  EXPECT_STATUS(world_synchronize(&s.world), TENON_ERROR_INTERNAL);
  expect_words(&s, "moves: scratch was changed by something else");
  /* A call that failed leaves its zeroed memory as it was in the middle of it. */
  EXPECT_INT(world_byte(&s.world, s.zeroed), 1);
  scene_close(&s);
}

TENON_TEST(a_kernel_that_finds_extents_waits) {
  scene_t s;
  tenon__test_messages_t messages;
  void* recording = NULL;
  REQUIRE(scene_open(&s, "nonzero"));
  s.fake.kind = TENON_REGION_OPERATOR;
  s.fake.op = "standard.nonzero/1";
  s.fake.node_input_count = 1;
  s.fake.outputs[0].kind = TENON_ARGUMENT_ALLOCATE;
  s.fake.outputs[0].tensor = (tenon_tensor_view_t){.dtype = TENON_DTYPE_INT64};
  scene_bind(&s);
  EXPECT_INT(s.fake.tactic.flags, TENON_TACTIC_HOST_WAITS | TENON_TACTIC_RECORDABLE);
  EXPECT_INT(s.fake.tactic.outputs[0].flags, TENON_RULE_EXTENTS);
  const tenon_device_descriptor_t* table = s.world.table;
  EXPECT_STATUS(table->fill(s.world.device, s.stream, s.x, 0, MOST), TENON_OK);
  EXPECT_STATUS(table->fill(s.world.device, s.stream, s.x + 40, 1, 2), TENON_OK);
  EXPECT_STATUS(scene_enqueue(&s, s.fake.inputs, s.fake.outputs), TENON_OK);
  int64_t found[2] = {0};
  EXPECT_STATUS(world_read(&s.world, NULL, found, s.y, sizeof(found)), TENON_OK);
  EXPECT_INT(s.fake.space[1], 2);
  EXPECT_INT(found[0], 40);
  EXPECT_INT(found[1], 41);
  EXPECT_INT(world_counts(&s.world).kernel_waits, 1);
  /* It waits, so it cannot be recorded; and it goes no further than a failure. */
  EXPECT_STATUS(table->begin_record(s.world.device, s.stream), TENON_OK);
  EXPECT_STATUS(scene_enqueue(&s, s.fake.inputs, s.fake.outputs), TENON_ERROR_INVALID_STATE);
  EXPECT_STATUS(table->end_record(s.world.device, s.stream, &recording), TENON_ERROR_INVALID_STATE);
  s.world.far->fail(0, FAR_CALL_WORK, 1, TENON_ERROR_INTERNAL);
  EXPECT_STATUS(table->fill(s.world.device, s.stream, s.x, 0, MOST), TENON_OK);
  EXPECT_STATUS(scene_enqueue(&s, s.fake.inputs, s.fake.outputs), TENON_ERROR_INTERNAL);
  EXPECT_STATUS(world_synchronize(&s.world), TENON_ERROR_INTERNAL);
  EXPECT_INT(world_counts(&s.world).kernel_waits, 1);
  EXPECT_STATUS(table->health(s.world.device, tenon__test_listen(&messages)), TENON_OK);
  scene_close(&s);
}

/* All that the reference has, but texts, sequences and random numbers: those that no case of the
 * device's runs would be missed here. */
TENON_TEST(the_reference_has_its_twin) {
  static const char* const reference[] = {
#define NAME(name, scratch, flags, attributes) #name,
      TENON__KERNELS(NAME)
#undef NAME
  };
  static const char* const without[] = {"random_",  "bernoulli", "multinomial", "string_",
                                        "sequence", "optional_", "text_to_",    "_to_text"};
  world_t w;
  REQUIRE(world_find(&w));
  for (size_t k = 0; k < sizeof(reference) / sizeof(reference[0]); ++k) {
    bool left_out = false;
    for (size_t part = 0; part < sizeof(without) / sizeof(without[0]); ++part) {
      left_out = left_out || strstr(reference[k], without[part]) != NULL;
    }
    if ((find_kernel(&w, reference[k]) == NULL) != left_out) {
      tenon__test_fail(__FILE__, __LINE__, "%s", reference[k]);
    }
  }
}
