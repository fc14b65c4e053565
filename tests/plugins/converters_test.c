/* Nodes of third parties' domains: converters that fail, with and without messages, or decline, and
 * operators that are found by the nodes' names. */
#include "tests/api/session.h"
#include "tests/support/onnx_message.h"
#include "tests/support/plugin_folder.h"

static bool begin(session_t* s, test_folder_t* folder, const char* fixture) {
  return test_folder_make(folder) && test_folder_copy(folder, fixture, "it.so") &&
         session_begin(s, folder->path);
}

static void end(session_t* s, const test_folder_t* folder) {
  session_end(s);
  test_folder_remove(folder);
}

static const int64_t two[] = {2};

/* A model whose graph is open, of one domain besides ONNX's. */
static tenon__message_t begin_model(const char* domain, uint64_t version) {
  tenon__message_t m = {.size = 0};
  tenon__message_varint(&m, 1, 10);
  tenon__message_begin(&m, 8);
  tenon__message_varint(&m, 2, 17);
  tenon__message_end(&m);
  tenon__message_begin(&m, 8);
  tenon__message_text(&m, 1, domain);
  tenon__message_varint(&m, 2, version);
  tenon__message_end(&m);
  tenon__message_begin(&m, 7);
  return m;
}

/* The node is open, for attributes. */
static void begin_node(tenon__message_t* m, const char* domain, const char* type,
                       const char* inputs, const char* outputs) {
  tenon__message_begin_node(m, 1, type, "theirs", inputs, outputs);
  tenon__message_text(m, 7, domain);
}

static void end_model(tenon__message_t* m, const char* output) {
  tenon__message_value_info(m, 11, "x", 1, 1, two);
  tenon__message_value_info(m, 12, output, 1, 1, two);
  tenon__message_end_model(m);
}

static void begin_attribute(tenon__message_t* m, const char* name, uint64_t type) {
  tenon__message_begin(m, 5);
  tenon__message_text(m, 1, name);
  tenon__message_varint(m, 20, type);
}

static void give_float(tenon__message_t* m, const char* name, float value) {
  begin_attribute(m, name, 1);
  tenon__message_float(m, 2, value);
  tenon__message_end(m);
}

static void give_int(tenon__message_t* m, const char* name, uint64_t value) {
  begin_attribute(m, name, 2);
  tenon__message_varint(m, 3, value);
  tenon__message_end(m);
}

static void give_text(tenon__message_t* m, const char* name, const char* value) {
  begin_attribute(m, name, 3);
  tenon__message_text(m, 4, value);
  tenon__message_end(m);
}

static tenon_status_t parse(session_t* s, const tenon__message_t* m) {
  return tenon_network_parse_memory(s->network, m->bytes, m->size, "model.onnx", NULL);
}

/* Of 1 and 2. */
static void expect_numbers(session_t* s, const tenon__message_t* m, float first, float second) {
  static const float given[] = {1, 2};
  const float wanted[] = {first, second};
  const sample_t x = {"x", TENON_DTYPE_FLOAT32, 1, {2}, given};
  const sample_t y = {"y", TENON_DTYPE_FLOAT32, 1, {2}, wanted};
  const tenon_status_t status = parse(s, m);
  if (status != TENON_OK) {
    tenon__test_fail(__FILE__, __LINE__, "%s", s->messages.text);
    return;
  }
  s->inputs[s->input_count++] = &x;
  s->outputs[s->output_count++] = &y;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.no_measuring = 1;
  session_run(s, &options, NULL);
  s->inputs[--s->input_count] = NULL;
  s->outputs[--s->output_count] = NULL;
}

static void expect_result(session_t* s, const tenon__message_t* m, float first, float second) {
  expect_numbers(s, m, first, second);
  EXPECT_TEXT(s->messages.text, "");
}

/* ---- Converters ---- */

TENON_TEST(a_failure_names_file_node_and_plugin) {
  static const struct {
    const char* type;
    const char* message;
  } rows[] = {{"Fails",
               "model.onnx: Fails 'theirs': the converter of plugin taker failed and did not say "
               "why: invalid data\n"},
              {"Speaks", "model.onnx: Speaks 'theirs': beta must be positive\n"}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    session_t s;
    test_folder_t folder;
    REQUIRE(begin(&s, &folder, "taker"));
    tenon__message_t m = begin_model("taker", 1);
    begin_node(&m, "taker", rows[i].type, "x", "y");
    tenon__message_end(&m);
    end_model(&m, "y");
    EXPECT_STATUS(parse(&s, &m), TENON_ERROR_INVALID_DATA);
    EXPECT_CONTAINS(s.messages.text, rows[i].message);
    end(&s, &folder);
  }
}

/* z = TYPE(x), of the stranger's domain where TYPE is "Fails"; it captures x. */
static void give_graph(tenon__message_t* m, const char* attribute, const char* type,
                       const char* name) {
  begin_attribute(m, attribute, 5);
  tenon__message_begin(m, 6);
  tenon__message_begin_node(m, 1, type, name, "x", "z");
  tenon__message_text(m, 7, strcmp(type, "Fails") == 0 ? "taker" : "");
  tenon__message_end(m);
  tenon__message_value_info(m, 12, "z", 1, 1, two);
  tenon__message_end(m);
  tenon__message_end(m);
}

/* y = If(c) then TYPE(x) else TYPE(x). */
static tenon__message_t choice(const char* then_type, const char* else_type) {
  tenon__message_t m = begin_model("taker", 1);
  tenon__message_value_info(&m, 11, "c", 9, 0, NULL);
  tenon__message_begin_node(&m, 1, "If", "the choice", "c", "y");
  give_graph(&m, "then_branch", then_type, "inner");
  give_graph(&m, "else_branch", else_type, "other");
  tenon__message_end(&m);
  end_model(&m, "y");
  return m;
}

/* What is converted inside a subgraph names its own node. */
TENON_TEST(a_failure_in_both_branches_names_their_nodes) {
  session_t s;
  test_folder_t folder;
  REQUIRE(begin(&s, &folder, "taker"));
  const tenon__message_t m = choice("Fails", "Fails");
  EXPECT_STATUS(parse(&s, &m), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(s.messages.text, "Fails 'inner': the converter of plugin taker failed");
  EXPECT_CONTAINS(s.messages.text, "Fails 'other': the converter of plugin taker failed");
  EXPECT(strstr(s.messages.text, "the converter of plugin onnx") == NULL);
  end(&s, &folder);
}

static void append_text(void* user, const char* text) {
  char* all = user;
  (void)strncat(all, text, 4095 - strlen(all));
}

TENON_TEST(a_failure_in_one_branch_is_the_branchs) {
  session_t s;
  test_folder_t folder;
  char text[4096] = "";
  REQUIRE(begin(&s, &folder, "taker"));
  const tenon__message_t m = choice("Fails", "Neg");
  EXPECT_STATUS(parse(&s, &m), TENON_OK);
  EXPECT(strstr(s.messages.text, "Fails") == NULL);
  tenon_network_print(s.network, append_text, text);
  EXPECT_CONTAINS(text,
                  "cannot run: Fails 'inner': the converter of plugin taker failed and did not "
                  "say why: invalid data\n");
  end(&s, &folder);
}

TENON_TEST(a_parser_that_says_nothing_is_named) {
  session_t s;
  test_folder_t folder;
  tenon_parse_options_t options = TENON_OPTIONS(tenon_parse_options_t);
  options.format = "greedy";
  REQUIRE(begin(&s, &folder, "taker"));
  EXPECT_STATUS(tenon_network_parse_memory(s.network, "abc", 3, "a file", &options),
                TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(s.messages.text,
                  "a file: cannot be parsed: parser 'greedy' of plugin taker did not say why: "
                  "invalid data\n");
  end(&s, &folder);
}

TENON_TEST(a_parser_that_miscounts_is_named) {
  static const char* const settings[] = {"miscount=1", NULL};
  session_t s;
  test_folder_t folder;
  tenon_parse_options_t options = TENON_OPTIONS(tenon_parse_options_t);
  options.format = "greedy";
  options.settings = settings;
  REQUIRE(begin(&s, &folder, "taker"));
  EXPECT_STATUS(tenon_network_parse_memory(s.network, "abc", 3, "a file", &options),
                TENON_ERROR_INTERNAL);
  EXPECT_CONTAINS(s.messages.text,
                  "the parser for format 'greedy' gives 1 inputs and 1 outputs of a node that by "
                  "its table has 2 and 1\n");
  end(&s, &folder);
}

/* y = taker.Perhaps(c) of the graph z = -x. */
static tenon__message_t perhaps(const char* name) {
  tenon__message_t m = begin_model("taker", 1);
  tenon__message_value_info(&m, 11, "c", 9, 0, NULL);
  begin_node(&m, "taker", "Perhaps", "c", "y");
  give_graph(&m, name, "Neg", "inner");
  tenon__message_end(&m);
  end_model(&m, "y");
  return m;
}

TENON_TEST(a_converter_makes_bodies_of_subgraphs) {
  static const uint8_t truth[] = {1};
  const sample_t c = {"c", TENON_DTYPE_BOOL, 0, {0}, truth};
  session_t s;
  test_folder_t folder;
  REQUIRE(begin(&s, &folder, "taker"));
  const tenon__message_t m = perhaps("body");
  s.inputs[s.input_count++] = &c;
  expect_numbers(&s, &m, -1, -2);
  end(&s, &folder);
}

TENON_TEST(a_subgraph_that_is_not_there_is_named) {
  session_t s;
  test_folder_t folder;
  REQUIRE(begin(&s, &folder, "taker"));
  const tenon__message_t m = perhaps("other");
  EXPECT_STATUS(parse(&s, &m), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(s.messages.text, "Perhaps 'theirs': it has no graph 'body'\n");
  end(&s, &folder);
}

/* ---- Several converters of one type ---- */

static bool begin_two(session_t* s, test_folder_t* folder) {
  return test_folder_make(folder) && test_folder_copy(folder, "four_bits", "1.so") &&
         test_folder_copy(folder, "eight_bits", "2.so") && session_begin(s, folder->path);
}

/* y = shared.Blocks(x), twice where `is_twice`: both nodes have the same name. */
static tenon__message_t blocks(uint64_t bits, const char* built, bool is_twice) {
  tenon__message_t m = begin_model("shared", 1);
  for (int k = 0; k < (is_twice ? 2 : 1); ++k) {
    begin_node(&m, "shared", "Blocks", k == 0 ? "x" : "z", k == 0 && is_twice ? "z" : "y");
    if (bits != 0) {
      give_int(&m, "bits", bits);
    }
    give_text(&m, "built", built);
    tenon__message_end(&m);
  }
  end_model(&m, "y");
  return m;
}

static void expect_passed_on(uint64_t bits, const char* built) {
  session_t s;
  test_folder_t folder;
  char text[4096] = "";
  REQUIRE(begin_two(&s, &folder));
  const tenon__message_t m = blocks(bits, built, true);
  expect_numbers(&s, &m, (float)(bits * bits), (float)(2 * bits * bits));
  EXPECT_CONTAINS(s.messages.text, bits == 4 ? "4 bits by four_bits" : "8 bits by eight_bits");
  EXPECT(strstr(s.messages.text, "no use of it") == NULL);
  EXPECT_INT(s.messages.count, 2);
  /* Nothing is left of the first attempt, names included. */
  tenon_network_print(s.network, append_text, text);
  EXPECT(strstr(text, "neg") == NULL && strstr(text, "z_2") == NULL);
  end(&s, &folder);
}

TENON_TEST(a_converter_that_declines_passes_to_the_next) {
  static const char* const built[] = {"", "node", "open"};
  for (size_t i = 0; i < sizeof(built) / sizeof(built[0]); ++i) {
    expect_passed_on(4, built[i]);
    expect_passed_on(8, built[i]);
  }
}

TENON_TEST(a_node_that_all_converters_decline_is_told_with_each_reason) {
  session_t s;
  test_folder_t folder;
  REQUIRE(begin_two(&s, &folder));
  const tenon__message_t m = blocks(2, "node", false);
  EXPECT_STATUS(parse(&s, &m), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(s.messages.text,
                  "model.onnx: Blocks 'theirs': no plugin converts it: plugin four_bits: 2 bits "
                  "are not 4; plugin eight_bits: 2 bits are not 8\n");
  EXPECT_INT(s.messages.count, 1);
  end(&s, &folder);
}

/* Other failures, and what cannot be taken back, end the chain. */
TENON_TEST(a_converter_that_fails_or_made_a_body_is_the_last_one_asked) {
  static const struct {
    uint64_t bits;
    const char* built;
    tenon_status_t status;
    const char* message;
  } rows[] = {{0, "", TENON_ERROR_INVALID_DATA, "Blocks 'theirs': 0 bits are not 4\n"},
              {8, "body", TENON_ERROR_UNSUPPORTED, "Blocks 'theirs': 8 bits are not 4\n"}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    session_t s;
    test_folder_t folder;
    REQUIRE(begin_two(&s, &folder));
    const tenon__message_t m = blocks(rows[i].bits, rows[i].built, false);
    EXPECT_STATUS(parse(&s, &m), rows[i].status);
    EXPECT_CONTAINS(s.messages.text, rows[i].message);
    EXPECT(strstr(s.messages.text, "are not 8") == NULL);
    end(&s, &folder);
  }
}

/* ---- Operators by name ---- */

static void keep_operator(void* user, const char* text) {
  char* line = user;
  if (strstr(line, "com.named.scale/1") == NULL || strchr(line, '\n') == NULL) {
    if (strchr(line, '\n') != NULL) {
      line[0] = '\0';
    }
    append_text(line, text);
  }
}

TENON_TEST(the_index_has_the_attributes_and_ports) {
  session_t s;
  test_folder_t folder;
  char line[4096] = "";
  REQUIRE(begin(&s, &folder, "named"));
  EXPECT_STATUS(tenon_registry_print_index(s.registry, keep_operator, line), TENON_OK);
  EXPECT_CONTAINS(line,
                  "\"attributes\": [{\"name\": \"factor\", \"kind\": \"float\", \"default\": "
                  "\"2.0\", \"summary\": \"how much more\"}], \"inputs\": [{\"name\": \"x\", "
                  "\"type\": \"T\", \"summary\": \"what is scaled\"}, {\"name\": \"shift\", "
                  "\"type\": \"T\"}], \"outputs\": [{\"name\": \"y\", \"type\": \"T\"}]}\n");
  end(&s, &folder);
}

TENON_TEST(a_node_finds_the_operator_of_its_name) {
  static const struct {
    const char* type;
    uint64_t version;
    bool has_factor;
    float first;
  } rows[] = {{"scale", 1, false, 2},  {"scale", 1, true, 10},   {"scale", 2, true, 10},
              {"scale", 3, true, 310}, {"scale", 99, true, 310}, {"SCALE", 1, true, 10},
              {"Scale", 1, true, 10}, /* no Scale/1: in lower case */
              {"Scale", 2, true, 30}, /* as it is written comes first */
              {"Scale", 3, true, 30}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    session_t s;
    test_folder_t folder;
    REQUIRE(begin(&s, &folder, "named"));
    tenon__message_t m = begin_model("com.named", rows[i].version);
    begin_node(&m, "com.named", rows[i].type, "x", "y");
    if (rows[i].has_factor) {
      give_float(&m, "factor", 10);
    }
    tenon__message_end(&m);
    end_model(&m, "y");
    const float factor = rows[i].has_factor ? 10 : 2;
    expect_result(&s, &m, rows[i].first, rows[i].first + factor);
    end(&s, &folder);
  }
}

/* Optional inputs in their places, absent or not; a whole number for a float. */
TENON_TEST(inputs_and_outputs_go_in_order) {
  session_t s;
  test_folder_t folder;
  REQUIRE(begin(&s, &folder, "named"));
  tenon__message_t m = begin_model("com.named", 1);
  begin_node(&m, "com.named", "scale", "x x", "t");
  give_int(&m, "factor", 4);
  tenon__message_end(&m);
  begin_node(&m, "com.named", "scale", "t _", "u");
  tenon__message_end(&m);
  begin_node(&m, "com.named", "halves", "u", "_ y");
  tenon__message_end(&m);
  end_model(&m, "y");
  expect_result(&s, &m, 15, 30); /* (4 + 1) * 2 * 1.5 */
  end(&s, &folder);
}

TENON_TEST(attributes_of_every_kind_arrive) {
  session_t s;
  test_folder_t folder;
  static const float numbers[] = {0.5F, 1};
  REQUIRE(begin(&s, &folder, "named"));
  tenon__message_t m = begin_model("com.named", 1);
  begin_node(&m, "com.named", "all", "x", "y");
  give_int(&m, "i", 3);
  give_float(&m, "f", 7);
  give_text(&m, "s", "yes");
  begin_attribute(&m, "is", 7);
  tenon__message_varint(&m, 8, 1);
  tenon__message_varint(&m, 8, 2);
  tenon__message_end(&m);
  begin_attribute(&m, "fs", 6);
  tenon__message_bytes(&m, 7, numbers, sizeof(numbers));
  tenon__message_end(&m);
  begin_attribute(&m, "ss", 8);
  tenon__message_text(&m, 9, "one");
  tenon__message_end(&m);
  give_text(&m, "to", "i32");
  tenon__message_end(&m);
  end_model(&m, "y");
  expect_result(&s, &m, 7, 14);
  end(&s, &folder);
}

TENON_TEST(what_the_operator_has_not_is_told_with_what_it_has) {
  for (int round = 0; round < 6; ++round) {
    session_t s;
    test_folder_t folder;
    static const char* const messages[] = {
        "scale 'theirs': operator com.named.scale/1 of plugin named has no attribute 'beta'; there "
        "are: factor\n",
        "attribute 'factor' of operator com.named.scale/1 is of kind float; the file gives a "
        "string\n",
        "operator com.named.scale/1 has 1 output, not 2\n",
        "all 'theirs': attribute 'to' is 'int', which is no element type",
        "halves 'theirs': operator com.named.halves/1 of plugin named has no attribute 'a'; it has "
        "none\n",
        "com.named::wobble (version 1), used by 'theirs': needs a plugin with a converter for it, "
        "or with operator com.named.wobble/1"};
    static const char* const types[] = {"scale", "scale", "scale", "all", "halves", "wobble"};
    REQUIRE(begin(&s, &folder, "named"));
    tenon__message_t m = begin_model("com.named", 1);
    begin_node(&m, "com.named", types[round], "x", round == 2 ? "y z" : "y");
    if (round == 0) {
      give_float(&m, "beta", 1);
    } else if (round == 1) {
      give_text(&m, "factor", "two");
    } else if (round == 3) {
      give_text(&m, "to", "int");
    } else if (round == 4) {
      give_int(&m, "a", 1);
    }
    tenon__message_end(&m);
    if (round == 2) {
      tenon__message_begin_node(&m, 1, "Neg", "reads", "z", "w");
      tenon__message_end(&m);
    }
    end_model(&m, "y");
    EXPECT(parse(&s, &m) != TENON_OK);
    EXPECT_CONTAINS(s.messages.text, messages[round]);
    EXPECT_CONTAINS(s.messages.text, "model.onnx: ");
    EXPECT_INT(s.messages.count, 1);
    end(&s, &folder);
  }
}
