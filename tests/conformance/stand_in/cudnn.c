/*
 * A stand-in for cuDNN 9 on machines without a GPU: descriptors that keep their attributes, a
 * heuristic that always proposes the same engines, and plans that compute plainly on the host. The
 * engines differ in their notes as cuDNN's do, one of them in its results: "tensor cores" round
 * fp32 to tf32. Residual, bias and activation in the order that cuDNN knows are taken by all, other
 * operations behind a convolution by those with tensor cores alone. Attention has an engine of its
 * own.
 */
#include "cudnn_program.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATTRIBUTES = 16, VALUES = 64 };

typedef struct attribute_t {
  cudnnBackendAttributeName_t name;
  int64_t count;
  uint64_t values[VALUES];
} attribute_t;

typedef struct descriptor_t {
  cudnnBackendDescriptorType_t type;
  bool is_final;
  uint32_t count;
  int64_t engine;             /* of a proposal, an engine */
  struct descriptor_t* graph; /* likewise */
  program_t* program;         /* of a plan */
  attribute_t attributes[ATTRIBUTES];
} descriptor_t;

struct cudnnContext {
  CUstream stream;
};

/* ---- Engines ---- */

typedef struct engine_t {
  uint32_t numerical;
  uint32_t behavior;
  int64_t workspace_bytes;
  bool attends;
} engine_t;
#define NOTE(name) (1U << CUDNN_NUMERICAL_NOTE_##name)
#define COMPILED (1U << CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION)
static const engine_t engines[] = {
    {.numerical = NOTE(TENSOR_CORE) | NOTE(DOWN_CONVERT_INPUTS)},
    {.numerical = 0},
    {.workspace_bytes = (int64_t)1 << 40},
    {.numerical = NOTE(NONDETERMINISTIC)},
    {.workspace_bytes = 4096},
    {.numerical = NOTE(TENSOR_CORE), .behavior = COMPILED},
    {.numerical = NOTE(TENSOR_CORE),
     .behavior = COMPILED,
     .workspace_bytes = 4096,
     .attends = true},
};
enum { ENGINES = sizeof(engines) / sizeof(*engines) };

/* ---- Versions, words, handles ---- */

size_t cudnnGetVersion(void) {
  const char* other = getenv("STAND_IN_CUDNN_VERSION");
  return other == NULL ? 91400 : (size_t)strtoul(other, NULL, 10);
}
const char* cudnnGetErrorString(cudnnStatus_t status) {
  return status == CUDNN_STATUS_SUCCESS ? "success" : "refused by the stand-in";
}
void cudnnGetLastErrorString(char* message, size_t max_size) {
  (void)snprintf(message, max_size, "no words");
}
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  *handle = calloc(1, sizeof(**handle));
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  free(handle);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = (CUstream)stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t stand_in_work(cudnnHandle_t handle, stand_in_call_t call, const void* parameters,
                            size_t size) {
  void (*function)(CUstream, stand_in_call_t, const void*, size_t) = NULL;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  void* found = driver == NULL ? NULL : dlsym(driver, "stand_in_submit");
  memcpy((void*)&function, &found, sizeof(function));
  if (function != NULL) {
    function(handle->stream, call, parameters, size);
  }
  if (driver != NULL) {
    (void)dlclose(driver);
  }
  return function != NULL ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

/* ---- Descriptors ---- */

static size_t size_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
      return 1;
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return 8;
    default:
      return 4;
  }
}

static const attribute_t* find(const descriptor_t* d, cudnnBackendAttributeName_t name) {
  for (uint32_t k = 0; k < d->count; k++) {
    if (d->attributes[k].name == name) {
      return &d->attributes[k];
    }
  }
  return NULL;
}
static int64_t integer(const descriptor_t* d, cudnnBackendAttributeName_t name, int64_t k) {
  const attribute_t* a = find(d, name);
  return a == NULL || k >= a->count ? 0 : (int64_t)a->values[k];
}
static double number(const descriptor_t* d, cudnnBackendAttributeName_t name, double otherwise) {
  const attribute_t* a = find(d, name);
  if (a != NULL) {
    memcpy(&otherwise, a->values, sizeof(otherwise));
  }
  return otherwise;
}
static descriptor_t* pointer(const descriptor_t* d, cudnnBackendAttributeName_t name, int64_t k) {
  return (descriptor_t*)(uintptr_t)integer(d, name, k); /* NOLINT(performance-no-int-to-ptr) */
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
  descriptor_t* made = calloc(1, sizeof(*made));
  made->type = type;
  *descriptor = made;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  free(((descriptor_t*)descriptor)->program);
  free(descriptor);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void* values) {
  descriptor_t* d = descriptor;
  if (d->is_final || d->count == ATTRIBUTES || count > VALUES) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  attribute_t* a = &d->attributes[d->count++];
  a->name = name;
  a->count = count;
  for (int64_t k = 0; k < count; k++) {
    memcpy(&a->values[k], (const char*)values + (size_t)k * size_of(type), size_of(type));
  }
  return CUDNN_STATUS_SUCCESS;
}

/* ---- A graph as a program ---- */

static int32_t add_tensor(program_t* program, const descriptor_t* d) {
  if (d == NULL) {
    return -1;
  }
  const int64_t name = integer(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0);
  for (int32_t k = 0; k < program->tensor_count; k++) {
    if (program->tensors[k].name == name) {
      return k;
    }
  }
  tensor_t* t = &program->tensors[program->tensor_count];
  *t = (tensor_t){.name = name,
                  .alignment = integer(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 0),
                  .type = (cudnnDataType_t)integer(d, CUDNN_ATTR_TENSOR_DATA_TYPE, 0),
                  .rank = find(d, CUDNN_ATTR_TENSOR_DIMENSIONS)->count,
                  .is_virtual = integer(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, 0) != 0,
                  .by_value = integer(d, CUDNN_ATTR_TENSOR_IS_BY_VALUE, 0) != 0};
  for (int64_t k = 0; k < t->rank; k++) {
    t->dims[k] = integer(d, CUDNN_ATTR_TENSOR_DIMENSIONS, k);
    t->strides[k] = integer(d, CUDNN_ATTR_TENSOR_STRIDES, k);
  }
  return program->tensor_count++;
}

static void read_window(const descriptor_t* window, operation_t* out) {
  out->axes = integer(window, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0);
  for (int64_t a = 0; a < out->axes; a++) {
    out->stride[a] = integer(window, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, a);
    out->dilation[a] = integer(window, CUDNN_ATTR_CONVOLUTION_DILATIONS, a);
    out->begin[a] = integer(window, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, a);
    out->end[a] = integer(window, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, a);
  }
}

static void read_operation(program_t* program, const descriptor_t* d) {
  operation_t* o = &program->operations[program->operation_count++];
  *o = (operation_t){.type = d->type, .lower = 0, .upper = (double)INFINITY};
  if (d->type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) {
    const descriptor_t* mode = pointer(d, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, 0);
    o->mode = (cudnnPointwiseMode_t)integer(mode, CUDNN_ATTR_POINTWISE_MODE, 0);
    o->propagates = integer(mode, CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, 0) != 0;
    o->lower = number(mode, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, o->lower);
    o->upper = number(mode, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, o->upper);
    o->x = add_tensor(program, pointer(d, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, 0));
    o->w = add_tensor(program, pointer(d, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, 0));
    o->y = add_tensor(program, pointer(d, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, 0));
  } else if (d->type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR) {
    read_window(pointer(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, 0), o);
    o->x = add_tensor(program, pointer(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, 0));
    o->w = add_tensor(program, pointer(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, 0));
    o->y = add_tensor(program, pointer(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, 0));
  } else if (d->type == CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR) {
    o->x = add_tensor(program, pointer(d, CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, 0));
    o->w = add_tensor(program, pointer(d, CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, 0));
    o->v = add_tensor(program, pointer(d, CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, 0));
    o->y = add_tensor(program, pointer(d, CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, 0));
    o->scale = add_tensor(program, pointer(d, CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, 0));
  } else {
    read_window(pointer(d, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, 0), o);
    o->x = add_tensor(program, pointer(d, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, 0));
    o->w = add_tensor(program, pointer(d, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, 0));
    o->y = add_tensor(program, pointer(d, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, 0));
  }
}

static program_t* read_graph(const descriptor_t* graph) {
  program_t* program = calloc(1, sizeof(*program));
  const attribute_t* operations = find(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS);
  for (int64_t k = 0; k < operations->count; k++) {
    read_operation(program, pointer(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, k));
  }
  return program;
}

static bool is_attention(const program_t* p) {
  return p->operations[0].type == CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR;
}

/* A convolution alone, or then a residual, a bias, an activation: the middle one is there. */
static bool is_known(const program_t* p) {
  bool bias = false;
  bool full = false;
  bool active = false;
  for (int32_t k = 1; k < p->operation_count; k++) {
    const operation_t* o = &p->operations[k];
    const tensor_t* second = o->w < 0 ? NULL : &p->tensors[o->w];
    if (o->x != p->operations[k - 1].y || active || (second != NULL && second->by_value)) {
      return false;
    }
    if (second == NULL) {
      active = bias;
    } else if (o->mode == CUDNN_POINTWISE_ADD && !bias) {
      const bool vector = second->dims[0] == 1 && second->dims[2] == 1 && second->dims[3] == 1;
      full = full || !vector;
      bias = vector;
    } else {
      return false;
    }
    if (second == NULL && !active) {
      return false;
    }
  }
  return p->operation_count == 1 || (bias && (!full || p->operation_count >= 3));
}

/* ---- Finalizing, asking ---- */

/* The window must fit, as cuDNN counts. */
static bool fits(const program_t* p) {
  if (is_attention(p)) {
    return stand_in_takes_attention(p);
  }
  const operation_t* o = &p->operations[0];
  const bool transposed = o->type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR;
  const tensor_t* over = &p->tensors[transposed ? o->y : o->x];
  const tensor_t* windows = &p->tensors[transposed ? o->x : o->y];
  bool good = true;
  for (int64_t a = 0; a < o->axes; a++) {
    const int64_t reach = (p->tensors[o->w].dims[a + 2] - 1) * o->dilation[a] + 1;
    const int64_t room = over->dims[a + 2] + o->begin[a] + o->end[a] - reach;
    good = good && room >= 0 && room / o->stride[a] + 1 == windows->dims[a + 2];
  }
  return good;
}

/* As the engines do that are compiled: all tensors as if channels were innermost, whatever they are
 * said to be. */
static void misread(program_t* p) {
  for (int32_t k = 0; k < p->tensor_count; k++) {
    tensor_t* t = &p->tensors[k];
    int64_t step = t->dims[1];
    for (int64_t a = t->rank; a-- > 2;) {
      t->strides[a] = step;
      step *= t->dims[a];
    }
    t->strides[0] = step;
    t->strides[1] = 1;
  }
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  descriptor_t* d = descriptor;
  if (d->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) {
    program_t* program = read_graph(d);
    const bool good = fits(program);
    free(program);
    if (!good) {
      return CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH;
    }
  }
  if (d->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
    const descriptor_t* proposal = pointer(d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, 0);
    d->program = read_graph(proposal->graph);
    d->program->rounds = (engines[proposal->engine].numerical & NOTE(TENSOR_CORE)) != 0;
    d->program->workspace_bytes = engines[proposal->engine].workspace_bytes;
    if (engines[proposal->engine].behavior != 0 && !engines[proposal->engine].attends) {
      misread(d->program);
    }
  }
  d->is_final = true;
  return CUDNN_STATUS_SUCCESS;
}

static int64_t propose(const descriptor_t* heuristic, int64_t most, cudnnBackendDescriptor_t* out) {
  descriptor_t* graph = pointer(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, 0);
  program_t* program = read_graph(graph);
  const bool known = is_known(program);
  const bool attends = is_attention(program);
  int64_t count = 0;
  free(program);
  for (int64_t k = 0; k < ENGINES; k++) {
    if (engines[k].attends == attends &&
        (known || (engines[k].numerical & NOTE(TENSOR_CORE)) != 0)) {
      if (count < most) {
        descriptor_t* proposal = out[count];
        proposal->engine = k;
        proposal->graph = graph;
        proposal->is_final = true;
      }
      count++;
    }
  }
  return most > 0 && count > most ? most : count;
}

static int64_t give_notes(uint32_t bits, int64_t most, int32_t* out) {
  int64_t count = 0;
  for (int32_t k = 0; k < 32; k++) {
    if ((bits >> k & 1U) != 0 && count < most) {
      out[count++] = k;
    }
  }
  return count;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t most,
                                       int64_t* count, void* values) {
  const descriptor_t* d = descriptor;
  (void)type;
  *count = 1;
  switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
      *count = propose(d, most, values);
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINECFG_ENGINE:
      (*(descriptor_t**)values)->engine = d->engine;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
      *(int64_t*)values = d->engine;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
      *count = give_notes(engines[d->engine].numerical, most, values);
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
      *count = give_notes(engines[d->engine].behavior, most, values);
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
      *(int64_t*)values = engines[d->engine].workspace_bytes;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
      *(int64_t*)values = d->program->workspace_bytes;
      return CUDNN_STATUS_SUCCESS;
    default:
      return CUDNN_STATUS_BAD_PARAM;
  }
}

/* ---- Running ---- */

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  program_t program = *((const descriptor_t*)plan)->program;
  const descriptor_t* given = pack;
  const attribute_t* names = find(given, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  program.workspace = pointer(given, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, 0);
  for (int32_t k = 0; k < program.tensor_count; k++) {
    tensor_t* tensor = &program.tensors[k];
    for (int64_t n = 0; n < names->count; n++) {
      if ((int64_t)names->values[n] == tensor->name) {
        tensor->data = pointer(given, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, n);
      }
    }
    if (!tensor->is_virtual && tensor->data == NULL) {
      return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    }
    if (!tensor->by_value && (uintptr_t)tensor->data % (uintptr_t)tensor->alignment != 0) {
      return CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER;
    }
    if (tensor->by_value) { /* read now */
      memcpy(&tensor->number, tensor->data, sizeof(float));
    }
  }
  return stand_in_work(handle, stand_in_compute, &program, sizeof(program));
}
