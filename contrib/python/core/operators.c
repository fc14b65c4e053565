/* Operators that the program defines, given to the plugin in operators/plugin.c. */
#include "operators.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A block of memory, with the block before it. Descriptors live as long as the process, as the
 * contract demands: their blocks are freed if their plugin cannot be made, else never. */
typedef struct block_t {
  struct block_t* before;
  max_align_t data[];
} block_t;

static block_t* kept; /* of all plugins; changed with the GIL */

/* Zero-filled, for one item more than `count`. */
static void* allocate(block_t** blocks, Py_ssize_t count, size_t size) {
  block_t* block = count < 0 ? NULL : calloc(1, sizeof(*block) + ((size_t)count + 1) * size);
  if (block == NULL) {
    (void)(PyErr_Occurred() != NULL ? NULL : PyErr_NoMemory());
    return NULL;
  }
  block->before = *blocks;
  *blocks = block;
  return block->data;
}

static void free_blocks(block_t* blocks) {
  while (blocks != NULL) {
    block_t* before = blocks->before;
    free(blocks);
    blocks = before;
  }
}

/* A copy of item `index` of a tuple, a str; NULL for None. */
static int copy_text(block_t** blocks, PyObject* tuple, Py_ssize_t index, const char** out_text) {
  PyObject* item = PyTuple_GetItem(tuple, index);
  Py_ssize_t size = 0;
  const char* text = NULL;
  if (item == Py_None) {
    return 0;
  }
  text = item == NULL ? NULL : PyUnicode_AsUTF8AndSize(item, &size);
  char* copy = text == NULL ? NULL : allocate(blocks, size, 1);
  if (copy == NULL) {
    return -1;
  }
  memcpy(copy, text, (size_t)size);
  *out_text = copy;
  return 0;
}

/* Ports from a tuple of (name, type). */
static int read_ports(block_t** blocks, PyObject* tuple, tenon_list_t* out_list) {
  const Py_ssize_t count = PyTuple_Size(tuple);
  tenon_port_t* ports = allocate(blocks, count, sizeof(*ports));
  for (Py_ssize_t i = 0; ports != NULL && i < count; ++i) {
    ports[i].size = sizeof(*ports);
    if (copy_text(blocks, PyTuple_GetItem(tuple, i), 0, &ports[i].name) < 0 ||
        copy_text(blocks, PyTuple_GetItem(tuple, i), 1, &ports[i].type) < 0) {
      return -1;
    }
  }
  *out_list = (tenon_list_t){ports, (uint32_t)(count < 0 ? 0 : count), sizeof(*ports)};
  return ports == NULL ? -1 : 0;
}

/* Attributes from a tuple of (name, kind, default). */
static int read_attributes(block_t** blocks, PyObject* tuple, tenon_list_t* out_list) {
  const Py_ssize_t count = PyTuple_Size(tuple);
  tenon_attribute_descriptor_t* items = allocate(blocks, count, sizeof(*items));
  for (Py_ssize_t i = 0; items != NULL && i < count; ++i) {
    PyObject* item = PyTuple_GetItem(tuple, i);
    items[i].size = sizeof(*items);
    items[i].kind = (uint32_t)PyLong_AsUnsignedLong(PyTuple_GetItem(item, 1));
    if (copy_text(blocks, item, 0, &items[i].name) < 0 ||
        copy_text(blocks, item, 2, &items[i].default_text) < 0) {
      return -1;
    }
    items[i].flags = items[i].default_text == NULL ? TENON_ATTRIBUTE_REQUIRED : 0;
  }
  *out_list = (tenon_list_t){items, (uint32_t)(count < 0 ? 0 : count), sizeof(*items)};
  return items == NULL ? -1 : 0;
}

/* One operator from (name, summary, type, inputs, outputs, attributes, text, shape, traits). */
static int read_operator(block_t** blocks, PyObject* tuple, tenon_operator_t* out_operator) {
  tenon_type_variable_t* type = allocate(blocks, 1, sizeof(*type));
  tenon_case_t* cases = allocate(blocks, 1, sizeof(*cases));
  if (type == NULL || cases == NULL) {
    return -1;
  }
  *type = (tenon_type_variable_t){.size = sizeof(*type), .name = "T"};
  cases->size = sizeof(*cases);
  out_operator->size = sizeof(*out_operator);
  if (copy_text(blocks, tuple, 0, &out_operator->name) < 0 ||
      copy_text(blocks, tuple, 1, &out_operator->summary) < 0 ||
      copy_text(blocks, tuple, 2, &type->allowed) < 0 ||
      read_ports(blocks, PyTuple_GetItem(tuple, 3), &out_operator->inputs) < 0 ||
      read_ports(blocks, PyTuple_GetItem(tuple, 4), &out_operator->outputs) < 0 ||
      read_attributes(blocks, PyTuple_GetItem(tuple, 5), &out_operator->attributes) < 0 ||
      copy_text(blocks, tuple, 6, &cases->text) < 0 ||
      copy_text(blocks, tuple, 7, &out_operator->shape) < 0 ||
      copy_text(blocks, tuple, 8, &out_operator->traits) < 0) {
    return -1;
  }
  out_operator->types = (tenon_list_t){type, 1, sizeof(*type)};
  out_operator->cases = (tenon_list_t){cases, 1, sizeof(*cases)};
  return 0;
}

static const tenon_plugin_t* make_plugin(block_t** blocks, PyObject* list) {
  const Py_ssize_t count = PyList_Size(list);
  tenon_operator_t* operators = allocate(blocks, count, sizeof(*operators));
  tenon_offering_t* offering = allocate(blocks, 1, sizeof(*offering));
  const tenon_offering_t** offerings = allocate(blocks, 1, sizeof(void*));
  tenon_plugin_t* plugin = allocate(blocks, 1, sizeof(*plugin));
  if (operators == NULL || offering == NULL || offerings == NULL || plugin == NULL) {
    return NULL;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (read_operator(blocks, PyList_GetItem(list, i), &operators[i]) < 0) {
      return NULL;
    }
  }
  *offering = (tenon_offering_t){.size = sizeof(*offering),
                                 .kind = "operator/1",
                                 .items = {operators, (uint32_t)count, sizeof(*operators)}};
  offerings[0] = offering;
  *plugin = (tenon_plugin_t){TENON_PLUGIN_HEADER, .name = "python", .version = "0.1.0",
                             .offerings = {offerings, 1, sizeof(void*)}};
  return plugin;
}

static const void* table(void* host, const char* name) {
  return strcmp(name, "tenon_python.plugin/1") == 0 ? host : NULL;
}

PyObject* python_offer_operators(PyObject* module, PyObject* arguments) {
  const char* path = NULL;
  PyObject* list = NULL;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "sO!:offer_operators", &path, &PyList_Type, &list)) {
    return NULL;
  }
  void* image = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* symbol = image == NULL ? NULL : dlsym(image, TENON_PLUGIN_QUERY_SYMBOL);
  if (symbol == NULL) {
    PyErr_Format(PyExc_OSError, "the plugin of operators cannot be loaded: %s", dlerror());
    return NULL;
  }
  tenon_plugin_query_t query = NULL;
  memcpy(&query, &symbol, sizeof(query)); /* no conversion of the language goes between them */
  block_t* blocks = NULL;
  const tenon_plugin_t* plugin = make_plugin(&blocks, list);
  if (plugin == NULL) {
    free_blocks(blocks);
    return NULL;
  }
  if (kept != NULL) {
    block_t* first = blocks;
    while (first->before != NULL) {
      first = first->before;
    }
    first->before = kept;
  }
  kept = blocks;
  const tenon_host_offer_t host = {
      .abi_major = TENON_ABI_MAJOR,
      .abi_max_minor = TENON_ABI_MINOR,
      .host = (void*)plugin, /* only read */
      .table = table,
  };
  (void)query(&host);
  return Py_NewRef(Py_None);
}
