/*
 * Non-maximum suppression of one image. The scores are read once. A heap for each group (the image,
 * or each class) keeps the best candidates. A candidate is one number of 64 bits: the score, turned
 * so that better ones are smaller, above its place, which decides between equal scores. So the order
 * is total, and nothing is allocated.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "select.h"

/* A box that stays: its corners in order, and its class. */
typedef struct kept_t {
  float low[2];
  float high[2];
  float area;
  int32_t label;
} kept_t;

typedef struct work_t {
  uint64_t* heaps;        /* [groups][capacity] */
  uint64_t* best;         /* [keep], of all groups: score above label * P + place */
  kept_t* kept;           /* [keep], of the group at hand */
  uint32_t* heap_counts;  /* [groups] */
  uint32_t* label_counts; /* [C] */
  size_t groups;
  size_t capacity;
  size_t best_count;
  size_t kept_count;
} work_t;

static uint64_t rounded(uint64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Candidates of a group. */
static int64_t capacity_of(const tensorrt_select_t* settings, int64_t places, int64_t classes) {
  return smaller(settings->top, settings->by_class ? places : places * classes);
}

uint64_t tensorrt_select_scratch(const tensorrt_select_t* settings, int64_t places,
                                 int64_t classes) {
  if (places < 0 || classes < 0 || (classes > 0 && places > INT32_MAX / classes)) {
    return UINT64_MAX;
  }
  const uint64_t groups = settings->by_class ? (uint64_t)classes : 1;
  const uint64_t capacity = (uint64_t)capacity_of(settings, places, classes);
  const uint64_t keep = (uint64_t)smaller(settings->keep, places * classes);
  return rounded(groups * capacity * sizeof(uint64_t)) + rounded(keep * sizeof(uint64_t)) +
         rounded(keep * sizeof(kept_t)) + rounded(groups * sizeof(uint32_t)) +
         rounded((uint64_t)classes * sizeof(uint32_t));
}

static void* take(char** at, uint64_t bytes) {
  void* start = *at;
  *at += rounded(bytes);
  return start;
}

static work_t divide(const tensorrt_selection_t* image, void* scratch) {
  const tensorrt_select_t* settings = image->settings;
  char* at = scratch;
  work_t work = {0};
  work.groups = settings->by_class ? (size_t)image->classes : 1;
  work.capacity = (size_t)capacity_of(settings, image->places, image->classes);
  const uint64_t keep = (uint64_t)smaller(settings->keep, image->places * image->classes);
  work.heaps = take(&at, (uint64_t)work.groups * work.capacity * sizeof(uint64_t));
  work.best = take(&at, keep * sizeof(uint64_t));
  work.kept = take(&at, keep * sizeof(kept_t));
  work.heap_counts = take(&at, work.groups * sizeof(uint32_t));
  work.label_counts = take(&at, (uint64_t)image->classes * sizeof(uint32_t));
  memset(work.heap_counts, 0, work.groups * sizeof(uint32_t));
  memset(work.label_counts, 0, (size_t)image->classes * sizeof(uint32_t));
  return work;
}

/* ---- Scores as numbers, and heaps of them with the largest on top ---- */

static uint64_t key_of(float score, uint32_t place) {
  const float sum = score + 0.0f; /* -0 is 0 */
  uint32_t bits = 0;
  memcpy(&bits, &sum, sizeof(bits));
  const uint32_t rising = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return (uint64_t)~rising << 32 | place;
}

static float score_of(uint64_t key) {
  const uint32_t rising = ~(uint32_t)(key >> 32);
  const uint32_t bits = (rising & 0x80000000u) != 0 ? rising & 0x7fffffffu : ~rising;
  float score = 0;
  memcpy(&score, &bits, sizeof(score));
  return score;
}

static void sink(uint64_t* heap, size_t count, size_t at) {
  const uint64_t moved = heap[at];
  for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && heap[child + 1] > heap[child]) {
      ++child;
    }
    if (heap[child] <= moved) {
      break;
    }
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moved;
}

/* Keeps the `capacity` smallest keys. Returns the new count. */
static size_t offer(uint64_t* heap, size_t count, size_t capacity, uint64_t key) {
  if (count < capacity) {
    size_t at = count;
    for (; at > 0 && heap[(at - 1) / 2] < key; at = (at - 1) / 2) {
      heap[at] = heap[(at - 1) / 2];
    }
    heap[at] = key;
    return count + 1;
  }
  if (count > 0 && key < heap[0]) {
    heap[0] = key;
    sink(heap, count, 0);
  }
  return count;
}

static void sort_heap(uint64_t* heap, size_t count) {
  for (size_t last = count; last > 1; --last) {
    const uint64_t top = heap[0];
    heap[0] = heap[last - 1];
    heap[last - 1] = top;
    sink(heap, last - 1, 0);
  }
}

/* ---- Overlaps ---- */

static kept_t box_of(const tensorrt_selection_t* image, int64_t place, int64_t label) {
  const float extra = image->settings->pixels ? 1.0f : 0.0f;
  const float* corners =
      image->boxes + (place * image->box_classes + (image->box_classes > 1 ? label : 0)) * 4;
  kept_t box = {.low = {fminf(corners[0], corners[2]), fminf(corners[1], corners[3])},
                .high = {fmaxf(corners[0], corners[2]), fmaxf(corners[1], corners[3])},
                .label = (int32_t)label};
  box.area = (box.high[0] - box.low[0] + extra) * (box.high[1] - box.low[1] + extra);
  return box;
}

static float overlap(const kept_t* a, const kept_t* b, int64_t pixels) {
  const float extra = pixels != 0 ? 1.0f : 0.0f;
  const float gap = pixels == 2 ? -1.0f : 0.0f;
  const float x = fminf(a->high[0], b->high[0]) - fmaxf(a->low[0], b->low[0]);
  const float y = fminf(a->high[1], b->high[1]) - fmaxf(a->low[1], b->low[1]);
  if (x < gap || y < gap) {
    return 0;
  }
  const float both = (x + extra) * (y + extra);
  const float either = a->area + b->area - both;
  return both > 0 && either > 0 ? both / either : 0;
}

/* Whether a box that stays drops this one. */
static bool is_dropped(const tensorrt_select_t* settings, const work_t* work, const kept_t* box) {
  for (size_t k = 0; k < work->kept_count; ++k) {
    if (settings->agnostic != 0 || work->kept[k].label == box->label) {
      const float share = overlap(box, &work->kept[k], settings->pixels);
      if (share > settings->iou_threshold ||
          ((settings->inclusive & 2) != 0 && share == settings->iou_threshold)) {
        return true;
      }
    }
  }
  return false;
}

/* ---- The image ---- */

static void collect(const tensorrt_selection_t* image, work_t* work) {
  const tensorrt_select_t* settings = image->settings;
  const float least = settings->score_threshold;
  const bool takes_equal = (settings->inclusive & 1) != 0;
  const float* score = image->scores;
  for (int64_t place = 0; place < image->places; ++place) {
    for (int64_t label = 0; label < image->classes; ++label, ++score) {
      if ((*score > least || (takes_equal && *score == least)) && label != settings->background) {
        const size_t group = settings->by_class ? (size_t)label : 0;
        const int64_t order = settings->by_class ? place : place * image->classes + label;
        work->heap_counts[group] =
            (uint32_t)offer(work->heaps + group * work->capacity, work->heap_counts[group],
                            work->capacity, key_of(*score, (uint32_t)order));
      }
    }
  }
}

/* Selects from one group, sorted. */
static void select_group(const tensorrt_selection_t* image, work_t* work, size_t group) {
  const tensorrt_select_t* settings = image->settings;
  const size_t keep = (size_t)smaller(settings->keep, image->places * image->classes);
  const uint64_t* keys = work->heaps + group * work->capacity;
  work->kept_count = 0;
  for (size_t k = 0; k < work->heap_counts[group] && work->kept_count < keep; ++k) {
    const int64_t order = (int64_t)(uint32_t)keys[k];
    const int64_t label = settings->by_class ? (int64_t)group : order % image->classes;
    const int64_t place = settings->by_class ? order : order / image->classes;
    if (settings->keep_of_class >= 0 &&
        work->label_counts[label] >= (uint64_t)settings->keep_of_class) {
      continue;
    }
    const kept_t box = box_of(image, place, label);
    if (is_dropped(settings, work, &box)) {
      continue;
    }
    work->kept[work->kept_count++] = box;
    ++work->label_counts[label];
    const uint32_t of_all = (uint32_t)(label * image->places + place);
    if (settings->by_class) {
      work->best_count =
          offer(work->best, work->best_count, keep, key_of(score_of(keys[k]), of_all));
    } else {
      work->best[work->best_count++] = (keys[k] >> 32) << 32 | of_all;
    }
  }
}

static void write(const tensorrt_selection_t* image, const work_t* work) {
  for (size_t k = 0; k < (size_t)image->settings->keep; ++k) {
    float* box = image->box + k * 4;
    if (k >= work->best_count) {
      image->index[k] = -1;
      image->label[k] = -1;
      image->score[k] = 0;
      memset(box, 0, 4 * sizeof(*box));
      continue;
    }
    const int64_t of_all = (int64_t)(uint32_t)work->best[k];
    const int64_t label = of_all / image->places;
    const int64_t place = of_all % image->places;
    const int64_t from = place * image->box_classes + (image->box_classes > 1 ? label : 0);
    image->index[k] = (int32_t)place;
    image->label[k] = (int32_t)label;
    image->score[k] = score_of(work->best[k]);
    memcpy(box, image->boxes + from * 4, 4 * sizeof(*box));
  }
  *image->count = (int32_t)work->best_count;
}

void tensorrt_select_image(const tensorrt_selection_t* image, void* scratch) {
  work_t work = divide(image, scratch);
  collect(image, &work);
  for (size_t group = 0; group < work.groups; ++group) {
    sort_heap(work.heaps + group * work.capacity, work.heap_counts[group]);
    select_group(image, &work, group);
  }
  if (image->settings->by_class) {
    sort_heap(work.best, work.best_count);
  }
  write(image, &work);
}
