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

static void put_cases(form_t* form, const char* what, const tenon__operator_case_t* cases,
                      uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    put(form, what);
    put_condition(form, cases[i].when);
    put_text(form, &cases[i].text);
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

static void put_ports(form_t* form, const char* what, const tenon_port_t* ports, uint32_t count) {
  put(form, what);
  put_number(form, count);
  for (uint32_t i = 0; i < count; ++i) {
    put(form, ports[i].name);
    put(form, ports[i].type == NULL ? "-" : ports[i].type);
    put_number(form, ports[i].flags);
  }
}

static void put_traits(form_t* form, const tenon__operator_traits_t* traits) {
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

static void put_signature(form_t* form) {
  const tenon__descriptor_t* op = &form->op->descriptor;
  put(form, form->op->name);
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    if ((op->attributes[i].flags & TENON_ATTRIBUTE_REQUIRED) != 0) {
      put(form, op->attributes[i].name);
      put_number(form, op->attributes[i].kind);
    }
  }
  put_ports(form, "inputs", op->inputs, op->input_count);
  put_ports(form, "outputs", op->outputs, op->output_count);
  if (op->control != NULL) {
    put(form, "control");
    put_number(form, op->control->form);
    put_number(form, op->control->passes_iteration);
  }
  put_traits(form, &form->op->traits);
}

tenon_status_t tenon__operator_contract(tenon_allocator_t allocator, const tenon__operator_t* op,
                                        tenon__digest_t* out_digest) {
  form_t form = {.op = op};
  tenon__byte_writer_initialize(&form.writer, allocator);
  put_signature(&form);
  put(&form, "shape");
  put_text(&form, op->shape);
  put(&form, "contents");
  put_text(&form, op->contents);
  put_cases(&form, "case", op->cases, op->descriptor.case_count);
  put_cases(&form, "move", op->moves, op->descriptor.move_count);
  for (uint32_t i = 0; i < op->descriptor.decomposition_count; ++i) {
    put(&form, "decomposition");
    put_condition(&form, op->decompositions[i].when);
    put_calls(&form, &op->decompositions[i].calls);
  }
  const bool failed = form.writer.failed;
  if (!failed) {
    *out_digest = tenon__digest_of(form.writer.data, form.writer.size);
  }
  tenon__byte_writer_deinitialize(&form.writer);
  return failed ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}
