/* The command line: what is taken, what is refused, and with which words. */
#include "text/options.h"

#include <string.h>

#include "core/base/test.h"
#include "text/console.h"
#include "text/shape_text.h"
#include "text/spelling.h"

typedef struct target_t {
  bool flag;
  uint32_t verbose;
  const char* text;
  tool_list_t list;
  uint32_t count;
  double number;
  uint64_t size;
} target_t;

static const tool_option_t options[] = {
    {"--flag", "f", NULL, TOOL_OPTION_FLAG, offsetof(target_t, flag), TOOL_FOR_BUILDING, "a flag"},
    {"--verbose", "v", NULL, TOOL_OPTION_TALLY, offsetof(target_t, verbose), 0, "more"},
    {"--output", "o", "FILE", TOOL_OPTION_TEXT, offsetof(target_t, text), 0, "a file"},
    {"--input", NULL, "X", TOOL_OPTION_LIST, offsetof(target_t, list), 0, "inputs"},
    {"--threads", NULL, "N", TOOL_OPTION_COUNT, offsetof(target_t, count), 0, "threads"},
    {"--batch", NULL, "N", TOOL_OPTION_POSITIVE, offsetof(target_t, count), 0, "batch"},
    {"--seconds", NULL, "S", TOOL_OPTION_NUMBER, offsetof(target_t, number), 0, "seconds"},
    {"--workspace", NULL, "SIZE", TOOL_OPTION_SIZE, offsetof(target_t, size), 0, "bytes"},
};
static const tool_option_rule_t rules[] = {
    {"--batch", "--threads --input", NULL},
    {"--seconds", NULL, "--workspace --flag"},
};
static const tool_command_t command = {"test", "FILE", 1, 2, "", "", "", NULL};

/* Parses up to eight words; the exit status, or -1 when the command may go on. */
static int parse(const char* const* words, target_t* out_target, tool_arguments_t* out_arguments) {
  char* argv[9] = {NULL};
  int argc = 0;
  for (; argc < 8 && words[argc] != NULL; ++argc) {
    argv[argc] = (char*)words[argc];
  }
  tool_console_silence(true);
  tool_console_forget_error();
  *out_target = (target_t){0};
  *out_arguments = (tool_arguments_t){0};
  const tool_option_group_t groups[] = {
      TOOL_OPTION_GROUP_RULED("options", options, rules, out_target)};
  int status = 0;
  return tool_options_parse(&command, groups, 1, argc, argv, out_arguments, &status) ? -1 : status;
}

#define PARSE(...) parse((const char*[]){__VA_ARGS__, NULL}, &target, &arguments)

TENON_TEST(takes_every_kind_in_both_spellings) {
  target_t target;
  tool_arguments_t arguments;
  EXPECT_INT(PARSE("-f", "a", "--output=x", "--input", "1", "--input=2"), -1);
  EXPECT(target.flag);
  EXPECT_TEXT(target.text, "x");
  EXPECT_INT(target.list.count, 2);
  EXPECT_TEXT(target.list.items[1], "2");
  EXPECT(target.list.items[2] == NULL);
  EXPECT_INT(arguments.operands.count, 1);
  tool_arguments_free(&arguments);
  tool_list_free(&target.list);
  EXPECT_INT(PARSE("a", "-ox", "--threads=4", "--seconds", "2.5", "-v", "-v"), -1);
  EXPECT_TEXT(target.text, "x");
  EXPECT_INT(target.count, 4);
  EXPECT_NEAR(target.number, 2.5, 0);
  EXPECT_INT(target.verbose, 2);
  tool_arguments_free(&arguments);
}

TENON_TEST(counts_letters_that_are_repeated) {
  target_t target;
  tool_arguments_t arguments;
  EXPECT_INT(PARSE("a", "-vv", "-v", "--verbose"), -1);
  EXPECT_INT(target.verbose, 4);
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "-vx"), TOOL_EXIT_USAGE);
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "-ff"), TOOL_EXIT_USAGE);
  tool_arguments_free(&arguments);
}

TENON_TEST(stops_at_two_dashes) {
  target_t target;
  tool_arguments_t arguments;
  EXPECT_INT(PARSE("--", "--flag", "-"), -1);
  EXPECT(!target.flag);
  EXPECT_TEXT(arguments.operands.items[0], "--flag");
  tool_arguments_free(&arguments);
}

TENON_TEST(refuses_with_words) {
  target_t target;
  tool_arguments_t arguments;
  EXPECT_INT(PARSE("a", "--thread", "4"), TOOL_EXIT_USAGE);
  EXPECT_CONTAINS(tool_console_last_error(), "did you mean --threads?");
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "--threads", "-1"), TOOL_EXIT_USAGE);
  EXPECT_CONTAINS(tool_console_last_error(), "whole number");
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "--batch", "0"), TOOL_EXIT_USAGE);
  EXPECT_CONTAINS(tool_console_last_error(), "--batch wants a whole number, 1 or more");
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "--foo", "0"), TOOL_EXIT_USAGE);
  EXPECT(strstr(tool_console_last_error(), "did you mean") == NULL);
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "--seconds", "nan"), TOOL_EXIT_USAGE);
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "--workspace", "5X"), TOOL_EXIT_USAGE);
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "--flag=1"), TOOL_EXIT_USAGE);
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "--output"), TOOL_EXIT_USAGE);
  EXPECT_CONTAINS(tool_console_last_error(), "wants FILE after it");
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("--flag"), TOOL_EXIT_USAGE);
  EXPECT_CONTAINS(tool_console_last_error(), "FILE is missing");
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "b", "c"), TOOL_EXIT_USAGE);
  EXPECT_CONTAINS(tool_console_last_error(), "\"c\" is too much");
  tool_arguments_free(&arguments);
}

TENON_TEST(refuses_sizes_that_cannot_be_meant) {
  target_t target;
  tool_arguments_t arguments;
  EXPECT_INT(PARSE("a", "--workspace=64M"), -1);
  EXPECT_INT(target.size, 64 << 20);
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "--workspace", "64B"), -1);
  EXPECT_INT(target.size, 64);
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "--workspace", "64"), TOOL_EXIT_USAGE);
  EXPECT_CONTAINS(tool_console_last_error(), "64M are mebibytes, 64B are bytes");
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "--workspace", "16777216"), -1);
  EXPECT_INT(target.size, 16 << 20);
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "--workspace", "0M"), TOOL_EXIT_USAGE);
  tool_arguments_free(&arguments);
}

TENON_TEST(refuses_what_contradicts_or_does_nothing) {
  target_t target;
  tool_arguments_t arguments;
  EXPECT_INT(PARSE("a", "--batch", "2"), TOOL_EXIT_USAGE);
  EXPECT_CONTAINS(tool_console_last_error(), "--batch does nothing without one of --threads");
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "--batch", "2", "--input", "x"), -1);
  EXPECT(tool_arguments_have(&arguments, "--batch"));
  EXPECT(!tool_arguments_have(&arguments, "--threads"));
  tool_arguments_free(&arguments);
  tool_list_free(&target.list);
  EXPECT_INT(PARSE("a", "--flag", "--seconds", "2"), TOOL_EXIT_USAGE);
  EXPECT_CONTAINS(tool_console_last_error(), "--seconds and --flag contradict each other");
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "--seconds=2", "--seconds=3"), TOOL_EXIT_USAGE);
  EXPECT_CONTAINS(tool_console_last_error(), "--seconds is given twice: 2 and 3");
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "--seconds=2", "--seconds=2"), -1);
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "--output="), TOOL_EXIT_USAGE);
  EXPECT_CONTAINS(tool_console_last_error(), "--output wants FILE, not \"\"");
  tool_arguments_free(&arguments);
}

TENON_TEST(refuses_what_is_for_something_else) {
  target_t target;
  tool_arguments_t arguments;
  EXPECT_INT(PARSE("a", "--seconds", "2"), -1);
  EXPECT_STATUS(tool_arguments_check(&arguments, TOOL_FOR_RUNNING, "a is a plan"), TENON_OK);
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "--flag"), -1);
  EXPECT_STATUS(tool_arguments_check(&arguments, TOOL_FOR_BUILDING, "a is a plan"), TENON_OK);
  EXPECT_STATUS(tool_arguments_check(&arguments, TOOL_FOR_RUNNING, "a is a plan"),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_TEXT(tool_console_last_error(), "--flag is for building; a is a plan");
  EXPECT_INT(tool_exit_status(TENON_ERROR_INVALID_ARGUMENT), TOOL_EXIT_USAGE);
  tool_arguments_free(&arguments);
  (void)tool_fail(TENON_ERROR_INVALID_ARGUMENT, "another");
  EXPECT_INT(tool_exit_status(TENON_ERROR_INVALID_ARGUMENT), TOOL_EXIT_FAILED);
}

TENON_TEST(knows_what_others_call_an_option) {
  target_t target;
  tool_arguments_t arguments;
  EXPECT_INT(PARSE("a", "--warmUp=200"), TOOL_EXIT_USAGE);
  EXPECT_CONTAINS(tool_console_last_error(), "--warm-up, in seconds");
  tool_arguments_free(&arguments);
  EXPECT_INT(PARSE("a", "--onnx=m.onnx"), TOOL_EXIT_USAGE);
  EXPECT_CONTAINS(tool_console_last_error(), "tenon build MODEL -o PLAN");
  tool_arguments_free(&arguments);
}

TENON_TEST(finds_the_word_that_was_meant) {
  static const char* const words[] = {"run", "build", "bench"};
  EXPECT_TEXT(tool_nearest_word("rnu", words, 3), "run");
  EXPECT_TEXT(tool_nearest_word("biuld", words, 3), "build");
  EXPECT_TEXT(tool_nearest_word("Run", words, 3), "run");
  EXPECT(tool_nearest_word("frobnicate", words, 3) == NULL);
}

TENON_TEST(reads_sizes) {
  uint64_t bytes = 0;
  EXPECT(tool_parse_size("1.5G", &bytes) && bytes == 1610612736);
  EXPECT(tool_parse_size("4096", &bytes) && bytes == 4096);
  EXPECT(tool_parse_size("2KiB", &bytes) && bytes == 2048);
  EXPECT(!tool_parse_size("", &bytes));
  EXPECT(!tool_parse_size("-1", &bytes));
  EXPECT(!tool_parse_size("1e30", &bytes));
  EXPECT(!tool_parse_size("1MB2", &bytes));
}

TENON_TEST(reads_shapes_as_trtexec_does) {
  tool_named_shapes_t shapes = {0};
  tool_console_silence(true);
  EXPECT_STATUS(
      tool_named_shapes_parse("--shapes", "image:1x3x8x8,input:0:2x?,'a,b':scalar", &shapes),
      TENON_OK);
  REQUIRE(shapes.count == 3);
  EXPECT_TEXT(shapes.items[0].name, "image");
  EXPECT_INT(shapes.items[0].shapes[2].rank, 4);
  EXPECT_INT(shapes.items[0].shapes[0].dims[1], 3);
  EXPECT_TEXT(shapes.items[1].name, "input:0");
  EXPECT_INT(shapes.items[1].shapes[0].dims[1], -1);
  EXPECT_TEXT(shapes.items[2].name, "a,b");
  EXPECT_INT(shapes.items[2].shapes[0].rank, 0);
  tool_named_shapes_free(&shapes);
}

TENON_TEST(reads_profiles) {
  tool_named_shapes_t shapes = {0};
  EXPECT_STATUS(tool_named_shapes_parse("--profile", "x:0:1x3:4x3:8x3", &shapes), TENON_OK);
  REQUIRE(shapes.count == 1);
  EXPECT_TEXT(shapes.items[0].name, "x:0");
  EXPECT_INT(shapes.items[0].shapes[0].dims[0], 1);
  EXPECT_INT(shapes.items[0].shapes[1].dims[0], 4);
  EXPECT_INT(shapes.items[0].shapes[2].dims[0], 8);
  EXPECT_STATUS(tool_named_shapes_parse("--profile", "x:0:1x3", &shapes),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tool_console_last_error(), "twice");
  EXPECT_STATUS(tool_named_shapes_parse("--profile", "nothing", &shapes),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_STATUS(tool_named_shapes_parse("--profile", "y:1xx3", &shapes),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_STATUS(tool_named_shapes_parse("--profile", "", &shapes), TENON_ERROR_INVALID_ARGUMENT);
  tool_named_shapes_free(&shapes);
}
