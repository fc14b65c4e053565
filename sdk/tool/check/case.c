/* See case.h. */
#include "check/case.h"

#include <string.h>

#include "check/draw_attributes.h"
#include "check/draw_inputs.h"
#include "check/numbers.h"

const tenon_port_t* check_port(const tenon_list_t* ports, uint32_t index) {
  return ports->count == 0
             ? NULL
             : check_list_item(ports, index < ports->count ? index : ports->count - 1);
}

const char* check_case_obstacle(const tenon_operator_t* op) {
  const uint32_t containers = TENON_PORT_SEQUENCE | TENON_PORT_OPTIONAL_TYPE;
  if (op->control != NULL) {
    return "it is a control form";
  }
  for (uint32_t i = 0; i < op->inputs.count; ++i) {
    const tenon_port_t* port = check_list_item(&op->inputs, i);
    if ((port->flags & containers) != 0) {
      return "it takes sequences or optionals";
    }
    if (strcmp(port->type, "str") == 0) {
      return "it takes strings";
    }
  }
  for (uint32_t i = 0; i < op->outputs.count; ++i) {
    const tenon_port_t* port = check_list_item(&op->outputs, i);
    if ((port->flags & containers) != 0) {
      return "it makes sequences or optionals";
    }
  }
  if (op->inputs.count == 0) {
    return "it has no inputs";
  }
  if (op->outputs.count == 0) {
    return "it has no outputs";
  }
  return strstr(op->traits == NULL ? "" : op->traits, "impure") != NULL ? "it is impure" : NULL;
}

bool check_case_draw(const tenon_operator_t* op, const check_wish_t* wish, check_random_t* random,
                     check_case_t* out_case) {
  check_drawing_t d = {.c = out_case, .wish = wish, .random = random};
  memset(out_case, 0, sizeof(*out_case));
  out_case->op = op;
  out_case->output_count = check_random_chance(random, 50)
                               ? op->outputs.count
                               : 1 + check_random_pick(random, op->outputs.count);
  if (check_random_chance(random, 85)) {
    check_hint_pick(op->name, random, &d.hint);
    d.hint.is_wide = wish->is_wide;
    d.hint.empty = "abcdefghijklmnopqrstuvwxyz"[check_random_pick(random, 26)];
    d.hint.has_empty = wish->is_empty;
  }
  check_drawing_begin(&d);
  const bool good = check_draw_attributes(&d) && check_draw_inputs(&d);
  if (!good) {
    check_case_release(out_case);
  }
  return good;
}

void check_case_redraw(check_case_t* c, check_random_t* random) {
  for (uint32_t i = 0; i < c->input_count; ++i) {
    if (check_input_is_fed(&c->inputs[i])) {
      (void)check_numbers_draw(c, &c->inputs[i], random);
    }
  }
}

void check_case_release(check_case_t* c) {
  for (uint32_t i = 0; i < CHECK_MOST_INPUTS; ++i) {
    tool_value_free(&c->inputs[i].value);
  }
  c->input_count = 0;
}

/* ---- Words ---- */

static void print_attribute(const tenon_attribute_t* a, check_text_t* text) {
  check_text_add(text, "%s=", a->name);
  switch (a->kind) {
    case TENON_ATTRIBUTE_INT:
      check_text_add(text, "%lld", (long long)a->integer);
      break;
    case TENON_ATTRIBUTE_FLOAT:
      check_text_add(text, "%g", a->number);
      break;
    case TENON_ATTRIBUTE_STRING:
      check_text_add(text, "'%s'", a->string);
      break;
    case TENON_ATTRIBUTE_DTYPE:
      check_text_add(text, "%s", tool_dtype_name((tenon_dtype_t)a->integer));
      break;
    default:
      for (size_t i = 0; i < a->count; ++i) {
        check_text_add(text, "%s%g", i == 0 ? "[" : ",",
                       a->kind == TENON_ATTRIBUTE_FLOATS ? a->numbers[i] : (double)a->integers[i]);
      }
      check_text_add(text, "%s]", a->count == 0 ? "[" : "");
  }
}

void check_case_print_type(const tool_value_t* value, check_text_t* text) {
  check_text_add(text, "%s[", tool_dtype_name(value->dtype));
  for (uint32_t k = 0; k < value->rank; ++k) {
    check_text_add(text, "%s%lld", k > 0 ? "," : "", (long long)value->dims[k]);
  }
  check_text_add(text, "]");
}

void check_case_print(const check_case_t* c, check_text_t* text) {
  bool any = false;
  for (uint32_t i = 0; i < c->input_count; ++i) {
    const check_input_t* input = &c->inputs[i];
    if (check_input_is_there(input)) {
      check_text_add(text, "%s%s %s", any ? ", " : "", input->port->name,
                     input->is_constant ? "constant " : "");
      check_case_print_type(&input->value, text);
      any = true;
    }
  }
  for (uint32_t i = 0; i < c->attribute_count; ++i) {
    check_text_add(text, "%s", i == 0 ? "; " : ", ");
    print_attribute(&c->attributes[i], text);
  }
}
