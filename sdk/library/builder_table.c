/* The builder's table as applications get it. Plugins get the core's: what fails there is told by
 * the call that runs them. Here each function is a call of its own: the thread's last words go
 * before it, and a failure that nobody has put into words is named after it. */
#include <pthread.h>

#include "core/network/builder.h"
#include "sdk/library/library.h"

#define CALL(name, parameters, ...)                                 \
  static tenon_status_t call_##name parameters {                    \
    const tenon_builder_table_t* core = tenon__builder_table();     \
    tenon__last_message_clear();                                    \
    return tenon__tell(core->sink(builder), "the builder's " #name, \
                       core->name(builder, __VA_ARGS__));           \
  }

CALL(input,
     (tenon_builder_t * builder, const char* name, tenon_dtype_t dtype, uint32_t rank,
      const int64_t* dims, const char* const* symbols, tenon_value_t* out_value),
     name, dtype, rank, dims, symbols, out_value)
CALL(input_container,
     (tenon_builder_t * builder, const char* name, uint32_t kind, tenon_dtype_t dtype,
      uint32_t rank, const int64_t* dims, tenon_value_t* out_value),
     name, kind, dtype, rank, dims, out_value)
CALL(output, (tenon_builder_t * builder, tenon_value_t value, const char* name), value, name)
CALL(constant,
     (tenon_builder_t * builder, const char* name, const tenon_tensor_view_t* view, int32_t borrow,
      tenon_value_t* out_value),
     name, view, borrow, out_value)
CALL(begin, (tenon_builder_t * builder, const char* op, const char* name), op, name)
CALL(attribute_int, (tenon_builder_t * builder, const char* name, int64_t value), name, value)
CALL(attribute_float, (tenon_builder_t * builder, const char* name, double value), name, value)
CALL(attribute_string, (tenon_builder_t * builder, const char* name, const char* value), name,
     value)
CALL(attribute_ints,
     (tenon_builder_t * builder, const char* name, const int64_t* values, size_t count), name,
     values, count)
CALL(attribute_floats,
     (tenon_builder_t * builder, const char* name, const double* values, size_t count), name,
     values, count)
CALL(attribute_strings,
     (tenon_builder_t * builder, const char* name, const char* const* values, size_t count), name,
     values, count)
CALL(attribute_dtype, (tenon_builder_t * builder, const char* name, tenon_dtype_t value), name,
     value)
CALL(add_input, (tenon_builder_t * builder, tenon_value_t value), value)
CALL(add_body, (tenon_builder_t * builder, uint32_t body), body)
CALL(output_count, (tenon_builder_t * builder, uint32_t count), count)
CALL(end, (tenon_builder_t * builder, tenon_value_t* out_values, uint32_t capacity), out_values,
     capacity)
CALL(expression,
     (tenon_builder_t * builder, const char* text, const char* const* names,
      const tenon_value_t* inputs, uint32_t input_count, const char* node_name,
      tenon_value_t* out_value),
     text, names, inputs, input_count, node_name, out_value)
CALL(begin_body, (tenon_builder_t * builder, const char* name), name)
CALL(body_parameter,
     (tenon_builder_t * builder, const char* name, uint32_t kind, tenon_dtype_t dtype,
      uint32_t rank, const int64_t* dims, tenon_value_t* out_value),
     name, kind, dtype, rank, dims, out_value)
CALL(body_parameter_like,
     (tenon_builder_t * builder, const char* name, tenon_value_t like, tenon_value_t* out_value),
     name, like, out_value)
CALL(body_result, (tenon_builder_t * builder, tenon_value_t value), value)
CALL(end_body, (tenon_builder_t * builder, uint32_t* out_body), out_body)
CALL(add_state,
     (tenon_builder_t * builder, const tenon_state_descriptor_t* state, tenon_value_t* out_read),
     state, out_read)
CALL(write_state, (tenon_builder_t * builder, const char* name, tenon_value_t value), name, value)
CALL(type, (tenon_builder_t * builder, tenon_value_t value, tenon_value_type_t* out_type), value,
     out_type)
CALL(set_name, (tenon_builder_t * builder, tenon_value_t value, const char* name), value, name)
CALL(fail_body,
     (tenon_builder_t * builder, tenon_status_t status, const char* message, uint32_t* out_body),
     status, message, out_body)

static tenon_builder_table_t table;

/* What cannot fail is the core's own. */
static void make_table(void) {
  table = *tenon__builder_table();
  table.input = call_input;
  table.input_container = call_input_container;
  table.output = call_output;
  table.constant = call_constant;
  table.begin = call_begin;
  table.attribute_int = call_attribute_int;
  table.attribute_float = call_attribute_float;
  table.attribute_string = call_attribute_string;
  table.attribute_ints = call_attribute_ints;
  table.attribute_floats = call_attribute_floats;
  table.attribute_strings = call_attribute_strings;
  table.attribute_dtype = call_attribute_dtype;
  table.add_input = call_add_input;
  table.add_body = call_add_body;
  table.output_count = call_output_count;
  table.end = call_end;
  table.expression = call_expression;
  table.begin_body = call_begin_body;
  table.body_parameter = call_body_parameter;
  table.body_parameter_like = call_body_parameter_like;
  table.body_result = call_body_result;
  table.end_body = call_end_body;
  table.add_state = call_add_state;
  table.write_state = call_write_state;
  table.type = call_type;
  table.set_name = call_set_name;
  table.fail_body = call_fail_body;
}

const tenon_builder_table_t* tenon_builder_get_table(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, make_table);
  return &table;
}
