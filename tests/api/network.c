/* A network of several layers through its whole life: looked at, built, saved, loaded, verified,
 * with additional outputs. */
#include "tests/api/lenet.h"
#include "tests/support/plugin_folder.h"

typedef struct text_t {
  char data[16384];
} text_t;

static void collect(void* user, const char* text) {
  text_t* kept = user;
  const size_t used = strlen(kept->data);
  (void)snprintf(kept->data + used, sizeof kept->data - used, "%s", text);
}

static bool begin(session_t* s) {
  if (!session_begin(s, NULL)) {
    return false;
  }
  lenet_build(s);
  s->tolerance = 1e-5; /* sums of up to 54 products; softmax damps what they lose */
  return true;
}

TENON_TEST(computes_what_the_peers_compute) {
  session_t s;
  REQUIRE(begin(&s));
  session_check(&s);
  session_end(&s);
}

TENON_TEST(tells_what_is_in_it) {
  session_t s;
  tenon_io_info_t info = {.size = sizeof(info)};
  static text_t text;
  static text_t values;
  REQUIRE(begin(&s));
  EXPECT_INT(tenon_network_input_count(s.network), 1);
  EXPECT_INT(tenon_network_output_count(s.network), 1);
  EXPECT_STATUS(tenon_network_get_input(s.network, 0, &info), TENON_OK);
  EXPECT_TEXT(info.name, "lenet.x");
  EXPECT_INT(info.rank, 4);
  EXPECT_INT(info.dims[3], 12);
  EXPECT_STATUS(tenon_network_get_output(s.network, 0, &info), TENON_OK);
  EXPECT_TEXT(info.name, "lenet.y");
  EXPECT_INT(info.dims[1], 10);
  EXPECT_STATUS(tenon_network_get_output(s.network, 1, &info), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_INT(tenon_network_file_count(s.network), 0);
  EXPECT(tenon_network_get_file(s.network, 0) == NULL);
  tenon_network_print(s.network, collect, &text);
  EXPECT_CONTAINS(text.data, "conv1");
  tenon_network_print_values(s.network, collect, &values);
  EXPECT_CONTAINS(values.data, "pool1\nconv2\n");
  session_end(&s);
}

typedef struct walked_t {
  text_t text;
  uint32_t kinds; /* of items, in order: the last one */
  uint32_t left;  /* visits until it stops; 0: never */
} walked_t;

static int32_t note_item(void* user, const tenon_network_item_t* item) {
  walked_t* walked = user;
  EXPECT(item->kind >= walked->kinds);
  walked->kinds = item->kind;
  collect(&walked->text, item->kind == TENON_ITEM_NODE && item->op != NULL ? item->op : item->name);
  collect(&walked->text, "\n");
  const tenon_attribute_t* attributes = item->attributes.items;
  for (uint32_t i = 0; i < item->attributes.count; ++i) {
    if (strcmp(attributes[i].name, "kernel_shape") == 0) {
      EXPECT_INT(attributes[i].count, 2);
      EXPECT_INT(attributes[i].integers[1], 2);
    }
  }
  return walked->left > 0 && --walked->left == 0 ? TENON_ERROR_CANCELLED : TENON_OK;
}

/* A program that an older header compiled has room for fewer members. */
TENON_TEST(results_end_where_the_caller_says) {
  session_t s;
  tenon_io_info_t info;
  REQUIRE(begin(&s));
  memset(&info, 0x5A, sizeof(info));
  info.size = offsetof(tenon_io_info_t, rank);
  EXPECT_STATUS(tenon_network_get_input(s.network, 0, &info), TENON_OK);
  EXPECT_TEXT(info.name, "lenet.x");
  EXPECT_INT(info.size, offsetof(tenon_io_info_t, rank));
  EXPECT_INT(info.rank, 0x5A5A5A5A);
  info.size = 0;
  EXPECT_STATUS(tenon_network_get_input(s.network, 0, &info), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "begin with TENON_OPTIONS(tenon_io_info_t)");
  EXPECT_STATUS(tenon_network_get_input(s.network, 0, NULL), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "argument 'out_info' is NULL");
  session_end(&s);
}

/* A later header may have longer items: the list says how far they are apart. */
TENON_TEST(lists_are_read_by_their_stride) {
  static const struct {
    tenon_attribute_t known;
    uint64_t added;
  } longer[] = {{{.name = "axis", .kind = TENON_ATTRIBUTE_INT, .integer = 1}, 7},
                {{.name = "keepdims", .kind = TENON_ATTRIBUTE_INT, .integer = 9}, 7}};
  const tenon_list_t list = TENON_LIST(longer);
  session_t s;
  tenon_value_t x = {0};
  tenon_value_t y = {0};
  REQUIRE(session_begin(&s, NULL));
  EXPECT_STATUS(
      tenon_network_add_input(s.network, "x", TENON_DTYPE_FLOAT32, 2, (int64_t[]){2, 3}, &x),
      TENON_OK);
  EXPECT_STATUS(tenon_network_add(s.network, "standard.arg_max/1", NULL, &x, 1, &list, &y, 1),
                TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(tenon_last_message(), "keepdims");
  session_end(&s);
}

/* Inputs, outputs, nodes, each after what it needs. */
TENON_TEST(is_walked) {
  session_t s;
  static walked_t walked;
  static walked_t stopped;
  REQUIRE(begin(&s));
  EXPECT_STATUS(tenon_network_walk(s.network, note_item, &walked), TENON_OK);
  EXPECT(strstr(walked.text.data, "lenet.x\nlenet.y\nstandard.convolution/1\n") ==
         walked.text.data);
  EXPECT_CONTAINS(walked.text.data, "standard.max_pool/1\n");
  stopped.left = 2;
  EXPECT_STATUS(tenon_network_walk(s.network, note_item, &stopped), TENON_ERROR_CANCELLED);
  EXPECT_TEXT(stopped.text.data, "lenet.x\nlenet.y\n");
  EXPECT_CONTAINS(tenon_last_message(), "tenon_network_walk");
  EXPECT_STATUS(tenon_network_walk(s.network, NULL, NULL), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_STATUS(tenon_network_walk(NULL, note_item, &walked), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "tenon_network_walk: argument 'network' is NULL");
  session_end(&s);
}

/* An output that was only marked bears the value's name. */
TENON_TEST(is_walked_with_additional_outputs) {
  session_t s;
  static walked_t walked;
  REQUIRE(begin(&s));
  EXPECT_STATUS(tenon_network_mark_output(s.network, "pool1"), TENON_OK);
  EXPECT_STATUS(tenon_network_mark_output(s.network, "nobody"), TENON_ERROR_NOT_FOUND);
  EXPECT_STATUS(tenon_network_walk(s.network, note_item, &walked), TENON_OK);
  EXPECT_TEXT(tenon_last_message(), "");
  EXPECT(strstr(walked.text.data, "lenet.x\nlenet.y\npool1\nstandard.") == walked.text.data);
  session_end(&s);
}

/* Attributes that are required have no default to be compared with. */
TENON_TEST(prints_what_is_required) {
  session_t s;
  static text_t text;
  REQUIRE(session_begin(&s, NULL));
  const tenon_value_t x = session_input(&s, "dense.x");
  const tenon_value_t w = session_input(&s, "dense.w");
  const tenon_value_t y =
      node(&s, "standard.einsum/1", VALUES(x, w), ATTRIBUTES(TENON_TEXT("equation", "ik,jk->ij")));
  EXPECT_STATUS(tenon_network_add_output(s.network, y, "y"), TENON_OK);
  tenon_network_print(s.network, collect, &text);
  EXPECT_CONTAINS(text.data, "equation='ik,jk->ij'");
  session_end(&s);
}

TENON_TEST(gives_additional_outputs) {
  session_t s;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  REQUIRE(begin(&s));
  EXPECT_STATUS(tenon_network_mark_output(s.network, "pool"), TENON_ERROR_NOT_FOUND);
  EXPECT_CONTAINS(s.messages.text, "'pool1'");
  EXPECT_STATUS(tenon_network_mark_output(s.network, "pool1"), TENON_OK);
  EXPECT_STATUS(tenon_build(s.network, NULL, &plan), TENON_OK);
  EXPECT_STATUS(tenon_engine_create_from_plan(s.registry, plan, NULL, &engine), TENON_OK);
  EXPECT_INT(tenon_engine_output_count(engine), 2);
  lenet_run(&s, engine, 0, "lenet.y");
  lenet_run(&s, engine, 1, "lenet.pool1");
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  session_end(&s);
}

/* One value inside as the only output: what it does not need is not built. */
TENON_TEST(gives_another_output_alone) {
  session_t s;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  REQUIRE(begin(&s));
  EXPECT_STATUS(tenon_network_clear_outputs(s.network), TENON_OK);
  EXPECT_STATUS(tenon_build(s.network, NULL, &plan), TENON_ERROR_INVALID_STATE);
  EXPECT_STATUS(tenon_network_mark_output(s.network, "pool1"), TENON_OK);
  EXPECT_STATUS(tenon_build(s.network, NULL, &plan), TENON_OK);
  EXPECT_STATUS(tenon_engine_create_from_plan(s.registry, plan, NULL, &engine), TENON_OK);
  EXPECT_INT(tenon_engine_output_count(engine), 1);
  EXPECT_INT(tenon_engine_weights_count(engine), 2); /* w1 and b1 */
  lenet_run(&s, engine, 0, "lenet.pool1");
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  session_end(&s);
}

static void look_at(tenon_engine_t* engine, size_t size) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  tenon_io_info_t io = {.size = sizeof(io)};
  const int64_t* dims = NULL;
  const uint32_t* sources = NULL;
  uint32_t source_count = 0;
  static text_t text;
  EXPECT_STATUS(tenon_engine_get_info(engine, &info), TENON_OK);
  EXPECT_INT(info.plan_bytes, size);
  EXPECT_TEXT(info.device, "cpu");
  EXPECT_CONTAINS(info.plugins, "cpu ");
  EXPECT(info.arena_bytes >= info.peak_alive_bytes);
  EXPECT_INT(tenon_engine_input_count(engine), 1);
  EXPECT_STATUS(tenon_engine_get_input(engine, 0, &io), TENON_OK);
  EXPECT_TEXT(io.name, "lenet.x");
  EXPECT_STATUS(tenon_engine_get_output(engine, 0, &io), TENON_OK);
  EXPECT_TEXT(io.name, "lenet.y");
  EXPECT_STATUS(tenon_engine_get_profile(engine, 0, 2, &dims), TENON_OK);
  EXPECT_INT(dims[2], 12);
  const uint32_t last = tenon_engine_step_count(engine) - 1;
  EXPECT_STATUS(tenon_engine_get_step_sources(engine, last, &sources, &source_count), TENON_OK);
  REQUIRE(source_count > 0);
  EXPECT(sources[0] < last);
  memset(&text, 0, sizeof text);
  tenon_engine_print_network(engine, collect, &text);
  EXPECT_CONTAINS(text.data, "pool2");
}

TENON_TEST(is_saved_loaded_and_verified) {
  session_t s;
  test_folder_t folder;
  char path[PATH_MAX];
  char digest[65];
  tenon_plan_t* plan = NULL;
  tenon_engine_t* from_file = NULL;
  tenon_engine_t* from_memory = NULL;
  const void* data = NULL;
  size_t size = 0;
  tenon_engine_options_t options = TENON_OPTIONS(tenon_engine_options_t);
  options.verify = 1;
  REQUIRE(begin(&s));
  REQUIRE(test_folder_make(&folder));
  (void)test_folder_path(&folder, "lenet.plan", path);
  EXPECT_STATUS(tenon_build(s.network, NULL, &plan), TENON_OK);
  EXPECT_STATUS(tenon_plan_save(plan, path), TENON_OK);
  EXPECT_STATUS(tenon_plan_get_data(plan, &data, &size), TENON_OK);
  EXPECT_INT(tenon_plan_sniff(data, size), 1);
  EXPECT_INT(tenon_plan_sniff("TENON", 5), 0);
  EXPECT_STATUS(tenon_digest_file(path, digest), TENON_OK);
  EXPECT_INT(strlen(digest), 64);
  EXPECT_STATUS(tenon_engine_create_from_file(s.registry, path, &options, &from_file), TENON_OK);
  EXPECT_STATUS(tenon_engine_create_from_memory(s.registry, data, size, NULL, &from_memory),
                TENON_OK);
  EXPECT_STATUS(tenon_engine_verify(from_memory), TENON_OK);
  look_at(from_file, size);
  look_at(from_memory, size);
  lenet_run(&s, from_file, 0, "lenet.y");
  lenet_run(&s, from_memory, 0, "lenet.y");
  tenon_engine_retain(from_file); /* counted */
  tenon_engine_release(from_file);
  tenon_engine_release(from_file);
  tenon_engine_release(from_memory);
  tenon_plan_destroy(plan);
  test_folder_remove(&folder);
  session_end(&s);
}

TENON_TEST(survives_its_plan_its_network_and_its_registry) {
  session_t s;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  REQUIRE(begin(&s));
  EXPECT_STATUS(tenon_build(s.network, NULL, &plan), TENON_OK);
  EXPECT_STATUS(tenon_engine_create_from_plan(s.registry, plan, NULL, &engine), TENON_OK);
  tenon_plan_destroy(plan);
  session_end(&s);
  lenet_run(&s, engine, 0, "lenet.y");
  tenon_engine_release(engine);
}

TENON_TEST(reads_models_from_memory) {
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  const test_bytes_t bytes = test_read_file(TENON_ROOT "/sdk/demo/digits/model.onnx");
  REQUIRE(bytes.data != NULL);
  EXPECT_STATUS(tenon_network_parse_memory(s.network, bytes.data, bytes.size, "digits", NULL),
                TENON_OK);
  EXPECT_INT(tenon_network_input_count(s.network), 1);
  EXPECT_STATUS(tenon_network_parse_memory(s.network, bytes.data, bytes.size / 2, "half", NULL),
                TENON_ERROR_INVALID_STATE); /* not empty */
  session_end(&s);
  REQUIRE(session_begin(&s, NULL));
  EXPECT_STATUS(tenon_network_parse_memory(s.network, bytes.data, bytes.size / 2, "half", NULL),
                TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(s.messages.text, "half");
  session_end(&s);
  free(bytes.data);
}

/* ---- States ---- */

/* y = x + past; next = x * past, of inputs x, past, others [2] and open [n]. */
static bool begin_carried(session_t* s) {
  static const int64_t two[] = {2};
  static const int64_t open[] = {-1};
  static const int64_t three[] = {3};
  tenon_value_t in[4] = {{0}};
  if (!session_begin(s, NULL)) {
    return false;
  }
  const char* const names[] = {"x", "past", "open", "wide"};
  const int64_t* const dims[] = {two, two, open, three};
  for (int k = 0; k < 4; ++k) {
    EXPECT_STATUS(
        tenon_network_add_input(s->network, names[k], TENON_DTYPE_FLOAT32, 1, dims[k], &in[k]),
        TENON_OK);
  }
  const tenon_value_t sum = node(s, "standard.add/1", VALUES(in[0], in[1]), NO_ATTRIBUTES);
  const tenon_value_t product = node(s, "standard.mul/1", VALUES(in[0], in[1]), NO_ATTRIBUTES);
  EXPECT_STATUS(tenon_network_add_output(s->network, sum, "y"), TENON_OK);
  EXPECT_STATUS(tenon_network_add_output(s->network, product, "next"), TENON_OK);
  EXPECT_STATUS(tenon_network_add_output(s->network, in[2], "still_open"), TENON_OK);
  EXPECT_STATUS(tenon_network_add_output(s->network, in[3], "still_wide"), TENON_OK);
  return true;
}

TENON_TEST(makes_states_of_inputs_and_outputs) {
  static const int64_t two[] = {2};
  static const int64_t three[] = {3};
  static const int64_t one[] = {1};
  float x[3] = {2, 3, 0};
  float past[2] = {1, 1};
  session_t s;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  tenon_io_info_t info = {.size = sizeof(info)};
  REQUIRE(begin_carried(&s));
  EXPECT_STATUS(tenon_network_make_state(s.network, "past", "next"), TENON_OK);
  EXPECT_INT(tenon_network_input_count(s.network), 3);
  EXPECT_INT(tenon_network_output_count(s.network), 3);
  EXPECT_STATUS(tenon_network_get_input(s.network, 1, &info), TENON_OK);
  EXPECT_TEXT(info.name, "open");
  EXPECT_STATUS(tenon_network_get_output(s.network, 1, &info), TENON_OK);
  EXPECT_TEXT(info.name, "still_open");
  EXPECT_STATUS(tenon_build(s.network, NULL, &plan), TENON_OK);
  EXPECT_STATUS(tenon_engine_create_from_plan(s.registry, plan, NULL, &engine), TENON_OK);
  EXPECT_STATUS(tenon_context_create(engine, NULL, &context), TENON_OK);
  EXPECT_STATUS(tenon_context_write_state(context, "past", past, sizeof past), TENON_OK);
  const int64_t* const dims[] = {two, one, three};
  for (uint32_t k = 0; k < 3; ++k) {
    const tenon_tensor_view_t view = {.data = x,
                                      .dims = dims[k],
                                      .strides = one,
                                      .rank = 1,
                                      .dtype = TENON_DTYPE_FLOAT32,
                                      .layout = TENON_NONE};
    EXPECT_STATUS(tenon_context_set_input(context, k, &view), TENON_OK);
  }
  for (int k = 0; k < 3; ++k) { /* 1 1, 2 3, 4 9 */
    tenon_tensor_view_t y;
    EXPECT_STATUS(tenon_context_run(context), TENON_OK);
    EXPECT_STATUS(tenon_context_get_output(context, 0, &y), TENON_OK);
    EXPECT(((const float*)y.data)[0] == x[0] + past[0]);
    EXPECT(((const float*)y.data)[1] == x[1] + past[1]);
    past[0] *= x[0];
    past[1] *= x[1];
  }
  float found[2] = {0};
  EXPECT_STATUS(tenon_context_read_state(context, "past", found, sizeof found), TENON_OK);
  EXPECT(found[0] == past[0] && found[1] == past[1]);
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  session_end(&s);
}

TENON_TEST(refuses_states_that_cannot_be) {
  session_t s;
  REQUIRE(begin_carried(&s));
  EXPECT_STATUS(tenon_network_make_state(s.network, "pasta", "next"), TENON_ERROR_NOT_FOUND);
  EXPECT_CONTAINS(tenon_last_message(), "there is no input 'pasta'; near it: 'past'");
  EXPECT_STATUS(tenon_network_make_state(s.network, "past", "nest"), TENON_ERROR_NOT_FOUND);
  EXPECT_CONTAINS(tenon_last_message(), "there is no output 'nest'; near it: 'next'");
  EXPECT_STATUS(tenon_network_make_state(s.network, "open", "next"), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "input 'open' can be no state: its axis 0 is open");
  EXPECT_STATUS(tenon_network_make_state(s.network, "wide", "next"), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "input 'wide' cannot become what output 'next' is");
  EXPECT_INT(tenon_network_input_count(s.network), 4);
  EXPECT_INT(tenon_network_output_count(s.network), 4);
  session_end(&s);
}
