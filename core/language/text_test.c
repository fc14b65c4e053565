/* The parser: precedence, statements of both languages, calls, what is refused and how it says so.
 */
#include "core/language/text.h"

#include "core/base/test.h"

/* The tree in prefix form. */
static void print_into(const tenon__syntax_t* syntax, char* out, size_t size) {
  const size_t used = strlen(out);
  char head[64];
  switch (syntax->kind) {
    case TENON_SYNTAX_INTEGER:
      (void)snprintf(head, sizeof(head), "%lld", (long long)syntax->integer);
      break;
    case TENON_SYNTAX_FLOAT:
      (void)snprintf(head, sizeof(head), "%g", syntax->number);
      break;
    case TENON_SYNTAX_STRING:
      (void)snprintf(head, sizeof(head), "'%s'", syntax->text);
      break;
    case TENON_SYNTAX_NAME:
    case TENON_SYNTAX_CALL:
      (void)snprintf(head, sizeof(head), "%s", syntax->text);
      break;
    case TENON_SYNTAX_INDEX:
      (void)snprintf(head, sizeof(head), "index");
      break;
    case TENON_SYNTAX_SELECT:
      (void)snprintf(head, sizeof(head), "?");
      break;
    case TENON_SYNTAX_LIST:
      (void)snprintf(head, sizeof(head), "list");
      break;
    case TENON_SYNTAX_RANGE:
      (void)snprintf(head, sizeof(head), "..");
      break;
    default:
      (void)snprintf(head, sizeof(head), "%c", syntax->op);
      break;
  }
  const bool parentheses = syntax->child_count > 0 || syntax->kind == TENON_SYNTAX_CALL ||
                           syntax->kind == TENON_SYNTAX_LIST;
  (void)snprintf(out + used, size - used, "%s%s", parentheses ? "(" : "", head);
  for (uint32_t i = 0; i < syntax->child_count; ++i) {
    (void)snprintf(out + strlen(out), size - strlen(out), " ");
    print_into(syntax->children[i], out, size);
  }
  (void)snprintf(out + strlen(out), size - strlen(out), "%s", parentheses ? ")" : "");
}

#define EXPECT_TREE(source, expected)                                                       \
  do {                                                                                      \
    tenon__arena_t arena_;                                                                  \
    tenon__arena_initialize(&arena_, tenon__allocator_default());                           \
    const tenon__syntax_t* syntax_ = NULL;                                                  \
    char text_[512] = "";                                                                   \
    EXPECT_STATUS(tenon__text_parse_expression(&arena_, source, NULL, &syntax_), TENON_OK); \
    if (syntax_ != NULL) {                                                                  \
      print_into(syntax_, text_, sizeof(text_));                                            \
    }                                                                                       \
    EXPECT_TEXT(text_, expected);                                                           \
    tenon__arena_deinitialize(&arena_);                                                     \
  } while (0)

TENON_TEST(precedence) {
  EXPECT_TREE("a + b * c", "(+ a (* b c))");
  EXPECT_TREE("a - b - c", "(- (- a b) c)");
  EXPECT_TREE("-a * !b", "(* (- a) (! b))");
  EXPECT_TREE("a ? b : c ? d : e", "(? a b (? c d e))");
  EXPECT_TREE("a || b && c | d == e < f + 1", "(O a (A b (| c (E d (< e (+ f 1))))))");
  EXPECT_TREE("a <= b != c >= d", "(N (L a b) (G c d))");
  EXPECT_TREE("(a + b) % 3 ^ 1 & 2", "(& (^ (% (+ a b) 3) 1) 2)");
}

TENON_TEST(primaries) {
  EXPECT_TREE("1.5e-3", "0.0015");
  EXPECT_TREE("2.", "2");
  EXPECT_TREE("sum(x, 2..)", "(sum x (.. 2))");
  EXPECT_TREE("sum(x, 0..2)", "(sum x (.. 0 2))");
  EXPECT_TREE("o(a..a + rank(i))", "(o (.. a (+ a (rank i))))");
  EXPECT_TREE("[1, n - 1, []]", "(list 1 (- n 1) (list))");
  EXPECT_TREE("perm[d][0]", "(index (index perm d) 0)");
  EXPECT_TREE("mode == 'constant'", "(E mode 'constant')");
  EXPECT_TREE("-inf", "(- inf)");
  EXPECT_TREE("f()", "(f)");
  EXPECT_TREE("true # a comment\n && x", "(A true x)");
  EXPECT_TREE("9223372036854775807", "9223372036854775807");
}

TENON_TEST(statements) {
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  tenon__text_t text = {0};
  EXPECT_STATUS(tenon__text_parse(&arena,
                                  "let a = wrap(axis, rank(x));\n y.rank = 2; y[d] = d; z[0] = 4;"
                                  " y: x[d] = o(d); x = linear; fill = value;",
                                  NULL, &text),
                TENON_OK);
  REQUIRE(text.statement_count == 7);
  EXPECT(text.statements[0].is_let);
  EXPECT_TEXT(text.statements[0].target, "a");
  EXPECT_TEXT(text.statements[1].member, "rank");
  EXPECT_TEXT(text.statements[2].subscript, "d");
  EXPECT_TEXT(text.statements[3].subscript, "0");
  EXPECT_TEXT(text.statements[4].prefix, "y");
  EXPECT_TEXT(text.statements[4].target, "x");
  EXPECT_TEXT(text.statements[5].value->text, "linear");
  EXPECT_INT(text.statements[1].position, 30);
  tenon__arena_deinitialize(&arena);
}

TENON_TEST(calls) {
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  tenon__calls_t calls = {0};
  EXPECT_STATUS(tenon__calls_parse(&arena,
                                   "t = standard.mat_mul/1(a, b){transpose_a=1, mode='x'};"
                                   "y, _ = acme.two/12(t, _)",
                                   NULL, &calls),
                TENON_OK);
  REQUIRE(calls.statement_count == 2);
  EXPECT_TEXT(calls.statements[0].op, "standard.mat_mul/1");
  EXPECT_INT(calls.statements[0].attribute_count, 2);
  EXPECT_TEXT(calls.statements[0].attributes[1].name, "mode");
  EXPECT_TEXT(calls.statements[0].attributes[1].value->text, "x");
  EXPECT_TEXT(calls.statements[1].op, "acme.two/12");
  EXPECT_INT(calls.statements[1].result_count, 2);
  EXPECT_TEXT(calls.statements[1].arguments[1], "_");
  tenon__arena_deinitialize(&arena);
}

static void expect_fault(const char* source, const char* message) {
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  tenon__test_messages_t messages;
  const tenon_sink_t* sink = tenon__test_listen(&messages);
  tenon__text_t text = {0};
  EXPECT_STATUS(tenon__text_parse(&arena, source, sink, &text), TENON_ERROR_INVALID_DATA);
  EXPECT_INT(messages.count, 1);
  EXPECT_CONTAINS(messages.text, message);
  EXPECT_INT(text.statement_count, 0);
  tenon__arena_deinitialize(&arena);
}

TENON_TEST(faults_name_the_place) {
  expect_fault("y = ", "column 5: expected an expression, found the end");
  expect_fault("y = a +* b", "column 8: expected an expression, found \"*\"");
  expect_fault("y = (a", "column 7: expected \")\"");
  expect_fault("y a", "column 3: expected \"=\"");
  expect_fault("y = a b", "column 7: expected \";\"");
  expect_fault("y = 'abc", "column 5: the string has no end");
  expect_fault("y = 99999999999999999999", "column 5: the integer is too large");
  expect_fault("y = 3x", "column 6: a letter follows a number");
  expect_fault("y = a @ b", "column 7: unexpected character");
  expect_fault("3 = a", "column 1: expected a statement");
  expect_fault("y[a + 1] = a", "column 5: expected \"]\"");
}

TENON_TEST(limits_length_nesting_and_depth) {
  static char text[20000];
  memset(text, '(', 100);
  expect_fault(text, "expected a statement");
  (void)snprintf(text, sizeof(text), "y = ");
  memset(text + 4, '(', 100);
  expect_fault(text, "less nesting");
  memset(text + 4, '-', 100);
  expect_fault(text, "less nesting");
  memset(text, 0, sizeof(text));
  (void)snprintf(text, sizeof(text), "y = 1");
  for (int i = 0; i < 300; ++i) {
    text[5 + 2 * i] = '+';
    text[6 + 2 * i] = '1';
  }
  expect_fault(text, "a shorter expression");
  memset(text, ' ', 17000);
  expect_fault(text, "longer than 16 KiB");
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  tenon__text_t parsed = {0};
  EXPECT_STATUS(tenon__text_parse(&arena, NULL, NULL, &parsed), TENON_ERROR_INVALID_DATA);
  EXPECT_STATUS(tenon__text_parse(&arena, "", NULL, &parsed), TENON_OK);
  tenon__arena_deinitialize(&arena);
}

static bool parse_all(tenon_allocator_t allocator, void* user) {
  (void)user;
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, allocator);
  tenon__text_t text = {0};
  tenon__calls_t calls;
  const tenon__syntax_t* expression = NULL;
  const bool fine =
      tenon__text_parse(&arena, "let m = max(x, [0, 1, 2, 3, 4]); y[d] = exp(x - m) ? 'a' : 2.5",
                        NULL, &text) == TENON_OK &&
      tenon__text_parse_expression(&arena, "f(1..2, -x[3])", NULL, &expression) == TENON_OK &&
      tenon__calls_parse(&arena, "a, b = p.q/1(x, y){k=[1, 2]}", NULL, &calls) == TENON_OK;
  tenon__arena_deinitialize(&arena);
  return fine;
}

TENON_TEST(survives_failing_allocations) {
  tenon__test_each_allocation(parse_all, NULL);
}
