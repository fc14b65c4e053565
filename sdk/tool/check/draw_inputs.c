/* See draw_inputs.h. */
#include "check/draw_inputs.h"

#include <string.h>

#include "check/draw_attributes.h"
#include "check/draw_types.h"
#include "check/numbers.h"

/* Numbers that shapes are made of. */
static bool draw_operand(check_drawing_t* d, const char* name, check_input_t* input,
                         tenon_dtype_t dtype) {
  int64_t numbers[CHECK_MOST_RANK];
  tenon_attribute_t drawn = {0};
  uint32_t count = 0;
  if (!check_hint_numbers(&d->hint, name, d->random, numbers, &count)) {
    if (check_random_chance(d->random, 30)) {
      count = TENON_NONE;
      numbers[0] = check_draw_integer(d, NULL);
    } else if (check_draw_integers(d, &drawn)) {
      count = (uint32_t)(drawn.count < CHECK_MOST_RANK ? drawn.count : CHECK_MOST_RANK);
      memcpy(numbers, drawn.integers, count * sizeof(*numbers));
    }
  }
  const bool is_scalar = count == TENON_NONE;
  const int64_t dims[] = {is_scalar ? 1 : (int64_t)count};
  if (tool_value_make(name, dtype, is_scalar ? 0 : 1, dims, &input->value) != TENON_OK) {
    return false;
  }
  for (uint32_t i = 0; i < (is_scalar ? 1 : count); ++i) {
    tool_element_set(dtype, input->value.data, i, (double)numbers[i]);
  }
  input->is_constant = true;
  return true;
}

static bool draw_tensor(check_drawing_t* d, const tenon_port_t* port, check_input_t* input,
                        tenon_dtype_t dtype) {
  int64_t dims[CHECK_MOST_RANK] = {0};
  uint32_t rank = d->rank;
  check_hint_traits_t traits = {.scale = 1};
  uint64_t count = 0;
  uint64_t bytes = 0;
  if (!check_hint_dims(&d->hint, port->name, d->random, dims, &rank, &traits)) {
    rank = check_random_chance(d->random, 60) ? d->rank : check_random_pick(d->random, 5);
    for (uint32_t k = 0; k < rank; ++k) {
      dims[k] = check_drawing_extent(d);
    }
  }
  input->is_constant = input->is_constant || traits.is_constant;
  input->scale = traits.scale;
  if (!tool_element_count(rank, dims, dtype, &count, &bytes) || count > d->wish->most_elements ||
      tool_value_make(port->name, dtype, rank, dims, &input->value) != TENON_OK) {
    return false;
  }
  return check_numbers_draw(d->c, input, d->random);
}

/* An input with a hint is there as the hint says; without one optional inputs are there in one of
 * two cases. */
static bool is_absent(check_drawing_t* d, const tenon_port_t* port) {
  int64_t numbers[CHECK_MOST_RANK];
  uint32_t count = 0;
  check_hint_traits_t traits = {.may_be_absent = (port->flags & TENON_PORT_OPTIONAL) != 0};
  if (d->hint.text != NULL) {
    check_hint_t copy = d->hint;
    check_random_t chance = *d->random;
    if (check_hint_numbers(&copy, port->name, &chance, numbers, &count)) {
      return false;
    }
    if (!check_hint_dims(&copy, port->name, &chance, numbers, &count, &traits)) {
      return (port->flags & TENON_PORT_OPTIONAL) != 0;
    }
  }
  return traits.may_be_absent && check_random_chance(d->random, 50);
}

static bool draw_input(check_drawing_t* d, const tenon_port_t* port, check_input_t* input) {
  const bool is_first = d->c->input_count == 0;
  input->port = port;
  if (is_absent(d, port)) {
    return true;
  }
  const tenon_dtype_t dtype = check_draw_port_type(d, port);
  int64_t numbers[CHECK_MOST_RANK];
  uint32_t count = 0;
  check_hint_t copy = d->hint;
  check_random_t chance = *d->random;
  if (dtype == TENON_DTYPE_UNDEFINED || dtype == TENON_DTYPE_STRING) {
    return false;
  }
  if ((port->flags & TENON_PORT_SHAPE_OPERAND) != 0 ||
      check_hint_numbers(&copy, port->name, &chance, numbers, &count)) {
    return draw_operand(d, port->name, input, dtype);
  }
  input->is_constant = !is_first && !d->wish->no_constants &&
                       (d->wish->constants || check_random_chance(d->random, 30));
  return draw_tensor(d, port, input, dtype);
}

bool check_draw_inputs(check_drawing_t* d) {
  const tenon_list_t* list = &d->c->op->inputs;
  for (uint32_t i = 0; i < list->count; ++i) {
    const tenon_port_t* port = check_list_item(list, i);
    const bool is_variadic = (port->flags & TENON_PORT_VARIADIC) != 0;
    const uint32_t times = is_variadic ? 1 + check_random_pick(d->random, 3) : 1;
    for (uint32_t k = 0; k < times; ++k) {
      if (d->c->input_count == CHECK_MOST_INPUTS ||
          !draw_input(d, port, &d->c->inputs[d->c->input_count])) {
        return false;
      }
      ++d->c->input_count;
    }
  }
  bool any = false;
  for (uint32_t i = 0; i < d->c->input_count; ++i) {
    any = any || check_input_is_fed(&d->c->inputs[i]);
  }
  return any;
}
