/*
 * The contract of an operator: a digest of a canonical form of what it means. White space, comments
 * and parentheses do not reach it, because texts enter as syntax trees in prefix form. An optional
 * attribute enters only where a text mentions it, by its default's value, so that one which a later
 * version adds and no text needs changes nothing. Summaries, domains, messages, choices and the
 * lists of allowed types are left out: widening them does not change what a valid node means.
 */
#include "core/operator/operator_admit.h"

#include <stdio.h>
#include <string.h>

#include "core/base/bytes.h"

typedef struct form_t {
  const tenon__operator_t* op;
  tenon__byte_writer_t writer;
} form_t;

static void put(form_t* form, const char* text) {
  tenon__write_bytes(&form->writer, text, strlen(text));
  tenon__write_u8(&form->writer, ' ');
}

static void put_number(form_t* form, int64_t value) {
  char text[32];
  (void)snprintf(text, sizeof(text), "%lld", (long long)value);
  put(form, text);
}

static void put_float(form_t* form, double value) {
  char text[40];
  (void)snprintf(text, sizeof(text), "%.17g", value);
  put(form, text);
}

static void put_string(form_t* form, const char* text) {
  put_number(form, (int64_t)strlen(text));
  put(form, text);
}

static void put_default(form_t* form, const tenon__scope_attribute_t* value) {
  put_number(form, value->kind);
  put_number(form, value->integer);
  put_float(form, value->number);
  put_string(form, value->string == NULL ? "" : value->string);
  put_number(form, (int64_t)value->count);
  for (size_t i = 0; i < value->count; ++i) {
    if (value->integers != NULL) {
      put_number(form, value->integers[i]);
    } else if (value->numbers != NULL) {
      put_float(form, value->numbers[i]);
    } else {
      put_string(form, value->strings[i]);
    }
  }
}

/* True when the name is an optional attribute: then its default was written. */
static bool put_attribute(form_t* form, const char* name) {
  const tenon__descriptor_t* op = &form->op->descriptor;
  const uint32_t index = tenon__operator_attribute(op, name);
  if (index == TENON_NONE || (op->attributes[index].flags & TENON_ATTRIBUTE_REQUIRED) != 0) {
    return false;
  }
  put(form, "default");
  put_default(form, &form->op->defaults[index]);
  return true;
}

static void put_tree(form_t* form, const tenon__syntax_t* syntax) {
  const char op[2] = {syntax->op, '\0'};
  switch (syntax->kind) {
    case TENON_SYNTAX_INTEGER:
      put_number(form, syntax->integer);
      return;
    case TENON_SYNTAX_FLOAT:
      put_float(form, syntax->number);
      return;
    case TENON_SYNTAX_STRING:
      put(form, "'");
      put_string(form, syntax->text);
      return;
    case TENON_SYNTAX_NAME:
      if (!put_attribute(form, syntax->text)) {
        put(form, syntax->text);
      }
      return;
    case TENON_SYNTAX_CALL:
      put(form, syntax->text);
      break;
    case TENON_SYNTAX_INDEX:
      put(form, "index");
      break;
    case TENON_SYNTAX_UNARY:
    case TENON_SYNTAX_BINARY:
      put(form, op);
      break;
    case TENON_SYNTAX_SELECT:
      put(form, "?");
      break;
    case TENON_SYNTAX_LIST:
      put(form, "list");
      break;
    case TENON_SYNTAX_RANGE:
      put(form, "..");
      break;
  }
  put_number(form, syntax->child_count);
  for (uint32_t i = 0; i < syntax->child_count; ++i) {
    put_tree(form, syntax->children[i]);
  }
}

static void put_condition(form_t* form, const tenon__syntax_t* condition) {
  if (condition == NULL) {
    put(form, "always");
  } else {
    put_tree(form, condition);
  }
}

static void put_text(form_t* form, const tenon__text_t* text) {
  if (text == NULL) {
    put(form, "none");
    return;
  }
  put_number(form, text->statement_count);
  for (uint32_t i = 0; i < text->statement_count; ++i) {
    const tenon__statement_t* statement = &text->statements[i];
    put_number(form, statement->is_let);
    put(form, statement->prefix == NULL ? "-" : statement->prefix);
    put(form, statement->target);
    put(form, statement->subscript == NULL ? "-" : statement->subscript);
    put(form, statement->member == NULL ? "-" : statement->member);
    put_tree(form, statement->value);
  }
}

static void put_calls(form_t* form, const tenon__calls_t* calls) {
  put_number(form, calls->statement_count);
  for (uint32_t s = 0; s < calls->statement_count; ++s) {
    const tenon__call_statement_t* call = &calls->statements[s];
    for (uint32_t i = 0; i < call->result_count; ++i) {
      put(form, call->results[i]);
    }
    put(form, call->op);
    for (uint32_t i = 0; i < call->argument_count; ++i) {
      put(form, call->arguments[i]);
    }
    for (uint32_t i = 0; i < call->attribute_count; ++i) {
      put(form, call->attributes[i].name);
      put_tree(form, call->attributes[i].value);
    }
  }
}

/* ---- Parts ---- */

static void put_ports(form_t* form, const char* what, const tenon_port_t* ports, uint32_t count) {
  put(form, what);
  put_number(form, count);
  for (uint32_t i = 0; i < count; ++i) {
    put(form, ports[i].name);
    put(form, ports[i].type == NULL ? "-" : ports[i].type);
    put_number(form, ports[i].flags);
  }
}

/* The name, and the attributes without a default. */
static void put_attributes(form_t* form) {
  const tenon__descriptor_t* op = &form->op->descriptor;
  put(form, form->op->name);
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    if ((op->attributes[i].flags & TENON_ATTRIBUTE_REQUIRED) != 0) {
      put(form, op->attributes[i].name);
      put_number(form, op->attributes[i].kind);
    }
  }
}

static void put_inputs(form_t* form) {
  const tenon__descriptor_t* op = &form->op->descriptor;
  put_ports(form, "inputs", op->inputs, op->input_count);
}

static void put_outputs(form_t* form) {
  const tenon__descriptor_t* op = &form->op->descriptor;
  put_ports(form, "outputs", op->outputs, op->output_count);
}

static void put_control(form_t* form) {
  const tenon_control_t* control = form->op->descriptor.control;
  if (control != NULL) {
    put(form, "control");
    put_number(form, control->form);
    put_number(form, control->passes_iteration);
  }
}

static void put_traits(form_t* form) {
  const tenon__operator_traits_t* traits = &form->op->traits;
  put(form, "traits");
  put_number(form, traits->impure);
  put_number(form, traits->linear);
  if (traits->linear) {
    put_number(form, traits->linear_input);
    put_number(form, traits->linear_axis);
    put_number(form, traits->linear_output_axis);
    put_number(form, traits->linear_bias);
  }
}

static void put_shape(form_t* form) {
  put(form, "shape");
  put_text(form, form->op->shape);
}

static void put_contents(form_t* form) {
  put(form, "contents");
  put_text(form, form->op->contents);
}

static void put_case(form_t* form, uint32_t index) {
  put(form, "case");
  put_condition(form, form->op->cases[index].when);
  put_text(form, &form->op->cases[index].text);
}

static void put_move(form_t* form, uint32_t index) {
  put(form, "move");
  put_condition(form, form->op->moves[index].when);
  put_text(form, &form->op->moves[index].text);
}

static void put_decomposition(form_t* form, uint32_t index) {
  put(form, "decomposition");
  put_condition(form, form->op->decompositions[index].when);
  put_calls(form, &form->op->decompositions[index].calls);
}

/* ---- The whole ---- */

typedef void (*put_part_t)(form_t* form);
typedef void (*put_item_t)(form_t* form, uint32_t index);

/* In the order of the canonical form. */
enum { PART_COUNT = 7 };
static const struct {
  const char* name;
  put_part_t put;
} parts[PART_COUNT] = {{"attributes without a default", put_attributes},
                       {"inputs", put_inputs},
                       {"outputs", put_outputs},
                       {"control form", put_control},
                       {"traits", put_traits},
                       {"shape rule", put_shape},
                       {"contents rule", put_contents}};
/* Then lists of texts. */
typedef struct texts_t {
  const char* name;
  put_item_t put;
  const tenon_case_t* items;
  uint32_t count;
} texts_t;
enum { TEXTS_COUNT = 3 };

static void list_texts(const tenon__descriptor_t* op, texts_t out_lists[TEXTS_COUNT]) {
  out_lists[0] = (texts_t){"case", put_case, op->cases, op->case_count};
  out_lists[1] = (texts_t){"move", put_move, op->moves, op->move_count};
  out_lists[2] =
      (texts_t){"decomposition", put_decomposition, op->decompositions, op->decomposition_count};
}

tenon_status_t tenon__operator_contract(tenon_allocator_t allocator, const tenon__operator_t* op,
                                        tenon__digest_t* out_digest) {
  form_t form = {.op = op};
  texts_t lists[TEXTS_COUNT];
  list_texts(&op->descriptor, lists);
  tenon__byte_writer_initialize(&form.writer, allocator);
  for (size_t p = 0; p < PART_COUNT; ++p) {
    parts[p].put(&form);
  }
  for (size_t l = 0; l < TEXTS_COUNT; ++l) {
    for (uint32_t i = 0; i < lists[l].count; ++i) {
      lists[l].put(&form, i);
    }
  }
  const bool failed = form.writer.failed;
  if (!failed) {
    *out_digest = tenon__digest_of(form.writer.data, form.writer.size);
  }
  tenon__byte_writer_deinitialize(&form.writer);
  return failed ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

/* ---- Differences ---- */

/* Both forms of one part; `item` NULL: the part without a number. */
static bool is_same_part(tenon_allocator_t allocator, const tenon__operator_t* const ops[2],
                         put_part_t part, put_item_t item, uint32_t index) {
  form_t forms[2] = {{.op = ops[0]}, {.op = ops[1]}};
  for (int k = 0; k < 2; ++k) {
    tenon__byte_writer_initialize(&forms[k].writer, allocator);
    if (item != NULL) {
      item(&forms[k], index);
    } else {
      part(&forms[k]);
    }
  }
  const size_t size = forms[0].writer.size;
  const bool is_same = size == forms[1].writer.size &&
                       (size == 0 || memcmp(forms[0].writer.data, forms[1].writer.data, size) == 0);
  tenon__byte_writer_deinitialize(&forms[0].writer);
  tenon__byte_writer_deinitialize(&forms[1].writer);
  return is_same;
}

/* "case 'y = x * 2' if rank(x) == 2", "no case 2" */
static void describe_text(const texts_t* list, uint32_t index, char* out_text, size_t size) {
  if (index >= list->count) {
    (void)snprintf(out_text, size, "no %s %u", list->name, index + 1);
    return;
  }
  const tenon_case_t* item = &list->items[index];
  (void)snprintf(out_text, size, "%s '%.160s'%s%.80s", list->name,
                 item->text == NULL ? "" : item->text, item->when == NULL ? "" : " if ",
                 item->when == NULL ? "" : item->when);
}

static bool describe_lists(tenon_allocator_t allocator, const tenon__operator_t* const ops[2],
                           char* out_text, size_t size) {
  texts_t lists[2][TEXTS_COUNT];
  list_texts(&ops[0]->descriptor, lists[0]);
  list_texts(&ops[1]->descriptor, lists[1]);
  for (size_t l = 0; l < TEXTS_COUNT; ++l) {
    const texts_t* a = &lists[0][l];
    const texts_t* b = &lists[1][l];
    uint32_t i = 0;
    while (i < a->count && i < b->count && is_same_part(allocator, ops, NULL, a->put, i)) {
      ++i;
    }
    if (i < a->count || i < b->count) {
      char texts[2][300];
      describe_text(a, i, texts[0], sizeof(texts[0]));
      describe_text(b, i, texts[1], sizeof(texts[1]));
      if (strcmp(texts[0], texts[1]) == 0) {
        (void)snprintf(out_text, size, "%s with other defaults of attributes", texts[0]);
      } else {
        (void)snprintf(out_text, size, "%s, here %s", texts[0], texts[1]);
      }
      return true;
    }
  }
  return false;
}

void tenon__operator_difference(tenon_allocator_t allocator, const tenon__operator_t* there,
                                const tenon__operator_t* here, char* out_text, size_t size) {
  const tenon__operator_t* const ops[2] = {there, here};
  size_t part = 0;
  while (part < PART_COUNT && is_same_part(allocator, ops, parts[part].put, NULL, 0)) {
    ++part;
  }
  if (part < PART_COUNT) {
    (void)snprintf(out_text, size, "other %s", parts[part].name);
  } else if (!describe_lists(allocator, ops, out_text, size)) {
    (void)snprintf(out_text, size, "another definition"); /* memory was out */
  }
}
