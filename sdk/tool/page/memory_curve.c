/* See memory_curve.h. */
#include "page/memory_curve.h"

#include <stdlib.h>

#include "page/format.h"
#include "page/html.h"
#include "text/memory.h"

enum { WIDTH = 1180, HEIGHT = 150, LEFT = 70, BOTTOM = 22, TOP = 18, HOLDERS_MOST = 8 };

typedef struct curve_t {
  const tool_facts_t* facts;
  uint32_t step_count; /* of the main graph */
  uint32_t block_count;
  tenon_block_info_t* blocks;
  double* alive; /* bytes, per step */
  uint32_t peak_step;
} curve_t;

static tenon_status_t collect(curve_t* curve) {
  for (uint32_t b = 0; b < curve->block_count; ++b) {
    tenon_block_info_t* block = &curve->blocks[b];
    block->size = sizeof(*block);
    const tenon_status_t status = tenon_engine_get_block(curve->facts->engine, b, block);
    if (status != TENON_OK) {
      return status;
    }
    for (uint32_t s = block->first_step; s <= block->last_step && s < curve->step_count; ++s) {
      curve->alive[s] += (double)block->size_bytes;
    }
  }
  for (uint32_t s = 0; s < curve->step_count; ++s) {
    curve->peak_step = curve->alive[s] > curve->alive[curve->peak_step] ? s : curve->peak_step;
  }
  return TENON_OK;
}

static double x_of(const curve_t* curve, uint32_t step) {
  return LEFT + (double)step * (WIDTH - LEFT - 10) / curve->step_count;
}

static double y_of(const curve_t* curve, double bytes) {
  const double most = curve->alive[curve->peak_step];
  return TOP + (HEIGHT - TOP - BOTTOM) * (1 - (most > 0 ? bytes / most : 0));
}

static void write_curve(FILE* file, const curve_t* curve) {
  char text[32];
  (void)fprintf(file, "<svg class=\"curve\" viewBox=\"0 0 %d %d\" width=\"100%%\"><path d=\"M%d %d",
                WIDTH, HEIGHT, LEFT, HEIGHT - BOTTOM);
  for (uint32_t s = 0; s < curve->step_count; ++s) {
    (void)fprintf(file, "V%.1fH%.1f", y_of(curve, curve->alive[s]), x_of(curve, s + 1));
  }
  (void)fprintf(file, "V%dZ\"/>", HEIGHT - BOTTOM);
  for (int part = 0; part <= 2; ++part) {
    const double bytes = curve->alive[curve->peak_step] * part / 2;
    tool_format_bytes(bytes, text);
    (void)fprintf(file,
                  "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text class=\"end\" "
                  "x=\"%d\" y=\"%.1f\">%s</text>",
                  LEFT, WIDTH - 10, y_of(curve, bytes), y_of(curve, bytes), LEFT - 6,
                  y_of(curve, bytes) + 4, text);
  }
  (void)fprintf(file,
                "<text class=\"begin\" x=\"%d\" y=\"%d\">step 0</text><text class=\"end\" "
                "x=\"%d\" y=\"%d\">step %u</text></svg>\n",
                LEFT, HEIGHT - 6, WIDTH - 10, HEIGHT - 6, curve->step_count - 1);
}

static int compare_blocks(const void* a, const void* b) {
  const tenon_block_info_t* x = a;
  const tenon_block_info_t* y = b;
  return (x->size_bytes < y->size_bytes) - (x->size_bytes > y->size_bytes);
}

static void write_holders(FILE* file, const curve_t* curve) {
  uint32_t named = 0;
  uint32_t others = 0;
  double rest = 0;
  char text[32];
  tool_format_bytes(curve->alive[curve->peak_step], text);
  (void)fprintf(file, "<p>Most are alive, %s, at <a href=\"#step%u\">step %u</a>: ", text,
                curve->peak_step, curve->peak_step);
  for (uint32_t b = 0; b < curve->block_count; ++b) {
    const tenon_block_info_t* block = &curve->blocks[b];
    if (block->first_step > curve->peak_step || block->last_step < curve->peak_step) {
      continue;
    }
    if (named == HOLDERS_MOST) {
      ++others;
      rest += (double)block->size_bytes;
      continue;
    }
    tool_format_bytes((double)block->size_bytes, text);
    (void)fputs(named++ > 0 ? ", <b>" : "<b>", file);
    tool_html_tail(file, block->name, 40);
    (void)fprintf(file, "</b> %s", text);
  }
  if (others > 0) {
    tool_format_bytes(rest, text);
    (void)fprintf(file, ", and %u others %s", others, text);
  }
  (void)fputs(".</p>\n", file);
}

tenon_status_t tool_memory_curve_write(FILE* file, const tool_facts_t* facts) {
  curve_t curve = {.facts = facts, .block_count = tenon_engine_block_count(facts->engine)};
  while (curve.step_count < facts->count && facts->steps[curve.step_count].info.depth == 0) {
    ++curve.step_count;
  }
  curve.blocks = tool_allocate(curve.block_count + (size_t)1, sizeof(*curve.blocks));
  curve.alive = tool_allocate(curve.step_count + (size_t)1, sizeof(*curve.alive));
  const tenon_status_t status = collect(&curve);
  if (status == TENON_OK && curve.alive[curve.peak_step] > 0) {
    (void)fputs(
        "<h2>Memory</h2>\n<p class=\"quiet\">Activations alive at each step, at the "
        "profile's maximum; weights and workspace are not among them.</p>\n",
        file);
    write_curve(file, &curve);
    if (curve.block_count > 1) {
      qsort(curve.blocks, curve.block_count, sizeof(*curve.blocks), compare_blocks);
    }
    write_holders(file, &curve);
  }
  tool_free(curve.blocks);
  tool_free(curve.alive);
  return status;
}
