/* The attributes and ports of an operator, as the index has them. */
#include "core/operator/attribute.h"
#include "core/operator/operator.h"
#include "sdk/library/library.h"

typedef struct writing_t {
  tenon_write_t write;
  void* user;
} writing_t;

static void begin_list(const writing_t* w, const char* key) {
  w->write(w->user, ", \"");
  w->write(w->user, key);
  w->write(w->user, "\": [");
}

static void begin_item(const writing_t* w, uint32_t index, const char* name) {
  w->write(w->user, index == 0 ? "{" : ", {");
  tenon__write_json_field(w->write, w->user, true, "name", name);
}

/* What is not said is left out. */
static void add_said(const writing_t* w, const char* key, const char* text) {
  if (text != NULL) {
    tenon__write_json_field(w->write, w->user, false, key, text);
  }
}

static void write_attributes(const writing_t* w, const tenon__descriptor_t* op) {
  begin_list(w, "attributes");
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    const tenon_attribute_descriptor_t* attribute = &op->attributes[i];
    begin_item(w, i, attribute->name);
    add_said(w, "kind", tenon__attribute_kind_name(attribute->kind));
    add_said(w, "default", attribute->default_text);
    add_said(w, "choices", attribute->choices);
    add_said(w, "summary", attribute->summary);
    w->write(w->user, "}");
  }
  w->write(w->user, "]");
}

static void write_ports(const writing_t* w, const char* key, const tenon_port_t* ports,
                        uint32_t count) {
  begin_list(w, key);
  for (uint32_t i = 0; i < count; ++i) {
    begin_item(w, i, ports[i].name);
    add_said(w, "type", ports[i].type);
    add_said(w, "domain", ports[i].domain);
    add_said(w, "summary", ports[i].summary);
    w->write(w->user, "}");
  }
  w->write(w->user, "]");
}

void tenon__write_operator_ports(const tenon__operator_t* op, tenon_write_t write, void* user) {
  const writing_t w = {write, user};
  write_attributes(&w, &op->descriptor);
  write_ports(&w, "inputs", op->descriptor.inputs, op->descriptor.input_count);
  write_ports(&w, "outputs", op->descriptor.outputs, op->descriptor.output_count);
}
