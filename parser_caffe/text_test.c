#include "text.h"

#include "core/base/test.h"
#include "testing/under_test.h"

/* What was read, in one form: names, kinds, values. */
static void print(const tenon__caffe_message_t* message, char* out, size_t size) {
  for (const tenon__caffe_field_t* field = message->first; field != NULL; field = field->next) {
    size_t used = strlen(out);
    switch (field->kind) {
      case TENON__CAFFE_VALUE_NUMBER:
        (void)snprintf(out + used, size - used, field->is_integer ? "%s=%.0f " : "%s=%.9gf ",
                       field->name, field->is_integer ? (double)field->integer : field->number);
        break;
      case TENON__CAFFE_VALUE_MESSAGE:
        (void)snprintf(out + used, size - used, "%s{ ", field->name);
        print(field->message, out, size);
        used = strlen(out);
        (void)snprintf(out + used, size - used, "} ");
        break;
      default:
        (void)snprintf(out + used, size - used,
                       field->kind == TENON__CAFFE_VALUE_STRING ? "%s='%s' " : "%s=%s ",
                       field->name, field->text);
        break;
    }
  }
}

static void expect_read(const char* text, const char* expected) {
  tenon__fake_t fake;
  tenon_reader_t reader;
  tenon__caffe_message_t* message = NULL;
  char found[1024] = "";
  tenon__fake_initialize(&fake, &under_test);
  tenon__fake_reader(&fake, &reader);
  EXPECT_STATUS(tenon__caffe_text_read(&reader, text, strlen(text), &message), TENON_OK);
  EXPECT_TEXT(fake.messages, "");
  if (fake.error_count == 0) {
    print(message, found, sizeof(found));
  }
  EXPECT_TEXT(found, expected);
  tenon__fake_deinitialize(&fake);
}

static void expect_refused(const char* text, const char* expected) {
  tenon__fake_t fake;
  tenon_reader_t reader;
  tenon__caffe_message_t* message = NULL;
  tenon__fake_initialize(&fake, &under_test);
  tenon__fake_reader(&fake, &reader);
  EXPECT_STATUS(tenon__caffe_text_read(&reader, text, strlen(text), &message),
                TENON_ERROR_INVALID_DATA);
  EXPECT_INT(fake.error_count, 1);
  EXPECT_CONTAINS(fake.messages, expected);
  tenon__fake_deinitialize(&fake);
}

TENON_TEST(reads_messages_with_and_without_colon) {
  expect_read("", "");
  expect_read("# nothing but a comment", "");
  expect_read("layer { name: 'a' }", "layer{ name='a' } ");
  expect_read("layer: { name: \"a\" } layer < name: 'b' >", "layer{ name='a' } layer{ name='b' } ");
  expect_read("a{b{c:1}}", "a{ b{ c=1 } } ");
  expect_read(
      "\xEF\xBB\xBF"
      "a: 1, b: 2; c: 3",
      "a=1 b=2 c=3 ");
  expect_read("[caffe.my_param] { x: 1 }", "my_param{ x=1 } ");
}

TENON_TEST(reads_every_form_of_number) {
  expect_read("a: 1 b: -2 c: +3 d: - 4", "a=1 b=-2 c=3 d=-4 ");
  expect_read("a: 0x1F b: 017 c: 0 d: 0XfF", "a=31 b=15 c=0 d=255 ");
  expect_read("a: 1.5 b: .25 c: 1. d: 1e3 e: 2.5E-2 f: 1f g: -1.5F",
              "a=1.5f b=0.25f c=1f d=1000f e=0.025f f=1f g=-1.5f ");
  expect_read("a: inf b: -inf c: Infinity", "a=inff b=-inff c=inff ");
  expect_read("a: 18446744073709551616 b: -9223372036854775808",
              "a=9223372036854775808 b=-9223372036854775808 ");
}

TENON_TEST(reads_words_lists_and_strings) {
  expect_read("pool: MAX flag: true", "pool=MAX flag=true ");
  expect_read("dim: [1, 2, 3] none: [] one: [4]", "dim=1 dim=2 dim=3 one=4 ");
  expect_read("shape: [{dim: 1}, {dim: 2}]", "shape{ dim=1 } shape{ dim=2 } ");
  expect_read("a: 'x' \"y\"\n  'z'", "a='xyz' ");
  expect_read("a: \"q\\\"\\'\\\\ \\x41\\101\\t\\u00e9\\U0001F600\"",
              "a='q\"'\\ AA\t\xC3\xA9\xF0\x9F\x98\x80' ");
  expect_read("a: 'b#c' # a comment\nb: 1", "a='b#c' b=1 ");
}

/* Names go into messages and reports, which are UTF-8. */
TENON_TEST(makes_other_bytes_readable) {
  expect_read("a: '\\xFF\\000b'", "a='\\xff\\x00b' ");
  expect_read("a: '\xC3'", "a='\\xc3' ");
}

TENON_TEST(tells_line_and_column) {
  expect_refused("a: 1\nb 2",
                 "line 2, column 3: expected ':' or '{' after a field's name, found '2'");
  expect_refused("a: }", "line 1, column 4: expected a value, found '}'");
  expect_refused("a {\n  b: 1\n",
                 "line 3, column 1: the file ends before the message that begins "
                 "in line 1");
  expect_refused("a: 'b\nc'", "line 1, column 6: expected the string's closing quote");
  expect_refused("a: \"b", "expected the string's closing quote, found the end of the file");
  expect_refused("\n\n  }", "line 3, column 3: expected a field's name, found '}'");
  expect_refused("a: 08", "line 1, column 4: '08' is no number");
  expect_refused("a: 1.2.3", "'1.2.3' is no number");
  expect_refused("a: 12abc", "'12abc' is no number");
  expect_refused("a: 0x", "'0x' is no number");
  expect_refused("a: .", "'.' is no number");
  expect_refused("a: -b", "line 1, column 4: expected a number after '-'");
  expect_refused("a: [1 2]", "expected ',' or ']' after a list's value, found '2'");
  expect_refused("a: '\\q'", "expected an escape after '\\', found 'q'");
  expect_refused("a: '\\ud800'", "expected an escape");
  expect_refused("a: '\\777'", "expected an escape");
  expect_refused("a: 1 \x01", "column 6: expected a field's name, found the byte 0x01");
  expect_refused("[a.b: 1", "expected ']'");
}

TENON_TEST(bounds_nesting) {
  char text[1024] = "";
  for (int i = 0; i < 98; ++i) {
    (void)strncat(text, "a{", sizeof(text) - strlen(text) - 1);
  }
  char whole[1024];
  (void)snprintf(whole, sizeof(whole), "%s", text);
  for (int i = 0; i < 98; ++i) {
    (void)strncat(whole, "}", sizeof(whole) - strlen(whole) - 1);
  }
  tenon__fake_t fake;
  tenon_reader_t reader;
  tenon__caffe_message_t* message = NULL;
  tenon__fake_initialize(&fake, &under_test);
  tenon__fake_reader(&fake, &reader);
  EXPECT_STATUS(tenon__caffe_text_read(&reader, whole, strlen(whole), &message), TENON_OK);
  tenon__fake_deinitialize(&fake);
  (void)strncat(text, "a{a{a{", sizeof(text) - strlen(text) - 1);
  expect_refused(text, "nested more than 100 deep");
}

/* Whatever fails, the reader says so and ends. */
TENON_TEST(each_allocation_may_fail) {
  static const char text[] = "layer { name: 'a' dim: [1, 2] kind: MAX } x: 'y' 'z'";
  for (size_t i = 1; i < 4; ++i) {
    tenon__fake_t fake;
    tenon_reader_t reader;
    tenon__caffe_message_t* message = NULL;
    tenon__fake_initialize(&fake, &under_test);
    tenon__fake_reader(&fake, &reader);
    fake.fail_at = i;
    const tenon_status_t status = tenon__caffe_text_read(&reader, text, sizeof(text) - 1, &message);
    EXPECT(status == TENON_ERROR_OUT_OF_MEMORY ? fake.error_count == 1 : status == TENON_OK);
    tenon__fake_deinitialize(&fake);
  }
}
