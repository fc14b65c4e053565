/* Texts of expressions (sdk/docs/expressions.md) as chains of ONNX nodes: a recursive descent that
 * adds a step for each operation. The core has checked the text; what has no name in ONNX is
 * refused by its word. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/onnx_function.h"
#include "text/memory.h"

enum { MOST_NAMES = 64, MOST_LENGTH = 64 };

/* A name that stands for a term: an input, or what a `let` set. */
typedef struct name_t {
  char text[MOST_LENGTH];
  tool_onnx_term_t term;
} name_t;

typedef struct reader_t {
  const char* at;
  tool_onnx_steps_t* steps;
  name_t* names;
  uint32_t name_count;
} reader_t;

static bool read_expression(reader_t* reader, tool_onnx_term_t* out_term);
static bool read_operations(reader_t* reader, uint32_t least, tool_onnx_term_t* out_term);

static bool refuse_word(const reader_t* reader, const char* word) {
  char* message = reader->steps->node->network->message;
  (void)snprintf(message, TOOL_EXPORT_REASON_SIZE, "ONNX has nothing for '%s'", word);
  return tool_onnx_refuse(reader->steps->node, message);
}

/* ---- Tokens ---- */

static void skip_blanks(reader_t* reader) {
  reader->at += strspn(reader->at, " \t\n");
}

static bool take(reader_t* reader, const char* token) {
  const size_t length = strlen(token);
  skip_blanks(reader);
  if (strncmp(reader->at, token, length) != 0) {
    return false;
  }
  reader->at += length;
  return true;
}

static bool need(reader_t* reader, const char* token) {
  return take(reader, token) || refuse_word(reader, reader->at);
}

static bool take_word(reader_t* reader, char out_word[MOST_LENGTH]) {
  size_t length = 0;
  skip_blanks(reader);
  while (isalnum((unsigned char)reader->at[length]) || reader->at[length] == '_') {
    ++length;
  }
  if (length == 0 || length >= MOST_LENGTH || isdigit((unsigned char)reader->at[0])) {
    return false;
  }
  memcpy(out_word, reader->at, length);
  out_word[length] = '\0';
  reader->at += length;
  return true;
}

static void set_name(reader_t* reader, const char* text, tool_onnx_term_t term) {
  if (reader->name_count < MOST_NAMES) {
    name_t* name = &reader->names[reader->name_count++];
    (void)snprintf(name->text, sizeof(name->text), "%s", text);
    name->term = term;
  }
}

/* ---- Functions ---- */

/* A text over a, b and c, which are the operands. */
static bool apply_text(const reader_t* reader, const char* text, const tool_onnx_term_t* operands,
                       uint32_t count, tool_onnx_term_t* out_term) {
  static const char* const letters[3] = {"a", "b", "c"};
  name_t names[MOST_NAMES];
  reader_t inner = {.at = text, .steps = reader->steps, .names = names};
  for (uint32_t i = 0; i < count; ++i) {
    set_name(&inner, letters[i], operands[i]);
  }
  return read_expression(&inner, out_term);
}

static bool apply(reader_t* reader, const char* name, const tool_onnx_term_t* operands,
                  uint32_t count, tool_onnx_term_t* out_term) {
  tool_onnx_meaning_t meaning;
  if (tool_onnx_fold(name, operands, count, out_term)) {
    return true;
  }
  if (!tool_onnx_find_function(name, operands, count, &meaning)) {
    return refuse_word(reader, name);
  }
  if (meaning.is_text) {
    return apply_text(reader, meaning.type, operands, count, out_term);
  }
  if (!tool_onnx_add(reader->steps, meaning.type, operands, count, meaning.dtype, out_term)) {
    return false;
  }
  if (strcmp(name, "fmod") == 0) {
    tool_onnx_add_integer(reader->steps, "fmod", 1);
  }
  return true;
}

/* ---- Reductions, casts, parameters along one axis ---- */

static const char* reduction_of(const char* name) {
  return strcmp(name, "sum") == 0    ? "ReduceSum"
         : strcmp(name, "prod") == 0 ? "ReduceProd"
         : strcmp(name, "mean") == 0 ? "ReduceMean"
         : strcmp(name, "min") == 0  ? "ReduceMin"
         : strcmp(name, "max") == 0  ? "ReduceMax"
                                     : NULL;
}

static bool is_binary(const char* name) {
  return strcmp(name, "min") == 0 || strcmp(name, "max") == 0;
}

static uint32_t space_rank(const reader_t* reader) {
  const tool_onnx_node_t* node = reader->steps->node;
  uint32_t most = 0;
  for (uint32_t i = 0; i < node->item->input_count; ++i) {
    const uint32_t rank = tool_onnx_rank(node, i);
    most = rank > most ? rank : most;
  }
  return most;
}

/* "[1, -1]", "2..", "1". */
static uint32_t read_axes(reader_t* reader, int64_t out_axes[TENON_RANK_LIMIT]) {
  const uint32_t rank = space_rank(reader);
  const bool is_list = take(reader, "[");
  uint32_t count = 0;
  do {
    char* end = NULL;
    skip_blanks(reader);
    const int64_t axis = strtoll(reader->at, &end, 10);
    if (end == reader->at || count == TENON_RANK_LIMIT) {
      return 0;
    }
    reader->at = end;
    out_axes[count++] = axis;
  } while (is_list && take(reader, ","));
  if (take(reader, "..")) {
    for (int64_t axis = out_axes[0] + 1; axis < (int64_t)rank && count < rank; ++axis) {
      out_axes[count++] = axis;
    }
  }
  return !is_list || take(reader, "]") ? count : 0;
}

/* Every value is a function over the whole space; of one input that is the input's own. */
static bool reduce(reader_t* reader, const char* name, tool_onnx_term_t term,
                   tool_onnx_term_t* out_term) {
  int64_t axes[TENON_RANK_LIMIT];
  const uint32_t count = read_axes(reader, axes);
  if (count == 0 || reader->steps->node->item->input_count != 1) {
    return refuse_word(reader, name);
  }
  if (!tool_onnx_add(reader->steps, reduction_of(name), &term, 1, TENON_DTYPE_UNDEFINED,
                     out_term)) {
    return false;
  }
  tool_onnx_add_list(reader->steps, axes, count);
  return need(reader, ")");
}

static tenon_dtype_t find_dtype(const char* mnemonic) {
  for (uint32_t i = 1; i < TENON_DTYPE_COUNT; ++i) {
    if (strcmp(tool_dtype_name((tenon_dtype_t)i), mnemonic) == 0) {
      return (tenon_dtype_t)i;
    }
  }
  return TENON_DTYPE_UNDEFINED;
}

static bool read_cast(reader_t* reader, tool_onnx_term_t* out_term) {
  char word[MOST_LENGTH] = "";
  tool_onnx_term_t term;
  if (!read_expression(reader, &term) || !need(reader, ",") || !take_word(reader, word)) {
    return false;
  }
  const tenon_dtype_t dtype = find_dtype(word);
  if (dtype == TENON_DTYPE_UNDEFINED) {
    return refuse_word(reader, word);
  }
  *out_term = tool_onnx_cast(reader->steps, term, dtype);
  return need(reader, ")");
}

/* at(x, axis): extents of 1 behind the parameter's own. */
static bool read_at(reader_t* reader, tool_onnx_term_t* out_term) {
  int64_t dims[TENON_RANK_LIMIT] = {-1};
  tool_onnx_term_t operands[2];
  const int64_t rank = space_rank(reader);
  if (!read_expression(reader, &operands[0]) || !need(reader, ",") ||
      !read_expression(reader, &operands[1])) {
    return false;
  }
  const int64_t axis = tool_onnx_axis((int64_t)operands[1].number, (uint32_t)rank);
  if (operands[1].kind != TOOL_ONNX_NUMBER || axis < 0 || axis >= rank || rank > TENON_RANK_LIMIT) {
    return refuse_word(reader, "at");
  }
  for (int64_t i = 1; i < rank - axis; ++i) {
    dims[i] = 1;
  }
  if (!tool_onnx_add(reader->steps, "Reshape", operands, 1, TENON_DTYPE_UNDEFINED, out_term)) {
    return false;
  }
  tool_onnx_add_list(reader->steps, dims, (uint32_t)(rank - axis));
  return need(reader, ")");
}

static bool read_call(reader_t* reader, const char* name, tool_onnx_term_t* out_term) {
  tool_onnx_term_t operands[3];
  uint32_t count = 0;
  if (strcmp(name, "cast") == 0) {
    return read_cast(reader, out_term);
  }
  if (strcmp(name, "at") == 0) {
    return read_at(reader, out_term);
  }
  do {
    skip_blanks(reader);
    const bool has_range = isdigit((unsigned char)reader->at[0]) &&
                           strncmp(reader->at + strspn(reader->at, "0123456789"), "..", 2) == 0;
    const bool is_list = reader->at[0] == '[' || has_range;
    if (count == 1 && reduction_of(name) != NULL && (is_list || !is_binary(name))) {
      return reduce(reader, name, operands[0], out_term);
    }
    if (count == 3 || !read_expression(reader, &operands[count++])) {
      return count == 3 ? refuse_word(reader, name) : false;
    }
  } while (take(reader, ","));
  return need(reader, ")") && apply(reader, name, operands, count, out_term);
}

/* ---- The grammar ---- */

/* A name that is none of the text's own: an attribute's number, or a word for one. */
static bool find_number(const reader_t* reader, const char* word, tool_onnx_term_t* out_term) {
  const tenon_attribute_t* attribute = tool_onnx_attribute(reader->steps->node, word);
  if (attribute != NULL && attribute->kind == TENON_ATTRIBUTE_FLOAT) {
    *out_term = tool_onnx_real(attribute->number);
  } else if (attribute != NULL && attribute->kind == TENON_ATTRIBUTE_INT) {
    *out_term = tool_onnx_integer((double)attribute->integer);
  } else if (strcmp(word, "inf") == 0 || strcmp(word, "nan") == 0) {
    *out_term = tool_onnx_real(word[0] == 'i' ? INFINITY : NAN);
  } else {
    return refuse_word(reader, word);
  }
  return true;
}

static bool read_name(reader_t* reader, tool_onnx_term_t* out_term) {
  char word[MOST_LENGTH];
  if (!take_word(reader, word)) {
    return refuse_word(reader, reader->at);
  }
  if (take(reader, "(")) {
    return read_call(reader, word, out_term);
  }
  for (uint32_t i = reader->name_count; i > 0; --i) {
    if (strcmp(reader->names[i - 1].text, word) == 0) {
      *out_term = reader->names[i - 1].term;
      return true;
    }
  }
  return find_number(reader, word, out_term);
}

static bool read_number(reader_t* reader, tool_onnx_term_t* out_term) {
  char* end = NULL;
  const double number = strtod(reader->at, &end);
  const bool is_float = memchr(reader->at, '.', (size_t)(end - reader->at)) != NULL ||
                        memchr(reader->at, 'e', (size_t)(end - reader->at)) != NULL;
  reader->at = end;
  *out_term = is_float ? tool_onnx_real(number) : tool_onnx_integer(number);
  return true;
}

static bool read_unary(reader_t* reader, tool_onnx_term_t* out_term) {
  tool_onnx_term_t operand;
  skip_blanks(reader);
  if (reader->at[0] == '-' || (reader->at[0] == '!' && reader->at[1] != '=')) {
    const char* name = reader->at[0] == '-' ? "neg" : "not";
    ++reader->at;
    return read_unary(reader, &operand) && apply(reader, name, &operand, 1, out_term);
  }
  if (take(reader, "(")) {
    return read_expression(reader, out_term) && need(reader, ")");
  }
  return isdigit((unsigned char)reader->at[0]) ? read_number(reader, out_term)
                                               : read_name(reader, out_term);
}

typedef struct infix_t {
  const char* token;
  uint32_t strength;
  const char* name;
} infix_t;

/* Longer ones first. */
static const infix_t infixes[] = {
    {"||", 1, "or"}, {"&&", 2, "and"}, {"==", 4, "eq"}, {"!=", 4, "ne"},
    {"<=", 5, "le"}, {">=", 5, "ge"},  {"<", 5, "lt"},  {">", 5, "gt"},
    {"|", 3, "or"},  {"^", 3, "xor"},  {"&", 3, "and"}, {"+", 6, "add"},
    {"-", 6, "sub"}, {"*", 7, "mul"},  {"/", 7, "div"}, {"%", 7, "mod"}};

/* The infix that comes next, if it binds at least as strongly. */
static const infix_t* take_infix(reader_t* reader, uint32_t least) {
  skip_blanks(reader);
  for (size_t i = 0; i < sizeof(infixes) / sizeof(*infixes); ++i) {
    if (strncmp(reader->at, infixes[i].token, strlen(infixes[i].token)) == 0) {
      if (infixes[i].strength < least) {
        return NULL;
      }
      reader->at += strlen(infixes[i].token);
      return &infixes[i];
    }
  }
  return NULL;
}

static bool read_operations(reader_t* reader, uint32_t least, tool_onnx_term_t* out_term) {
  tool_onnx_term_t operands[2];
  if (!read_unary(reader, &operands[0])) {
    return false;
  }
  for (const infix_t* infix = take_infix(reader, least); infix != NULL;
       infix = take_infix(reader, least)) {
    if (!read_operations(reader, infix->strength + 1, &operands[1]) ||
        !apply(reader, infix->name, operands, 2, &operands[0])) {
      return false;
    }
  }
  *out_term = operands[0];
  return true;
}

static bool read_expression(reader_t* reader, tool_onnx_term_t* out_term) {
  tool_onnx_term_t operands[3];
  if (!read_operations(reader, 1, &operands[0])) {
    return false;
  }
  if (!take(reader, "?")) {
    *out_term = operands[0];
    return true;
  }
  return read_expression(reader, &operands[1]) && need(reader, ":") &&
         read_expression(reader, &operands[2]) && apply(reader, "select", operands, 3, out_term);
}

/* let name = expression; ... y = expression. */
static bool read_text(reader_t* reader, tool_onnx_term_t* out_term) {
  char word[MOST_LENGTH];
  for (;;) {
    const bool is_let = strncmp(reader->at + strspn(reader->at, " "), "let ", 4) == 0;
    if (is_let && !take(reader, "let ")) {
      return false;
    }
    if (!take_word(reader, word) || !need(reader, "=") || !read_expression(reader, out_term)) {
      return false;
    }
    if (!is_let) {
      return true;
    }
    set_name(reader, word, *out_term);
    if (!need(reader, ";")) {
      return false;
    }
  }
}

bool tool_onnx_write_expression(const tool_onnx_node_t* node, const char* text,
                                const char* const* names) {
  name_t known[MOST_NAMES];
  tool_onnx_steps_t steps = {.node = node};
  reader_t reader = {.at = text, .steps = &steps, .names = known};
  tool_onnx_term_t result;
  for (uint32_t i = 0; i < node->item->input_count; ++i) {
    char letter[2] = {(char)('a' + i % 26), '\0'};
    if (tool_onnx_has(node, i)) {
      set_name(&reader, names == NULL ? letter : names[i], tool_onnx_load(&steps, i));
    }
  }
  const bool is_done = read_text(&reader, &result) && tool_onnx_write_steps(&steps, result);
  tool_onnx_free_steps(&steps);
  return is_done;
}

bool tool_onnx_expression(const tool_onnx_node_t* node) {
  char* text = tool_format("y = %s", node->row->type);
  const bool is_done = tool_onnx_write_expression(node, text, NULL);
  tool_free(text);
  return is_done;
}
