/* The values of protocol buffers' text format: every form, and every one that is none. */
#include "core/base/test.h"
#include "tests/support/fake.h"

static tenon__fake_t fake;
static tenon_reader_t reader;
static tenon_reader_text_t text;

/* Reads the value that the text begins with. */
static tenon_status_t read_bytes(const char* bytes, size_t size,
                                 tenon_reader_literal_t* out_literal) {
  tenon_reader_message_t message;
  tenon__fake_initialize(&fake, NULL);
  tenon__fake_reader(&fake, &reader);
  const tenon_status_t status = tenon_reader_text_begin(&reader, bytes, size, 1, &text, &message);
  return status != TENON_OK ? status : tenon_reader_text_literal(&text, out_literal);
}

static tenon_reader_literal_t read(const char* bytes, tenon_reader_literal_kind_t kind) {
  tenon_reader_literal_t literal = {.line = 0};
  EXPECT_STATUS(read_bytes(bytes, strlen(bytes), &literal), TENON_OK);
  EXPECT_TEXT(fake.messages, "");
  EXPECT_INT(literal.kind, kind);
  return literal;
}

static void end(void) {
  tenon__fake_deinitialize(&fake);
}

static void expect_refused_bytes(const char* bytes, size_t size, const char* words) {
  tenon_reader_literal_t literal;
  EXPECT_STATUS(read_bytes(bytes, size, &literal), TENON_ERROR_INVALID_DATA);
  EXPECT_INT(fake.error_count, 1);
  EXPECT_CONTAINS(fake.messages, words);
  end();
}

static void expect_refused(const char* bytes, const char* words) {
  expect_refused_bytes(bytes, strlen(bytes), words);
}

/* ---- Numbers ---- */

static void expect_integer(const char* bytes, bool is_negative, uint64_t magnitude, double number) {
  const tenon_reader_literal_t literal = read(bytes, TENON_READER_LITERAL_NUMBER);
  EXPECT(literal.is_integer && literal.is_negative == is_negative);
  EXPECT(literal.magnitude == magnitude);
  EXPECT(literal.number == number);
  EXPECT(text.at == text.end);
  end();
}

TENON_TEST(reads_integers_of_three_bases) {
  expect_integer("0", false, 0, 0);
  expect_integer("42", false, 42, 42);
  expect_integer("+42", false, 42, 42);
  expect_integer("-42", true, 42, -42);
  expect_integer("- 42", true, 42, -42);
  expect_integer("-\t# so\n42", true, 42, -42);
  expect_integer("017", false, 15, 15);
  expect_integer("-017", true, 15, -15);
  expect_integer("0x1F", false, 31, 31);
  expect_integer("0XfEe", false, 0xFEE, 0xFEE);
}

/* A number of floating point may be written without a point. */
TENON_TEST(integers_saturate_their_numbers_do_not) {
  expect_integer("18446744073709551615", false, UINT64_MAX, 18446744073709551615.0);
  expect_integer("18446744073709551616", false, UINT64_MAX, 18446744073709551616.0);
  expect_integer("-100000000000000000000000", true, UINT64_MAX, -1e23);
  expect_integer("0xFFFFFFFFFFFFFFFF", false, UINT64_MAX, 18446744073709551615.0);
}

static void expect_int64(const char* bytes, int64_t expected) {
  const tenon_reader_literal_t literal = read(bytes, TENON_READER_LITERAL_NUMBER);
  EXPECT_INT(tenon_reader_literal_int64(&literal), expected);
  end();
}

TENON_TEST(integers_become_what_64_bits_hold) {
  expect_int64("0", 0);
  expect_int64("-1", -1);
  expect_int64("9223372036854775807", INT64_MAX);
  expect_int64("9223372036854775808", INT64_MAX);
  expect_int64("99999999999999999999", INT64_MAX);
  expect_int64("-9223372036854775807", -INT64_MAX);
  expect_int64("-9223372036854775808", INT64_MIN);
  expect_int64("-9223372036854775809", INT64_MIN);
  expect_int64("-99999999999999999999", INT64_MIN);
}

static void expect_number(const char* bytes, double expected) {
  const tenon_reader_literal_t literal = read(bytes, TENON_READER_LITERAL_NUMBER);
  EXPECT(!literal.is_integer && !literal.is_negative);
  EXPECT(literal.number == expected);
  EXPECT(text.at == text.end);
  end();
}

TENON_TEST(reads_numbers_with_point_and_exponent) {
  expect_number("1.5", 1.5);
  expect_number("-1.5", -1.5);
  expect_number("+.25", 0.25);
  expect_number("1.", 1);
  expect_number("1e3", 1000);
  expect_number("1E+3", 1000);
  expect_number("25e-4", 0.0025);
  expect_number("1f", 1);
  expect_number("-1.5F", -1.5);
  expect_number("1e400", (double)INFINITY);
  expect_number("017.5", 17.5);
}

TENON_TEST(reads_what_is_no_finite_number) {
  static const char* const infinite[] = {"inf", "Inf", "INF", "infinity", "Infinity", "iNfInItY"};
  for (size_t i = 0; i < sizeof(infinite) / sizeof(infinite[0]); ++i) {
    char negative[16];
    (void)snprintf(negative, sizeof(negative), "-%s", infinite[i]);
    expect_number(infinite[i], (double)INFINITY);
    expect_number(negative, -(double)INFINITY);
  }
  EXPECT(isnan(read("nan", TENON_READER_LITERAL_NUMBER).number));
  end();
  EXPECT(isnan(read("-NaN", TENON_READER_LITERAL_NUMBER).number));
  end();
}

TENON_TEST(a_number_ends_where_no_part_of_it_follows) {
  static const char* const texts[] = {"1,", "1]", "1}", "1 2", "1#", "1-2", "1+2", "0x1e-2"};
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    EXPECT_INT(read(texts[i], TENON_READER_LITERAL_NUMBER).magnitude, i < 7 ? 1 : 0x1E);
    EXPECT(text.at < text.end);
    end();
  }
}

TENON_TEST(refuses_what_is_no_number) {
  static const char* const bad[] = {"08",    "1.2.3", "12abc", "0x",   "0xg", ".",
                                    ".e1",   "1e",    "1e+",   "1ee3", "1_0", "1ff",
                                    "0x1.8", "0x.8",  "1.5x",  "0b11", ".f"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
    char words[64];
    (void)snprintf(words, sizeof(words), "line 1, column 1: '%s' is no number\n", bad[i]);
    expect_refused(bad[i], words);
  }
  expect_refused(" -08", "line 1, column 2: '08' is no number");
  expect_refused("-b", "line 1, column 1: expected a number after '-'");
  expect_refused("--1", "line 1, column 2: expected a value, found '-'");
  expect_refused("-'1'", "line 1, column 2: expected a value, found '''");
  expect_refused("-", "line 1, column 2: expected a value, found the end of the file");
}

TENON_TEST(numbers_have_at_most_511_characters) {
  char digits[TENON_READER_NUMBER_LIMIT + 2] = "";
  memset(digits, '0', sizeof(digits) - 1);
  digits[TENON_READER_NUMBER_LIMIT] = '\0';
  digits[TENON_READER_NUMBER_LIMIT - 1] = '7';
  expect_integer(digits, false, 7, 7);
  digits[TENON_READER_NUMBER_LIMIT] = '7';
  expect_refused(digits, "a number of more than 511 characters");
}

/* ---- Words ---- */

TENON_TEST(reads_words) {
  static const char* const words[] = {"MAX", "true", "_x9", "in", "infinit", "nano", "e1"};
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i) {
    const tenon_reader_literal_t literal = read(words[i], TENON_READER_LITERAL_WORD);
    EXPECT_TEXT(literal.text, words[i]);
    EXPECT_INT(literal.size, strlen(words[i]));
    end();
  }
  EXPECT_TEXT(read("+MAX", TENON_READER_LITERAL_WORD).text, "MAX");
  end();
}

TENON_TEST(refuses_what_is_no_value) {
  expect_refused("", "line 1, column 1: expected a value, found the end of the file");
  expect_refused("}", "line 1, column 1: expected a value, found '}'");
  expect_refused(" # a comment\n\t:", "line 2, column 2: expected a value, found ':'");
  expect_refused("\x01", "expected a value, found the byte 0x01");
  expect_refused("\xC3\xA9", "expected a value, found the byte 0xc3");
  expect_refused("\x7F", "expected a value, found the byte 0x7f");
  expect_refused_bytes("\0a", 2, "expected a value, found the byte 0x00");
}

/* ---- Strings ---- */

static void expect_string(const char* bytes, const char* expected, size_t size) {
  const tenon_reader_literal_t literal = read(bytes, TENON_READER_LITERAL_STRING);
  REQUIRE(literal.text != NULL);
  EXPECT_INT(literal.size, size);
  EXPECT(literal.size == size && memcmp(literal.text, expected, size) == 0);
  EXPECT(text.at == text.end);
  end();
}

#define EXPECT_STRING(bytes, expected) expect_string(bytes, expected, sizeof(expected) - 1)

TENON_TEST(reads_strings_in_either_quotes) {
  EXPECT_STRING("''", "");
  EXPECT_STRING("\"\"", "");
  EXPECT_STRING("'a \"b\" c'", "a \"b\" c");
  EXPECT_STRING("\"it's\"", "it's");
  EXPECT_STRING("'a#b'", "a#b");
  EXPECT_STRING("'\xC3\xFF\x01'", "\xC3\xFF\x01");
  EXPECT_STRING("'a' \"b\"# and\n  'c'", "abc");
  EXPECT_STRING("'''''a'", "a");
}

TENON_TEST(reads_every_escape) {
  EXPECT_STRING("'\\a\\b\\f\\n\\r\\t\\v'", "\a\b\f\n\r\t\v");
  EXPECT_STRING("'\\\\\\'\\\"\\?'", "\\'\"?");
  EXPECT_STRING("'\\0\\7\\12\\101\\377'", "\0\7\12\101\377");
  EXPECT_STRING("'\\1017'", "A7"); /* three digits, no more */
  EXPECT_STRING("'\\18'", "\0018");
  EXPECT_STRING("'\\x4\\x41\\X6a\\xFF\\x00'", "\4Aj\xFF\0");
  EXPECT_STRING("'\\x414'", "A4"); /* two */
}

TENON_TEST(reads_escapes_of_unicode) {
  EXPECT_STRING("'\\u0041\\u7f\\u80'", "A\x7F\xC2\x80");
  EXPECT_STRING("'\\u07ff\\u0800\\uFFFF'", "\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF");
  EXPECT_STRING("'\\ud7ff\\ue000'", "\xED\x9F\xBF\xEE\x80\x80");
  EXPECT_STRING("'\\U00010000\\U0010FFFF\\U00000041'",
                "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"
                "A");
  EXPECT_STRING("'\\u00e9a'",
                "\xC3\xA9"
                "a"); /* four digits, no more */
}

TENON_TEST(refuses_what_is_no_escape) {
  static const char* const bad[] = {"'\\q'",         "'\\8'",         "'\\ '",     "'\\xg'",
                                    "'\\x'",         "'\\u'",         "'\\uq'",    "'\\U'",
                                    "'\\400'",       "'\\777'",       "'\\ud800'", "'\\udfff'",
                                    "'\\U00110000'", "'\\UFFFFFFFF'", "'\\N'",     "'\\\n'"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
    expect_refused(bad[i], "expected an escape after '\\', found ");
  }
  expect_refused("'ab\\q'", "line 1, column 5: expected an escape after '\\', found 'q'");
  expect_refused("'\\", "line 1, column 3: expected an escape after '\\', found the end");
  expect_refused_bytes("'\\\0'", 4, "expected an escape after '\\', found the byte 0x00");
}

TENON_TEST(strings_end_in_their_line) {
  expect_refused("'abc", "line 1, column 5: expected the string's closing quote, found the end");
  expect_refused("'abc\"", "expected the string's closing quote");
  expect_refused("'", "line 1, column 2: expected the string's closing quote");
  expect_refused("'ab\nc'",
                 "line 1, column 4: expected the string's closing quote, found the byte");
  expect_refused("'a'\n 'b", "line 2, column 4: expected the string's closing quote");
}

/* Long ones move as they grow. */
TENON_TEST(reads_long_strings) {
  static char bytes[20004];
  for (size_t i = 1; i <= 20000; ++i) {
    bytes[i] = i % 2 == 1 ? '\\' : 'n';
  }
  bytes[0] = '\'';
  bytes[20001] = '\'';
  const tenon_reader_literal_t literal = read(bytes, TENON_READER_LITERAL_STRING);
  EXPECT_INT(literal.size, 10000);
  for (size_t i = 0; i < literal.size; ++i) {
    EXPECT(literal.text[i] == '\n');
  }
  end();
}

/* ---- Where, and without memory ---- */

TENON_TEST(tells_where_a_value_begins) {
  const tenon_reader_literal_t literal = read(" # one\r\n\n\t -\n3", TENON_READER_LITERAL_NUMBER);
  EXPECT_INT(literal.line, 3);
  EXPECT_INT(literal.column, 3);
  EXPECT_STATUS(tenon_reader_literal_fail(&text, &literal, "no good"), TENON_ERROR_INVALID_DATA);
  EXPECT_TEXT(fake.messages, "line 3, column 3: no good\n");
  end();
}

TENON_TEST(says_when_memory_is_out) {
  static const char* const texts[] = {"word", "'string'"};
  for (size_t i = 0; i < 2; ++i) {
    tenon_reader_message_t message;
    tenon_reader_literal_t literal;
    tenon__fake_initialize(&fake, NULL);
    tenon__fake_reader(&fake, &reader);
    fake.fail_at = 1;
    EXPECT_STATUS(tenon_reader_text_begin(&reader, texts[i], strlen(texts[i]), 1, &text, &message),
                  TENON_OK);
    EXPECT_STATUS(tenon_reader_text_literal(&text, &literal), TENON_ERROR_OUT_OF_MEMORY);
    EXPECT_TEXT(fake.messages, "out of memory\n");
    end();
  }
}
