/* Strided copies. */
#include "copy.h"

#include <string.h>

enum {
  /* Rows and columns of a block that is transposed at a time: 2 x 32 x 32 floats stay in the first
     cache. */
  TRANSPOSE_BLOCK = 32,
  /* Elements that a task should have at least. */
  TASK_ELEMENTS = 16384,
  /* With fewer columns, the axis of the rows is chosen by its extent. */
  FEW_COLUMNS = 16,
  CACHE_BYTES = 16384,
  /* Maximum elements that a fill copies at a time. Rows of fewer than LEAST_FILL are loops. */
  FILL_ELEMENTS = 1024,
  LEAST_FILL = 16
};

/* Arguments are types. NOLINTBEGIN(bugprone-macro-parentheses) */
#define STRIDED_LOOP(name, type)                                               \
  static void name(const tenon__cpu_copy_2d_t* s, void* out, const void* in) { \
    for (size_t i = 0; i < s->rows; i++) {                                     \
      type* o = (type*)out + (int64_t)i * s->out_row;                          \
      const type* p = (const type*)in + (int64_t)i * s->in_row;                \
      for (size_t j = 0; j < s->columns; j++) {                                \
        o[(int64_t)j * s->out_column] = p[(int64_t)j * s->in_column];          \
      }                                                                        \
    }                                                                          \
  }
/* NOLINTEND(bugprone-macro-parentheses) */
typedef struct wide_t {
  uint64_t parts[2];
} wide_t;
STRIDED_LOOP(copy_strided_1, uint8_t)
STRIDED_LOOP(copy_strided_2, uint16_t)
STRIDED_LOOP(copy_strided_4, uint32_t)
STRIDED_LOOP(copy_strided_8, uint64_t)
STRIDED_LOOP(copy_strided_16, wide_t)

static void copy_strided(const tenon__cpu_copy_2d_t* s, void* out, const void* in) {
  switch (s->element_bytes) {
    case 1:
      copy_strided_1(s, out, in);
      break;
    case 2:
      copy_strided_2(s, out, in);
      break;
    case 4:
      copy_strided_4(s, out, in);
      break;
    case 8:
      copy_strided_8(s, out, in);
      break;
    default:
      copy_strided_16(s, out, in);
      break;
  }
}

static size_t min_size(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Rows lie together in the input, columns in the output: square blocks keep both in the cache. */
static void copy_transposed(const tenon__cpu_elements_t* elements, const tenon__cpu_copy_2d_t* s,
                            void* out, const void* in) {
  for (size_t i = 0; i < s->rows; i += TRANSPOSE_BLOCK) {
    for (size_t j = 0; j < s->columns; j += TRANSPOSE_BLOCK) {
      tenon__cpu_copy_2d_t block = *s;
      block.rows = min_size(TRANSPOSE_BLOCK, s->rows - i);
      block.columns = min_size(TRANSPOSE_BLOCK, s->columns - j);
      const int64_t bytes = (int64_t)s->element_bytes;
      char* o = (char*)out + ((int64_t)i * s->out_row + (int64_t)j * s->out_column) * bytes;
      const char* p =
          (const char*)in + ((int64_t)i * s->in_row + (int64_t)j * s->in_column) * bytes;
      const bool is_byte = s->element_bytes == 1;
      if ((is_byte || s->element_bytes == 4) && s->out_row > 0 && s->in_column > 0) {
        (is_byte ? elements->transpose_8 : elements->transpose_32)(
            o, (size_t)s->out_row, p, (size_t)s->in_column, block.columns, block.rows);
      } else {
        copy_strided(&block, o, p);
      }
    }
  }
}

/* Copies short rows as their first and their last `size` bytes, which may overlap: a call of memcpy
 * would take longer than the bytes. */
#define SHORT_ROWS(size)                                   \
  for (size_t i = 0; i < rows; i++) {                      \
    const char* p = (const char*)in + (int64_t)i * in_row; \
    char* o = (char*)out + (int64_t)i * out_row;           \
    char first[size];                                      \
    char last[size];                                       \
    memcpy(first, p, size);                                \
    memcpy(last, p + bytes - (size), size);                \
    memcpy(o, first, size);                                \
    memcpy(o + bytes - (size), last, size);                \
  }

/* Copies rows whose elements are contiguous on both sides. Strides are in bytes. */
static void copy_rows(size_t rows, size_t bytes, void* out, int64_t out_row, const void* in,
                      int64_t in_row) {
  if (bytes > 64 || bytes < 2) {
    for (size_t i = 0; i < rows; i++) {
      memcpy((char*)out + (int64_t)i * out_row, (const char*)in + (int64_t)i * in_row, bytes);
    }
  } else if (bytes > 32) {
    SHORT_ROWS(32)
  } else if (bytes > 16) {
    SHORT_ROWS(16)
  } else if (bytes > 8) {
    SHORT_ROWS(8)
  } else if (bytes > 4) {
    SHORT_ROWS(4)
  } else {
    SHORT_ROWS(2)
  }
}

void tenon__cpu_copy_2d(const tenon__cpu_elements_t* elements, const tenon__cpu_copy_2d_t* shape,
                        void* out, const void* in) {
  const int64_t bytes = (int64_t)shape->element_bytes;
  if (shape->columns == 0 || shape->rows == 0) {
    return;
  }
  if (shape->columns == 1 && shape->rows > 1) {
    const tenon__cpu_copy_2d_t row = {.element_bytes = shape->element_bytes,
                                      .rows = 1,
                                      .columns = shape->rows,
                                      .out_column = shape->out_row,
                                      .in_column = shape->in_row};
    tenon__cpu_copy_2d(elements, &row, out, in);
  } else if (shape->out_column == 1 && shape->in_column == 1) {
    copy_rows(shape->rows, shape->columns * shape->element_bytes, out, shape->out_row * bytes, in,
              shape->in_row * bytes);
  } else if (shape->out_column == 1 && shape->in_column == 0 && shape->columns >= LEAST_FILL) {
    for (size_t i = 0; i < shape->rows; i++) {
      tenon__cpu_fill((char*)out + (int64_t)i * shape->out_row * bytes,
                      (const char*)in + (int64_t)i * shape->in_row * bytes, shape->element_bytes,
                      shape->columns);
    }
  } else if (shape->out_column == 1 && shape->in_row == 1 && shape->rows > 1) {
    copy_transposed(elements, shape, out, in);
  } else {
    copy_strided(shape, out, in);
  }
}

void tenon__cpu_fill(void* out, const void* element, size_t element_bytes, size_t count) {
  if (count == 0) {
    return;
  }
  memcpy(out, element, element_bytes);
  size_t done = 1;
  while (done < count) { /* doubles the filled part while it stays in the first cache */
    const size_t more = min_size(min_size(done, FILL_ELEMENTS), count - done);
    memcpy((char*)out + done * element_bytes, out, more * element_bytes);
    done += more;
  }
}

/* ---- Any number of dimensions ---- */

typedef struct axis_t {
  int64_t extent;
  int64_t out;
  int64_t in;
} axis_t;

static int64_t magnitude(int64_t x) {
  return x < 0 ? -x : x;
}

/* Largest output stride first; among equals the order stays. */
static void sort_axes(axis_t* axes, uint32_t count) {
  for (uint32_t k = 1; k < count; k++) {
    const axis_t axis = axes[k];
    uint32_t at = k;
    for (; at > 0 && magnitude(axes[at - 1].out) < magnitude(axis.out); at--) {
      axes[at] = axes[at - 1];
    }
    axes[at] = axis;
  }
}

/* An outer axis that continues the inner one in both tensors becomes one with it. */
static uint32_t join_axes(axis_t* axes, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < count; k++) {
    if (kept > 0 && axes[kept - 1].out == axes[k].out * axes[k].extent &&
        axes[kept - 1].in == axes[k].in * axes[k].extent) {
      axes[k].extent *= axes[kept - 1].extent;
      axes[kept - 1] = axes[k];
    } else {
      axes[kept++] = axes[k];
    }
  }
  return kept;
}

/* Returns the axis of the rows. It is contiguous in the input, or next to the columns. If there are
 * fewer than FEW_COLUMNS columns, it is the longest axis whose rows stay in the first cache. */
static uint32_t choose_rows(const axis_t* axes, uint32_t count, size_t element_bytes) {
  const axis_t* columns = &axes[count - 1];
  uint32_t rows = count - 2;
  const uint32_t candidates = columns->in == 1 ? 0 : count - 1;
  for (uint32_t k = 0; k < candidates; k++) {
    if (axes[k].in == 1) {
      return k;
    }
  }
  if (columns->extent >= FEW_COLUMNS) {
    return rows;
  }
  for (uint32_t k = count - 1; k-- > 0;) {
    const int64_t span = axes[k].extent * magnitude(axes[k].out) * (int64_t)element_bytes;
    rows = span <= CACHE_BYTES && axes[k].extent > axes[rows].extent ? k : rows;
  }
  return rows;
}

static void cut_rows(tenon__cpu_copy_t* copy) {
  const int64_t rows = (int64_t)copy->inner.rows;
  const int64_t columns = (int64_t)copy->inner.columns;
  int64_t wanted = columns >= TASK_ELEMENTS ? 1 : TASK_ELEMENTS / columns;
  wanted = (wanted + TRANSPOSE_BLOCK - 1) / TRANSPOSE_BLOCK * TRANSPOSE_BLOCK;
  copy->rows_per_task = wanted < rows ? wanted : rows;
  copy->row_tasks = (rows + copy->rows_per_task - 1) / copy->rows_per_task;
  copy->tasks *= copy->row_tasks;
}

bool tenon__cpu_copy_plan(uint32_t rank, const int64_t* extents, const int64_t* out_strides,
                          const int64_t* in_strides, size_t element_bytes,
                          tenon__cpu_copy_t* out_copy) {
  axis_t axes[64];
  uint32_t count = 0;
  *out_copy = (tenon__cpu_copy_t){.element_bytes = element_bytes, .tasks = 1};
  for (uint32_t k = 0; k < rank; k++) {
    if (extents[k] == 0) {
      out_copy->tasks = 0;
      return true;
    }
    if (extents[k] != 1) {
      axes[count++] = (axis_t){extents[k], out_strides[k], in_strides[k]};
    }
  }
  sort_axes(axes, count);
  count = join_axes(axes, count);
  tenon__cpu_copy_2d_t* inner = &out_copy->inner;
  *inner = (tenon__cpu_copy_2d_t){
      .element_bytes = element_bytes, .rows = 1, .columns = 1, .out_column = 1, .in_column = 1};
  if (count > 0) {
    inner->columns = (size_t)axes[count - 1].extent;
    inner->out_column = axes[count - 1].out;
    inner->in_column = axes[count - 1].in;
  }
  const uint32_t rows = count > 1 ? choose_rows(axes, count, element_bytes) : 0;
  if (count > 1) {
    inner->rows = (size_t)axes[rows].extent;
    inner->out_row = axes[rows].out;
    inner->in_row = axes[rows].in;
  }
  for (uint32_t k = 0; k + 1 < count; k++) {
    if (k == rows) {
      continue;
    }
    if (out_copy->rank == TENON_CPU_COPY_AXES) {
      return false;
    }
    out_copy->extents[out_copy->rank] = axes[k].extent;
    out_copy->out_strides[out_copy->rank] = axes[k].out;
    out_copy->in_strides[out_copy->rank] = axes[k].in;
    out_copy->rank += 1;
    out_copy->tasks *= axes[k].extent;
  }
  cut_rows(out_copy);
  return true;
}

/* The place of one task: coordinates of the outer loops, and elements from the beginning. */
typedef struct task_t {
  int64_t at[TENON_CPU_COPY_AXES];
  int64_t out;
  int64_t in;
  int64_t row; /* its number among the tasks of one inner block */
} task_t;

static task_t find_task(const tenon__cpu_copy_t* copy, int64_t number) {
  task_t task = {.row = number % copy->row_tasks};
  int64_t rest = number / copy->row_tasks;
  for (uint32_t k = copy->rank; k-- > 0;) {
    task.at[k] = rest % copy->extents[k];
    rest /= copy->extents[k];
    task.out += task.at[k] * copy->out_strides[k];
    task.in += task.at[k] * copy->in_strides[k];
  }
  return task;
}

static void next_task(const tenon__cpu_copy_t* copy, task_t* inout_task) {
  if (++inout_task->row < copy->row_tasks) {
    return;
  }
  inout_task->row = 0;
  for (uint32_t k = copy->rank; k-- > 0;) {
    inout_task->out += copy->out_strides[k];
    inout_task->in += copy->in_strides[k];
    if (++inout_task->at[k] < copy->extents[k]) {
      return;
    }
    inout_task->out -= copy->extents[k] * copy->out_strides[k];
    inout_task->in -= copy->extents[k] * copy->in_strides[k];
    inout_task->at[k] = 0;
  }
}

void tenon__cpu_copy_run(const tenon__cpu_elements_t* elements, const tenon__cpu_copy_t* copy,
                         void* out, const void* in, int64_t begin, int64_t end) {
  const int64_t bytes = (int64_t)copy->element_bytes;
  if (begin >= end) {
    return;
  }
  task_t task = find_task(copy, begin);
  tenon__cpu_copy_2d_t block = copy->inner;
  for (int64_t k = begin; k < end; k++, next_task(copy, &task)) {
    const int64_t row = task.row * copy->rows_per_task;
    const int64_t left = (int64_t)copy->inner.rows - row;
    block.rows = (size_t)(left < copy->rows_per_task ? left : copy->rows_per_task);
    tenon__cpu_copy_2d(elements, &block,
                       (char*)out + (task.out + row * copy->inner.out_row) * bytes,
                       (const char*)in + (task.in + row * copy->inner.in_row) * bytes);
  }
}
