/*
 * From a public header, preprocessed, makes a C program that prints its layout: the size of every
 * structure, the offset and size of every member, the value of every enumerator. So nothing has to
 * be listed by hand, and nothing can be forgotten.
 *
 *   cc -E tenon/plugin.h | generate tenon/plugin.h > lock.c
 *
 * The program also asserts, when it is compiled, what the contract says of growing structures
 * (those that begin with `size_t size`): no padding that is not declared, and none inside of
 * another structure. With LOCK_LIBRARY defined it becomes a library instead that exports a variable
 * of each structure, for abidiff, which does not see what is reached through void*.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN_LIMIT 200000
#define MEMBER_LIMIT 256
#define STRUCTURE_LIMIT 256

typedef struct token_t {
  char text[64];
} token_t;

typedef struct structure_t {
  const char* name;
  const char* members[MEMBER_LIMIT];
  int member_count;
  bool is_growing;
} structure_t;

static token_t tokens[TOKEN_LIMIT];
static int token_count;
static structure_t structures[STRUCTURE_LIMIT];
static int structure_count;

static void fail(const char* what, const char* where) {
  (void)fprintf(stderr, "generate: %s near '%s'\n", what, where);
  exit(1);
}

/* ---- Tokens ---- */

static bool is_word(int c) {
  return isalnum(c) || c == '_';
}

/* "# 12 "path/tenon/plugin.h" 1": what follows comes from that file. */
static bool is_marker_of(const char* line, const char* header) {
  const char* begin = strchr(line, '"');
  const char* end = begin == NULL ? NULL : strchr(begin + 1, '"');
  const size_t length = strlen(header);
  return end != NULL && (size_t)(end - begin) > length &&
         strncmp(end - length, header, length) == 0;
}

static void add_token(const char* text, size_t length) {
  token_t* token = &tokens[token_count];
  (void)snprintf(token->text, sizeof(token->text), "%.*s", (int)length, text);
  if (++token_count == TOKEN_LIMIT) {
    fail("too many tokens", token->text);
  }
}

static void read_line(const char* line) {
  for (const char* c = line; *c != '\0';) {
    const char* begin = c++;
    if (isspace((unsigned char)*begin)) {
      continue;
    }
    if (*begin == '"') {
      c = strchr(c, '"');
      c = c == NULL ? begin + strlen(begin) : c + 1;
      continue;
    }
    while (is_word((unsigned char)*begin) && is_word((unsigned char)*c)) {
      ++c;
    }
    add_token(begin, (size_t)(c - begin));
  }
}

/* The tokens of `header` alone, not of what it includes. */
static void read_tokens(FILE* file, const char* header) {
  static char line[1 << 20];
  bool is_wanted = false;
  while (fgets(line, sizeof(line), file) != NULL) {
    if (line[0] == '#') {
      is_wanted = is_marker_of(line, header);
    } else if (is_wanted) {
      read_line(line);
    }
  }
}

static bool is(int token, const char* text) {
  return token >= 0 && token < token_count && strcmp(tokens[token].text, text) == 0;
}

static bool begins_with(int token, const char* text) {
  return token < token_count && strncmp(tokens[token].text, text, strlen(text)) == 0;
}

/* The token after the bracket that closes the one at `open`. */
static int after_bracket(int open) {
  int depth = 0;
  for (int i = open; i < token_count; ++i) {
    depth += is(i, "{") || is(i, "(") || is(i, "[");
    depth -= is(i, "}") || is(i, ")") || is(i, "]");
    if (depth == 0) {
      return i + 1;
    }
  }
  fail("a bracket is not closed", tokens[open].text);
  return token_count;
}

/* ---- Structures ---- */

static const structure_t* find_structure(const char* name) {
  for (int i = 0; i < structure_count; ++i) {
    if (strcmp(structures[i].name, name) == 0) {
      return &structures[i];
    }
  }
  return NULL;
}

/* The name that the declaration [begin, end) declares. */
static const char* declared_name(int begin, int end) {
  for (int i = begin; i + 2 < end; ++i) {
    if (is(i, "(") && is(i + 1, "*")) {
      return tokens[i + 2].text;
    }
    if (is(i, "{")) {
      i = after_bracket(i) - 1;
    }
  }
  int last = end - 1;
  while (last > begin && is(last, "]")) {
    while (last > begin && !is(last, "[")) {
      --last;
    }
    --last;
  }
  return tokens[last].text;
}

static void check_nesting(const structure_t* structure, int begin, int end) {
  for (int i = begin; i < end && !is(i, "("); ++i) {
    const structure_t* inner = find_structure(tokens[i].text);
    if (inner != NULL && inner->is_growing && !is(i + 1, "*")) {
      fail("a growing structure stands inside of another", structure->name);
    }
  }
}

static int read_structure(int name) {
  structure_t* structure = &structures[structure_count];
  const int end = after_bracket(name + 1) - 1;
  structure->name = tokens[name].text;
  structure->is_growing = is(name + 2, "size_t") && is(name + 3, "size");
  for (int begin = name + 2; begin < end;) {
    int semicolon = begin;
    while (semicolon < end && !is(semicolon, ";")) {
      const bool opens = is(semicolon, "{") || is(semicolon, "(") || is(semicolon, "[");
      if (is(semicolon, ",")) {
        fail("one declaration declares two members", structure->name);
      }
      semicolon = opens ? after_bracket(semicolon) : semicolon + 1;
    }
    if (structure->member_count == MEMBER_LIMIT) {
      fail("too many members", structure->name);
    }
    check_nesting(structure, begin, semicolon);
    structure->members[structure->member_count++] = declared_name(begin, semicolon);
    begin = semicolon + 1;
  }
  if (++structure_count == STRUCTURE_LIMIT) {
    fail("too many structures", structure->name);
  }
  return end;
}

static void read_structures(void) {
  for (int i = 0; i + 2 < token_count; ++i) {
    if (is(i, "struct") && begins_with(i + 1, "tenon_") && is(i + 2, "{")) {
      i = read_structure(i + 1);
    }
  }
}

/* ---- Functions ---- */

/* Calls write(name) for each function that the header declares. */
static void each_function(void (*write)(const char* name)) {
  int depth = 0;
  for (int i = 0; i + 1 < token_count; ++i) {
    if (depth == 0 && begins_with(i, "tenon_") && is(i + 1, "(")) {
      write(tokens[i].text);
    }
    depth += is(i, "{") || is(i, "(");
    depth -= is(i, "}") || is(i, ")");
  }
}

static void write_function_row(const char* name) {
  (void)printf("  (void)printf(\"function %s\\n\");\n", name);
}

/* A pointer of the function's type: the type is what is compared. */
static void write_function_variable(const char* name) {
  (void)printf("extern __typeof__(&%s) lock_%s;\nTENON_EXPORT __typeof__(&%s) lock_%s;\n", name,
               name, name, name);
}

/* ---- The program ---- */

static void write_rows(void) {
  for (int i = 0; i < structure_count; ++i) {
    const structure_t* s = &structures[i];
    (void)printf("  (void)printf(\"struct %s %%zu\\n\", sizeof(struct %s));\n", s->name, s->name);
    for (int k = 0; k < s->member_count; ++k) {
      (void)printf(
          "  (void)printf(\"  %s.%s %%zu %%zu\\n\", offsetof(struct %s, %s), "
          "sizeof(((struct %s*)0)->%s));\n",
          s->name, s->members[k], s->name, s->members[k], s->name, s->members[k]);
    }
  }
}

static void write_enumerators(void) {
  for (int i = 0; i + 1 < token_count; ++i) {
    const int open = is(i, "enum") ? (is(i + 1, "{") ? i + 1 : i + 2) : 0;
    if (open == 0 || !is(open, "{")) {
      continue;
    }
    const int end = after_bracket(open) - 1;
    for (int k = open + 1; k < end; ++k) {
      if (begins_with(k, "TENON_") && (is(k - 1, "{") || is(k - 1, ","))) {
        (void)printf("  (void)printf(\"value %s %%lld\\n\", (long long)%s);\n", tokens[k].text,
                     tokens[k].text);
      }
    }
  }
}

static void write_assertions(void) {
  for (int i = 0; i < structure_count; ++i) {
    const structure_t* s = &structures[i];
    (void)printf(
        "#define END(member) (offsetof(struct %s, member) + "
        "sizeof(((struct %s*)0)->member))\n",
        s->name, s->name);
    for (int k = 0; s->is_growing && k < s->member_count; ++k) {
      const bool is_last = k + 1 == s->member_count;
      (void)printf("_Static_assert(END(%s) == ", s->members[k]);
      if (is_last) {
        (void)printf("sizeof(struct %s), ", s->name);
      } else {
        (void)printf("offsetof(struct %s, %s), ", s->name, s->members[k + 1]);
      }
      (void)printf("\"%s has padding after %s\");\n", s->name, s->members[k]);
    }
    (void)printf("#undef END\n");
  }
}

int main(int argc, char** argv) {
  if (argc != 2) {
    (void)fprintf(stderr, "usage: cc -E HEADER | generate HEADER\n");
    return 1;
  }
  read_tokens(stdin, argv[1]);
  read_structures();
  if (structure_count == 0) {
    fail("there are no structures", argv[1]);
  }
  (void)printf("/* Generated from %s. */\n#include \"%s\"\n#include <stdio.h>\n\n", argv[1],
               argv[1]);
  (void)printf("#ifdef LOCK_LIBRARY\n");
  for (int i = 0; i < structure_count; ++i) {
    (void)printf("extern struct %s lock_%s;\nTENON_EXPORT struct %s lock_%s;\n", structures[i].name,
                 structures[i].name, structures[i].name, structures[i].name);
  }
  each_function(write_function_variable);
  (void)printf("#else\n");
  write_assertions();
  (void)printf("\nint main(void) {\n");
  write_rows();
  write_enumerators();
  each_function(write_function_row);
  (void)printf("  return 0;\n}\n#endif\n");
  return 0;
}
