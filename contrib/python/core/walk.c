/* Walks over a network: its inputs, outputs and nodes as records. */
#include "network.h"

typedef struct walk_t {
  python_network_t* network;
  PyObject* list;
} walk_t;

static PyObject* attribute_value(const tenon_attribute_t* attribute) {
  switch (attribute->kind) {
    case TENON_ATTRIBUTE_INT:
      return PyLong_FromLongLong(attribute->integer);
    case TENON_ATTRIBUTE_FLOAT:
      return PyFloat_FromDouble(attribute->number);
    case TENON_ATTRIBUTE_STRING:
      return python_text(attribute->string);
    case TENON_ATTRIBUTE_DTYPE:
      return python_text(tenon_dtype_name((tenon_dtype_t)attribute->integer));
    default:
      break;
  }
  PyObject* tuple = PyTuple_New((Py_ssize_t)attribute->count);
  for (size_t i = 0; tuple != NULL && i < attribute->count; ++i) {
    PyObject* item =
        attribute->kind == TENON_ATTRIBUTE_INTS     ? PyLong_FromLongLong(attribute->integers[i])
        : attribute->kind == TENON_ATTRIBUTE_FLOATS ? PyFloat_FromDouble(attribute->numbers[i])
                                                    : python_text(attribute->strings[i]);
    python_put(&tuple, i, item);
  }
  return tuple;
}

static PyObject* attribute_dict(const tenon_list_t* list) {
  PyObject* dict = PyDict_New();
  for (uint32_t i = 0; dict != NULL && i < list->count; ++i) {
    const tenon_attribute_t* attribute =
        (const tenon_attribute_t*)((const char*)list->items + (size_t)i * list->stride);
    PyObject* value = attribute_value(attribute);
    if (value == NULL || PyDict_SetItemString(dict, attribute->name, value) < 0) {
      Py_DECREF(dict);
      dict = NULL;
    }
    Py_XDECREF(value);
  }
  return dict;
}

static PyObject* value_tuple(python_network_t* network, const tenon_value_t* values,
                             uint32_t count) {
  PyObject* tuple = PyTuple_New((Py_ssize_t)count);
  for (uint32_t i = 0; tuple != NULL && i < count; ++i) {
    PyObject* value = python_value_make(network, values[i]);
    python_put(&tuple, i, value);
  }
  return tuple;
}

static PyObject* text_tuple(const char* const* texts, uint32_t count) {
  PyObject* tuple = PyTuple_New((Py_ssize_t)(texts == NULL ? 0 : count));
  for (uint32_t i = 0; texts != NULL && tuple != NULL && i < count; ++i) {
    PyObject* text = python_text(texts[i]);
    python_put(&tuple, i, text);
  }
  return tuple;
}

static PyObject* body_tuple(const uint32_t* bodies, uint32_t count) {
  PyObject* tuple = PyTuple_New((Py_ssize_t)count);
  for (uint32_t i = 0; tuple != NULL && i < count; ++i) {
    PyObject* number = PyLong_FromUnsignedLong(bodies[i]);
    python_put(&tuple, i, number);
  }
  return tuple;
}

static int32_t visit(void* user, const tenon_network_item_t* item) {
  walk_t* walk = user;
  static const char* const kinds[] = {"", "input", "output", "node"};
  PyObject* record = python_record(
      walk->network->state, "NetworkItem", "(szzzNNNNNI)", kinds[item->kind & 3], item->name,
      item->op, item->text, text_tuple(item->input_names, item->input_count),
      value_tuple(walk->network, item->inputs, item->input_count),
      value_tuple(walk->network, item->outputs, item->output_count),
      attribute_dict(&item->attributes), body_tuple(item->bodies, item->body_count), item->depth);
  const int result = record == NULL ? -1 : PyList_Append(walk->list, record);
  Py_XDECREF(record);
  return result < 0 ? TENON_ERROR_CANCELLED : TENON_OK;
}

/* The list, or NULL with the exception of the visit or of the walk. */
static PyObject* finish(walk_t* walk, tenon_status_t status) {
  if (PyErr_Occurred() != NULL || python_network_status(walk->network, status) < 0) {
    Py_CLEAR(walk->list);
  }
  return walk->list;
}

PyObject* python_network_items(python_network_t* self, PyObject* arguments) {
  int bodies = 0;
  if (!PyArg_ParseTuple(arguments, "|p:items", &bodies)) {
    return NULL;
  }
  walk_t walk = {self, PyList_New(0)};
  if (walk.list == NULL) {
    return NULL;
  }
  return finish(&walk, bodies != 0 ? tenon_network_walk_bodies(self->handle, visit, &walk)
                                   : tenon_network_walk(self->handle, visit, &walk));
}

PyObject* python_network_body_items(python_network_t* self, PyObject* arguments) {
  uint32_t body = 0;
  if (!PyArg_ParseTuple(arguments, "O&:body_items", python_u32, &body)) {
    return NULL;
  }
  walk_t walk = {self, PyList_New(0)};
  if (walk.list == NULL) {
    return NULL;
  }
  return finish(&walk, tenon_network_walk_body(self->handle, body, visit, &walk));
}
