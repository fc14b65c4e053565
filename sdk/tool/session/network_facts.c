/* See network_facts.h. Lines of interest:
 *     constant NAME: f32[64, 3, 7, 7]
 *     NAME: f32[1, 64], NAME: f32[1] = domain.name/1(x, w, _) {strides=[2, 2]}
 */
#include "session/network_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/element.h"
#include "text/memory.h"
#include "text/units.h"

static void write_piece(void* user, const char* text) {
  FILE* file = user;
  (void)fputs(text, file);
}

static char* take_text(FILE* file, char** text) {
  (void)fclose(file);
  char* copy = tool_copy_text(*text);
  free(*text);
  return copy;
}

char* tool_network_text(const tenon_network_t* network) {
  char* text = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  if (file == NULL) {
    return tool_copy_text("");
  }
  tenon_network_print(network, write_piece, file);
  return take_text(file, &text);
}

char* tool_engine_text(const tenon_engine_t* engine) {
  char* text = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  if (file == NULL) {
    return tool_copy_text("");
  }
  tenon_engine_print_network(engine, write_piece, file);
  return take_text(file, &text);
}

/* "f32[64, 3]" at the end of a line: bytes, 0 where it is something else. */
static uint64_t type_bytes(const char* text, size_t size) {
  const char* bracket = memchr(text, '[', size);
  tenon_dtype_t dtype = 0;
  int64_t dims[64];
  uint32_t rank = 0;
  uint64_t count = 0;
  uint64_t bytes = 0;
  if (bracket == NULL) {
    return 0;
  }
  while (dtype < TENON_DTYPE_COUNT &&
         (strlen(tool_dtype_name(dtype)) != (size_t)(bracket - text) ||
          strncmp(tool_dtype_name(dtype), text, (size_t)(bracket - text)) != 0)) {
    ++dtype;
  }
  for (const char* at = bracket + 1; at < text + size && *at != ']' && rank < 64;) {
    char* end = NULL;
    dims[rank++] = strtoll(at, &end, 10);
    if (end == at) {
      return 0; /* a symbol */
    }
    at = end + strspn(end, ", ");
  }
  return tool_element_count(rank, dims, dtype, &count, &bytes) ? bytes : 0;
}

/* Where the last ": " of a line ends; NULL: there is none. */
static const char* after_last_colon(const char* line, size_t length) {
  for (size_t i = length; i >= 2; --i) {
    if (line[i - 2] == ':' && line[i - 1] == ' ') {
      return line + i;
    }
  }
  return NULL;
}

static void count_op(tool_network_facts_t* facts, size_t* capacity, const char* op, size_t length) {
  ++facts->node_count;
  for (size_t i = 0; i < facts->op_count; ++i) {
    if (strlen(facts->ops[i].op) == length && strncmp(facts->ops[i].op, op, length) == 0) {
      ++facts->ops[i].count;
      return;
    }
  }
  facts->ops = tool_grow(facts->ops, capacity, facts->op_count + 1, sizeof(*facts->ops));
  facts->ops[facts->op_count++] = (tool_op_count_t){tool_copy_bytes(op, length), 1};
}

static void read_line(const char* line, size_t length, tool_network_facts_t* facts,
                      size_t* capacity) {
  static const char constant[] = "constant ";
  static const char equals[] = " = ";
  const size_t indent = strspn(line, " ");
  const char* end = line + length;
  line += indent < length ? indent : length;
  if ((size_t)(end - line) > sizeof(constant) &&
      strncmp(line, constant, sizeof(constant) - 1) == 0) {
    const char* type = after_last_colon(line, (size_t)(end - line));
    ++facts->constant_count;
    facts->constant_bytes += type != NULL ? type_bytes(type, (size_t)(end - type)) : 0;
    return;
  }
  const char* at = memmem(line, (size_t)(end - line), equals, sizeof(equals) - 1);
  const char* op = at != NULL ? at + sizeof(equals) - 1 : NULL;
  const char* bracket = op != NULL ? memchr(op, '(', (size_t)(end - op)) : NULL;
  if (bracket != NULL) {
    count_op(facts, capacity, op, (size_t)(bracket - op));
  }
}

static int compare_counts(const void* a, const void* b) {
  const tool_op_count_t* x = a;
  const tool_op_count_t* y = b;
  return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                              : strcmp(x->op, y->op);
}

void tool_network_facts_find(const char* text, tool_network_facts_t* out_facts) {
  tool_network_facts_t facts = {0};
  size_t capacity = 0;
  while (*text != '\0') {
    const size_t length = strcspn(text, "\n");
    read_line(text, length, &facts, &capacity);
    text += length + (text[length] == '\n' ? 1 : 0);
  }
  if (facts.op_count > 0) {
    qsort(facts.ops, facts.op_count, sizeof(*facts.ops), compare_counts);
  }
  *out_facts = facts;
}

void tool_network_facts_free(tool_network_facts_t* facts) {
  for (size_t i = 0; i < facts->op_count; ++i) {
    tool_free(facts->ops[i].op);
  }
  tool_free(facts->ops);
  *facts = (tool_network_facts_t){0};
}

char* tool_weights_words(const tenon_engine_t* engine, uint64_t weights_bytes) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  tool_network_facts_t facts;
  char* text = tool_engine_text(engine);
  tool_network_facts_find(text, &facts);
  const uint64_t originals = facts.constant_bytes;
  tool_network_facts_free(&facts);
  tool_free(text);
  if (tenon_engine_get_info(engine, &info) == TENON_OK && info.tuned_only != 0) {
    return tool_format("weights %.2f MiB, as kernels packed them", tool_mib(weights_bytes));
  }
  if (weights_bytes <= originals) {
    return tool_format("weights %.2f MiB", tool_mib(weights_bytes));
  }
  return tool_format("weights %.2f MiB, packed copies %.2f (--tuned-only drops the originals)",
                     tool_mib(originals), tool_mib(weights_bytes - originals));
}
