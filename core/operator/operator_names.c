/*
 * Do the names in an operator's texts stand for something? Functions' arguments are checked when a
 * text is instantiated for a node; here a misspelt port, attribute or function disables the
 * operator at once.
 */
#include "core/operator/operator_admit.h"

#include <string.h>

#include "core/base/lists.h"
#include "core/base/status.h"
#include "core/language/functions.h"
#include "core/tensor/dtype.h"

typedef struct place_t {
  const tenon__descriptor_t*
      op; /* NULL: a condition of another text, whose names `is_name` knows */
  const tenon_sink_t* sink;
  const char* what; /* before a message: "shape: " */
  const tenon__text_t* text;
  uint32_t statement; /* names of `let` before it are known */
  bool (*is_name)(const void* user, const char* name);
  const void* user;
} place_t;

static bool is_known(const place_t* place, const char* name) {
  static const char* const words[] = {"d",    "i",   "k",   "linear", "inf", "nan",
                                      "true", "add", "mul", "false",  "min", "max",
                                      "and",  "or",  "xor", "fill",   "_"};
  const tenon__descriptor_t* op = place->op;
  if (op == NULL) {
    return place->is_name(place->user, name) ||
           tenon__words_hold(words, sizeof(words) / sizeof(words[0]), name);
  }
  if (tenon__operator_input(op, name) != TENON_NONE ||
      tenon__operator_output(op, name) != TENON_NONE ||
      tenon__operator_attribute(op, name) != TENON_NONE ||
      tenon__operator_type(op, name) != TENON_NONE ||
      tenon__dtype_from_name(name) != TENON_DTYPE_UNDEFINED ||
      tenon__words_hold(words, sizeof(words) / sizeof(words[0]), name)) {
    return true;
  }
  for (uint32_t i = 0; place->text != NULL && i <= place->statement; ++i) {
    const tenon__statement_t* statement = &place->text->statements[i];
    const bool is_earlier_let =
        statement->is_let && i < place->statement && strcmp(statement->target, name) == 0;
    const bool is_subscript =
        statement->subscript != NULL && strcmp(statement->subscript, name) == 0;
    if (is_earlier_let || is_subscript) {
      return true;
    }
  }
  return false;
}

static tenon_status_t check_tree(const place_t* place, const tenon__syntax_t* syntax) {
  if (syntax->kind == TENON_SYNTAX_NAME && !is_known(place, syntax->text)) {
    return tenon__fail(place->sink, TENON_ERROR_INVALID_DATA,
                       "%scolumn %u: unknown name '%s': no %s or let above has it", place->what,
                       syntax->position + 1, syntax->text,
                       place->op == NULL ? "input, attribute" : "port, attribute");
  }
  if (syntax->kind == TENON_SYNTAX_CALL && !tenon__language_has_function(syntax->text)) {
    return tenon__fail(place->sink, TENON_ERROR_INVALID_DATA, "%scolumn %u: unknown function '%s'",
                       place->what, syntax->position + 1, syntax->text);
  }
  for (uint32_t i = 0; i < syntax->child_count; ++i) {
    TENON_TRY(check_tree(place, syntax->children[i]));
  }
  return TENON_OK;
}

static bool target_exists(const tenon__descriptor_t* op, bool is_move,
                          const tenon__statement_t* statement) {
  if (statement->is_let) {
    return true;
  }
  if (is_move) {
    const bool good_prefix =
        statement->prefix == NULL || tenon__operator_output(op, statement->prefix) != TENON_NONE;
    return good_prefix && (strcmp(statement->target, "fill") == 0 ||
                           tenon__operator_input(op, statement->target) != TENON_NONE);
  }
  return tenon__operator_output(op, statement->target) != TENON_NONE;
}

static bool defines(const tenon__text_t* text, const char* output) {
  for (uint32_t i = 0; i < text->statement_count; ++i) {
    if (!text->statements[i].is_let && strcmp(text->statements[i].target, output) == 0) {
      return true;
    }
  }
  return false;
}

static tenon_status_t check_text(const tenon__descriptor_t* op, const tenon__text_t* text,
                                 bool is_move, const char* what, const tenon_sink_t* sink) {
  place_t place = {.op = op, .sink = sink, .what = what, .text = text};
  for (uint32_t i = 0; i < text->statement_count; ++i) {
    place.statement = i;
    const tenon__statement_t* statement = &text->statements[i];
    if (!target_exists(op, is_move, statement)) {
      return tenon__fail(
          sink, TENON_ERROR_INVALID_DATA, "%scolumn %u: '%s' is not one of the operator's %s", what,
          statement->position + 1, statement->target, is_move ? "inputs" : "outputs");
    }
    TENON_TRY(check_tree(&place, statement->value));
  }
  const uint32_t containers = TENON_PORT_SEQUENCE | TENON_PORT_OPTIONAL_TYPE;
  if (is_move) {
    return TENON_OK;
  }
  for (uint32_t i = 0; i < op->output_count; ++i) {
    if ((op->outputs[i].flags & containers) == 0 && !defines(text, op->outputs[i].name)) {
      return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "%snothing defines output '%s'", what,
                         op->outputs[i].name);
    }
  }
  return TENON_OK;
}

static tenon_status_t check_when(const tenon__descriptor_t* op, const tenon__syntax_t* condition,
                                 const char* what, const tenon_sink_t* sink) {
  const place_t place = {.op = op, .sink = sink, .what = what};
  return condition == NULL ? TENON_OK : check_tree(&place, condition);
}

tenon_status_t tenon__condition_check_names(const tenon__syntax_t* condition,
                                            bool (*is_name)(const void* user, const char* name),
                                            const void* user, const tenon_sink_t* sink) {
  const place_t place = {.sink = sink, .what = "", .is_name = is_name, .user = user};
  return check_tree(&place, condition);
}

static tenon_status_t check_cases(const tenon__descriptor_t* op,
                                  const tenon__operator_case_t* cases, uint32_t count, bool is_move,
                                  const tenon_sink_t* sink) {
  const char* what = is_move ? "move: " : "case: ";
  for (uint32_t i = 0; i < count; ++i) {
    TENON_TRY(check_when(op, cases[i].when, what, sink));
    TENON_TRY(check_text(op, &cases[i].text, is_move, what, sink));
  }
  return TENON_OK;
}

static bool result_exists(const tenon__calls_t* calls, uint32_t before, const char* name) {
  for (uint32_t s = 0; s < before; ++s) {
    if (tenon__words_hold(calls->statements[s].results, calls->statements[s].result_count, name)) {
      return true;
    }
  }
  return false;
}

/* Arguments are inputs or earlier results; attributes' values are literals or attributes. */
static tenon_status_t check_call(const tenon__descriptor_t* op, const tenon__calls_t* calls,
                                 uint32_t statement, const tenon_sink_t* sink) {
  const char* what = "decomposition: ";
  const tenon__call_statement_t* call = &calls->statements[statement];
  for (uint32_t a = 0; a < call->argument_count; ++a) {
    const char* name = call->arguments[a];
    if (strcmp(name, "_") != 0 && tenon__operator_input(op, name) == TENON_NONE &&
        !result_exists(calls, statement, name)) {
      return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                         "%s'%s', argument of %s, is neither an input nor an earlier result", what,
                         name, call->op);
    }
  }
  for (uint32_t a = 0; a < call->attribute_count; ++a) {
    TENON_TRY(check_when(op, call->attributes[a].value, what, sink));
  }
  return TENON_OK;
}

static tenon_status_t check_calls(const tenon__descriptor_t* op, const tenon__calls_t* calls,
                                  const tenon_sink_t* sink) {
  const char* what = "decomposition: ";
  for (uint32_t s = 0; s < calls->statement_count; ++s) {
    TENON_TRY(check_call(op, calls, s, sink));
  }
  for (uint32_t i = 0; i < op->output_count; ++i) {
    if (!result_exists(calls, calls->statement_count, op->outputs[i].name)) {
      return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "%snothing defines output '%s'", what,
                         op->outputs[i].name);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__operator_check_names(const tenon__operator_t* op, const tenon_sink_t* sink) {
  const tenon__descriptor_t* descriptor = &op->descriptor;
  if (op->shape != NULL) {
    TENON_TRY(check_text(descriptor, op->shape, false, "shape: ", sink));
  }
  if (op->contents != NULL) {
    TENON_TRY(check_text(descriptor, op->contents, false, "contents: ", sink));
  }
  TENON_TRY(check_cases(descriptor, op->cases, descriptor->case_count, false, sink));
  TENON_TRY(check_cases(descriptor, op->moves, descriptor->move_count, true, sink));
  for (uint32_t i = 0; i < descriptor->decomposition_count; ++i) {
    TENON_TRY(check_when(descriptor, op->decompositions[i].when, "decomposition: ", sink));
    TENON_TRY(check_calls(descriptor, &op->decompositions[i].calls, sink));
  }
  for (uint32_t i = 0; i < descriptor->check_count; ++i) {
    TENON_TRY(check_when(descriptor, op->checks[i], "check: ", sink));
  }
  return op->operations == NULL ? TENON_OK
                                : check_when(descriptor, op->operations, "operations: ", sink);
}
