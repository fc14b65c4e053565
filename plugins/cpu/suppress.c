/*
 * A kernel for standard.non_max_suppression/1 of f32. It takes the candidates of a class from a
 * heap in the order of their scores and compares each with several selected boxes at a time.
 */
#include "closed.h"

enum { TOGETHER = 8 }; /* selected boxes that are compared at a time */

typedef struct suppress_t {
  tenon__cpu_closed_t closed;
  bool by_center;
} suppress_t;

/* Selected boxes. There is one array of `room` numbers for each coordinate and for the areas. */
typedef struct bound_t {
  int64_t lines; /* classes of all images */
  int64_t boxes; /* boxes of an image */
  size_t room;
  uint64_t* candidates; /* [thread] */
  double* kept;         /* [thread]: low and high ends of both axes, areas */
  int64_t* selected;    /* [line] */
  int64_t* counts;
} bound_t;

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon__cpu_region_t region = {handle, table};
  for (uint32_t port = 1; port < 5; port++) {
    const tenon_value_info_t* value = tenon__cpu_region_input(region, port);
    const tenon_dtype_t wanted = port == 2 ? TENON_DTYPE_INT64 : TENON_DTYPE_FLOAT32;
    if (value != NULL && value->kind != TENON_ARGUMENT_ABSENT && value->dtype != wanted) {
      return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
    }
  }
  return tenon__cpu_closed_match_f32(state, handle, table, out_refusal);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  suppress_t* self = tenon__cpu_closed_create(call, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  self->by_center = tenon__cpu_region_int((tenon__cpu_region_t){call->region, call->table},
                                          "center_point_box", 0) != 0;
  *out_instance = self;
  return TENON_OK;
}

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  const suppress_t* self = instance;
  const tenon_tensor_view_t* scores = &host->input(binding, self->closed.inputs[1])->tensor;
  const uint32_t threads = host->thread_count(binding);
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->lines = scores->dims[0] * scores->dims[1];
  bound->boxes = scores->dims[2];
  bound->room = (size_t)(bound->boxes + TOGETHER) / TOGETHER * TOGETHER;
  bound->candidates = host->allocate(binding, threads * bound->room * sizeof(uint64_t));
  bound->kept = host->allocate(binding, (size_t)threads * 5 * bound->room * sizeof(double));
  bound->selected =
      host->allocate(binding, ((size_t)(bound->lines * bound->boxes) + 1) * sizeof(int64_t));
  bound->counts = host->allocate(binding, ((size_t)bound->lines + 1) * sizeof(int64_t));
  *out_bound = bound;
  const tenon_status_t status = tenon__cpu_closed_check_bound(binding, host, bound->boxes, "boxes");
  if (status != TENON_OK) {
    return status;
  }
  return bound->candidates == NULL || bound->kept == NULL || bound->selected == NULL ||
                 bound->counts == NULL
             ? TENON_ERROR_OUT_OF_MEMORY
             : TENON_OK;
}

/* ---- Candidates in descending order. Of equal scores, the first box comes first ---- */

static uint64_t rank_of(float score, uint32_t box) {
  uint32_t bits = 0;
  const float positive_zero = score + 0.0F;
  memcpy(&bits, &positive_zero, sizeof(bits));
  const uint32_t key = bits ^ ((bits >> 31) != 0 ? UINT32_MAX : 0x80000000U);
  return (uint64_t)key << 32 | (UINT32_MAX - box);
}

static void sift(uint64_t* heap, int64_t count, int64_t place) {
  const uint64_t rank = heap[place];
  for (int64_t child = 2 * place + 1; child < count; child = 2 * place + 1) {
    child += child + 1 < count && heap[child + 1] > heap[child] ? 1 : 0;
    if (heap[child] <= rank) {
      break;
    }
    heap[place] = heap[child];
    place = child;
  }
  heap[place] = rank;
}

/* ---- Boxes ---- */

typedef struct box_t {
  double low[2];
  double high[2];
  double area;
} box_t;

static box_t box_of(const float* box, bool by_center) {
  box_t result = {.area = 1.0};
  for (int axis = 0; axis < 2; axis++) {
    const double a = box[axis];
    const double b = box[axis + 2];
    result.low[axis] = by_center ? a - b / 2.0 : fmin(a, b);
    result.high[axis] = by_center ? a + b / 2.0 : fmax(a, b);
    result.area *= result.high[axis] - result.low[axis];
  }
  return result;
}

static void keep(double* kept, size_t room, int64_t at, const box_t* box) {
  if (at % TOGETHER == 0) { /* clears the areas of unused entries */
    memset(kept + 4 * room + at, 0, TOGETHER * sizeof(double));
  }
  const double numbers[5] = {box->low[0], box->low[1], box->high[0], box->high[1], box->area};
  for (size_t k = 0; k < 5; k++) {
    kept[k * room + (size_t)at] = numbers[k];
  }
}

/* Returns true if the overlap with a selected box exceeds the threshold. Entries from `count` on
 * have area 0. */
static bool is_covered(const double* kept, size_t room, int64_t count, const box_t* box,
                       double threshold) {
  if (!(box->area > 0.0)) {
    return false;
  }
  for (int64_t first = 0; first < count; first += TOGETHER) {
    const double* b = kept + first;
    int covers = 0;
    for (size_t k = 0; k < TOGETHER; k++) {
      const double low_0 = b[k] > box->low[0] ? b[k] : box->low[0];
      const double low_1 = b[room + k] > box->low[1] ? b[room + k] : box->low[1];
      const double high_0 = b[2 * room + k] < box->high[0] ? b[2 * room + k] : box->high[0];
      const double high_1 = b[3 * room + k] < box->high[1] ? b[3 * room + k] : box->high[1];
      const double area = b[4 * room + k];
      const double both = (high_0 - low_0) * (high_1 - low_1);
      const double whole = box->area + area - both;
      covers |= (high_0 > low_0) & (high_1 > low_1) & (area > 0.0) & (whole > 0.0) &
                (both / whole > threshold);
    }
    if (covers != 0) {
      return true;
    }
  }
  return false;
}

/* ---- Running ---- */

typedef struct job_t {
  const suppress_t* self;
  const bound_t* bound;
  const float* boxes;
  const float* scores;
  int64_t classes;
  int64_t limit;
  double threshold;
  double least_score;
} job_t;

/* Makes a heap of the candidates of a class. Returns their number. */
static int64_t make_heap(const job_t* job, const float* scores, uint64_t* out_heap) {
  int64_t count = 0;
  for (int64_t box = 0; box < job->bound->boxes; box++) {
    if ((double)scores[box] > job->least_score) {
      out_heap[count++] = rank_of(scores[box], (uint32_t)box);
    }
  }
  for (int64_t k = count / 2; k-- > 0;) {
    sift(out_heap, count, k);
  }
  return count;
}

static void run_lines(void* user, int64_t begin, int64_t end, uint32_t thread) {
  const job_t* job = user;
  const bound_t* bound = job->bound;
  const size_t room = bound->room;
  uint64_t* heap = bound->candidates + thread * room;
  double* kept = bound->kept + (size_t)thread * 5 * room;
  for (int64_t line = begin; line < end; line++) {
    const float* boxes = job->boxes + line / job->classes * bound->boxes * 4;
    const float* scores = job->scores + line * bound->boxes;
    int64_t* selected = bound->selected + line * bound->boxes;
    int64_t count = make_heap(job, scores, heap);
    int64_t found = 0;
    for (; count > 0 && found < job->limit; count--) {
      const int64_t at = UINT32_MAX - (uint32_t)heap[0];
      const box_t box = box_of(boxes + at * 4, job->self->by_center);
      if (!is_covered(kept, room, found, &box, job->threshold)) {
        keep(kept, room, found, &box);
        selected[found++] = at;
      }
      heap[0] = heap[count - 1];
      sift(heap, count - 1, 0);
    }
    bound->counts[line] = found;
  }
}

static float float_of(const tenon_tensor_view_t* view, float otherwise) {
  return view == NULL || tenon__cpu_closed_count(view, 0, view->rank) == 0
             ? otherwise
             : *(const float*)view->data;
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const bound_t* bound = call->bound;
  const tenon_tensor_view_t* scores = tenon__cpu_closed_input(call, 1);
  const job_t job = {.self = call->instance,
                     .bound = bound,
                     .boxes = tenon__cpu_closed_input(call, 0)->data,
                     .scores = scores->data,
                     .classes = scores->dims[1],
                     .limit = tenon__cpu_closed_integer(tenon__cpu_closed_input(call, 2), 0),
                     .threshold = (double)float_of(tenon__cpu_closed_input(call, 3), 0.0F),
                     .least_score = (double)float_of(tenon__cpu_closed_input(call, 4), -INFINITY)};
  tenon__cpu_closed_divide(call, bound->lines, (double)bound->boxes * 2, run_lines, (void*)&job);
  int64_t found = 0;
  for (int64_t line = 0; line < bound->lines; line++) {
    found += bound->counts[line];
  }
  void* data = NULL;
  const tenon_status_t status =
      tenon__cpu_closed_allocate(call, 0, 2, (const int64_t[]){found, 3}, &data);
  int64_t* y = data;
  const int64_t lines = y == NULL ? 0 : bound->lines;
  for (int64_t line = 0; line < lines; line++) {
    for (int64_t k = 0; k < bound->counts[line]; k++, y += 3) {
      y[0] = line / job.classes;
      y[1] = line % job.classes;
      y[2] = bound->selected[line * bound->boxes + k];
    }
  }
  return status;
}

static const char* const operators[] = {"standard.non_max_suppression/1", NULL};
static const char* const attributes[] = {"center_point_box", NULL};
TENON_CPU_CLOSED(suppress, "suppress", operators, attributes, match, prepare, bind, enqueue);
