/* Protocol buffers' text format: how fields, lists and messages stand together, and where. */
#include "core/base/test.h"
#include "tests/support/fake.h"

enum { DEPTH_LIMIT = 5, SIZE = 1024 };

static tenon__fake_t fake;
static tenon_reader_t reader;

static void add(char out[SIZE], const char* format, const char* name, double number) {
  const size_t used = strlen(out);
  (void)snprintf(out + used, SIZE - used, format, name, number);
}

static tenon_status_t print_message(tenon_reader_text_t* text, tenon_reader_message_t* message,
                                    char out[SIZE]);

static tenon_status_t print_value(tenon_reader_text_t* text, const tenon_reader_message_t* message,
                                  char out[SIZE]) {
  tenon_reader_literal_t literal;
  if (message->is_message) {
    tenon_reader_message_t inner;
    add(out, "%s{ ", message->name, 0);
    TENON_READER_TRY(tenon_reader_text_enter(text, &inner));
    TENON_READER_TRY(print_message(text, &inner, out));
    add(out, "} ", "", 0);
    return TENON_OK;
  }
  TENON_READER_TRY(tenon_reader_text_literal(text, &literal));
  if (literal.kind == TENON_READER_LITERAL_NUMBER) {
    add(out, "%s=%g ", message->name, literal.number);
    return TENON_OK;
  }
  const bool is_word = literal.kind == TENON_READER_LITERAL_WORD;
  const char* value =
      is_word ? literal.text : tenon_reader_readable(text->reader, literal.text, literal.size);
  if (value == NULL) {
    return tenon_reader_fail_memory(text->reader);
  }
  add(out, "%s", message->name, 0);
  add(out, is_word ? "=%s " : "='%s' ", value, 0);
  return TENON_OK;
}

/* As the manual has it. */
static tenon_status_t print_message(tenon_reader_text_t* text, tenon_reader_message_t* message,
                                    char out[SIZE]) {
  for (;;) {
    TENON_READER_TRY(tenon_reader_text_field(text, message));
    if (message->name == NULL) {
      return TENON_OK;
    }
    for (;;) {
      TENON_READER_TRY(tenon_reader_text_value(text, message));
      if (!message->has_value) {
        break;
      }
      TENON_READER_TRY(print_value(text, message, out));
    }
  }
}

static tenon_status_t print(const char* bytes, size_t size, char out[SIZE]) {
  tenon_reader_text_t text;
  tenon_reader_message_t message;
  tenon__fake_reader(&fake, &reader);
  out[0] = '\0';
  TENON_READER_TRY(tenon_reader_text_begin(&reader, bytes, size, DEPTH_LIMIT, &text, &message));
  TENON_READER_TRY(print_message(&text, &message, out));
  EXPECT(text.at == text.end);
  EXPECT_INT(text.depth, 0);
  return TENON_OK;
}

static void expect_bytes(const char* bytes, size_t size, const char* expected) {
  char found[SIZE];
  tenon__fake_initialize(&fake, NULL);
  EXPECT_STATUS(print(bytes, size, found), TENON_OK);
  EXPECT_TEXT(fake.messages, "");
  EXPECT_TEXT(found, expected);
  tenon__fake_deinitialize(&fake);
}

static void expect(const char* bytes, const char* expected) {
  expect_bytes(bytes, strlen(bytes), expected);
}

static void expect_refused(const char* bytes, const char* words) {
  char found[SIZE];
  tenon__fake_initialize(&fake, NULL);
  EXPECT_STATUS(print(bytes, strlen(bytes), found), TENON_ERROR_INVALID_DATA);
  EXPECT_INT(fake.error_count, 1);
  EXPECT_CONTAINS(fake.messages, words);
  tenon__fake_deinitialize(&fake);
}

TENON_TEST(reads_fields) {
  expect_bytes(NULL, 0, "");
  expect(" \t\r\n\f\v", "");
  expect("# a comment, and no line after it", "");
  expect("a: 1", "a=1 ");
  expect("a: 1 b: MAX", "a=1 b=MAX ");
  expect("a : 1\nb\n:\n2", "a=1 b=2 ");
  expect("a: 1, b: 2; c: 3", "a=1 b=2 c=3 ");
  expect("a: 'b' # c: 3\nd: 4", "a='b' d=4 ");
}

TENON_TEST(reads_messages) {
  expect("a { }", "a{ } ");
  expect("a{}b<>", "a{ } b{ } ");
  expect("a: { b: 1 }", "a{ b=1 } ");
  expect("a < b { c: 1 } > d: 2", "a{ b{ c=1 } } d=2 ");
  expect("a { b: 1 }, a { b: 2 };", "a{ b=1 } a{ b=2 } ");
}

TENON_TEST(reads_lists) {
  expect("a: [1, 2, 3] b: 4", "a=1 a=2 a=3 b=4 ");
  expect("a [1]", "a=1 ");
  expect("a: [] b: [ ]; c: 1", "c=1 ");
  expect("a: [{ b: 1 }, <c: 2>]", "a{ b=1 } a{ c=2 } ");
  expect("a: ['x' 'y', Z]", "a='xy' a=Z ");
}

TENON_TEST(extensions_go_by_their_last_word) {
  expect("[caffe.my_param] { x: 1 }", "my_param{ x=1 } ");
  expect("[ a . b ] : 1 [c]: 2", "b=1 c=2 ");
  expect_refused("[a.b: 1", "line 1, column 5: expected ']' after an extension's name, found ':'");
  expect_refused("[a.]: 1", "line 1, column 4: expected a field's name, found ']'");
  expect_refused("[]: 1", "line 1, column 2: expected a field's name, found ']'");
}

TENON_TEST(skips_a_mark_of_utf8) {
  expect(
      "\xEF\xBB\xBF"
      "a: 1",
      "a=1 ");
  expect("\xEF\xBB\xBF", "");
  expect_refused(
      "\xEF\xBB\xBF"
      "a 1",
      "line 1, column 3: expected ':'");
  expect_refused("\xEF\xBB", "line 1, column 1: expected a field's name, found the byte 0xef");
}

TENON_TEST(says_what_is_missing_and_where) {
  expect_refused("1: 2", "line 1, column 1: expected a field's name, found '1'");
  expect_refused("a: 1 }", "line 1, column 6: expected a field's name, found '}'");
  expect_refused("a 1", "line 1, column 3: expected ':' or '{' after a field's name, found '1'");
  expect_refused("a", "line 1, column 2: expected ':' or '{' after a field's name, found the end");
  expect_refused("a:", "line 1, column 3: expected a value, found the end of the file");
  expect_refused("a: [1 2]", "line 1, column 7: expected ',' or ']' after a list's value, found");
  expect_refused("a: [1,]", "line 1, column 7: expected a value, found ']'");
  expect_refused("a: [,]", "line 1, column 5: expected a value, found ','");
  expect_refused("a: [1", "line 1, column 6: expected ',' or ']' after a list's value, found the");
  expect_refused("a: 1;;", "line 1, column 6: expected a field's name, found ';'");
  expect_refused("\n# x\r\n\ta\n  b", "line 4, column 3: expected ':' or '{'");
}

TENON_TEST(braces_come_in_pairs) {
  expect_refused("a {\n b {\n }",
                 "line 3, column 3: the file ends before the message that begins in "
                 "line 1");
  expect_refused("a\n{ b { c: 1", "before the message that begins in line 2");
  expect_refused("a { >", "line 1, column 5: expected a field's name, found '>'");
  expect_refused("a < }", "expected a field's name, found '}'");
}

/* The file is the first of DEPTH_LIMIT. */
TENON_TEST(bounds_nesting) {
  expect("a{a{a{a{}}}}", "a{ a{ a{ a{ } } } } ");
  expect("a{a{a{a{}}}} a{a{a{a{}}}}", "a{ a{ a{ a{ } } } } a{ a{ a{ a{ } } } } ");
  expect_refused("a{a{a{a{a{", "line 1, column 11: messages are nested more than 5 deep");
  expect_refused("a{a{a{a{a{}}}}}", "messages are nested more than 5 deep, found '}'");
}

static void expect_names(const char* bytes, uint32_t line, uint32_t column) {
  tenon_reader_text_t text;
  tenon_reader_message_t message;
  tenon__fake_initialize(&fake, NULL);
  tenon__fake_reader(&fake, &reader);
  EXPECT_STATUS(tenon_reader_text_begin(&reader, bytes, strlen(bytes), 1, &text, &message),
                TENON_OK);
  EXPECT_STATUS(tenon_reader_text_field(&text, &message), TENON_OK);
  EXPECT_TEXT(message.name, "name");
  EXPECT_INT(message.line, line);
  EXPECT_INT(message.column, column);
  tenon__fake_deinitialize(&fake);
}

TENON_TEST(tells_where_a_name_stands) {
  expect_names("name: 1", 1, 1);
  expect_names("# one\n\t name\n: [1]", 2, 3);
  expect_names("  [a.name]: 1", 1, 3);
}

TENON_TEST(a_message_begins_with_a_brace) {
  tenon_reader_text_t text;
  tenon_reader_message_t message;
  tenon__fake_initialize(&fake, NULL);
  tenon__fake_reader(&fake, &reader);
  EXPECT_STATUS(tenon_reader_text_begin(&reader, "a: 1", 4, 9, &text, &message), TENON_OK);
  EXPECT_STATUS(tenon_reader_text_field(&text, &message), TENON_OK);
  EXPECT_STATUS(tenon_reader_text_enter(&text, &message), TENON_ERROR_INVALID_DATA);
  EXPECT_TEXT(fake.messages, "line 1, column 4: expected '{', found '1'\n");
  tenon__fake_deinitialize(&fake);
}

TENON_TEST(knows_the_first_field) {
  static const struct {
    const char* bytes;
    bool is_layer;
  } cases[] = {{"layer {", true},
               {"layer:", true},
               {"layer<", true},
               {"# c\n\tlayer # d\n :", true},
               {"\xEF\xBB\xBF layer{", true},
               {"layers {", false},
               {"laye", false},
               {"layer", false},
               {"layer ", false},
               {"layer # ends", false},
               {"layer 1", false},
               {"name: 'x' layer {", false},
               {"#layer {", false},
               {"", false}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    EXPECT(tenon_reader_text_begins_with(cases[i].bytes, strlen(cases[i].bytes), "layer") ==
           cases[i].is_layer);
  }
  EXPECT(!tenon_reader_text_begins_with(NULL, 0, "layer"));
  EXPECT(!tenon_reader_text_begins_with("layer {", 6, "layer")); /* not so far */
}

/* However it is cut off, it is read or refused, with one message. */
TENON_TEST(any_prefix_is_handled) {
  static const char whole[] =
      "\xEF\xBB\xBF"
      "a { b: [1, -2.5e3, 0x1F] [c.d]: 'e\\x41\\u00e9' \"f\" } # g\nh < i: inf; >";
  for (size_t size = 0; size < sizeof(whole); ++size) {
    char found[SIZE];
    tenon__fake_initialize(&fake, NULL);
    const tenon_status_t status = print(whole, size, found);
    EXPECT(status == TENON_OK ? fake.error_count == 0
                              : status == TENON_ERROR_INVALID_DATA && fake.error_count == 1);
    tenon__fake_deinitialize(&fake);
  }
}

TENON_TEST(each_allocation_may_fail) {
  static char bytes[64 * 1024];
  char found[SIZE];
  bool has_failed = true;
  (void)snprintf(bytes, sizeof(bytes), "a: '%5000d' b: WORD c: '%9000d'", 1, 2);
  for (size_t at = 1; has_failed; ++at) {
    tenon__fake_initialize(&fake, NULL);
    fake.fail_at = at;
    const tenon_status_t status = print(bytes, strlen(bytes), found);
    has_failed = fake.allocation_count >= at;
    EXPECT_STATUS(status, has_failed ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK);
    EXPECT_TEXT(fake.messages, has_failed ? "out of memory\n" : "");
    EXPECT(at > 1 || has_failed);
    tenon__fake_deinitialize(&fake);
  }
}
