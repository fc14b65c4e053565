/* See table.h. */
#include "text/table.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "text/escape.h"
#include "text/memory.h"
#include "text/utf8.h"

enum { GAP = 2, LAST_LEAST = 24, BELOW_INDENT = 8, COLUMNS_MAX = 16, USUAL_WIDTH = 80 };
static const char ellipsis[] = "...";

size_t tool_terminal_width(void) {
  struct winsize size;
  if (isatty(STDOUT_FILENO) == 0) {
    return 0;
  }
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  const char* columns = getenv("COLUMNS");
  const long wide = columns != NULL ? strtol(columns, NULL, 10) : 0;
  return wide > 0 && wide < INT16_MAX ? (size_t)wide : USUAL_WIDTH;
}

/* ---- Characters ---- */

static size_t count_characters(const char* text) {
  size_t count = 0;
  for (const char* at = text; *at != '\0'; ++at) {
    count += ((unsigned char)*at & 0xC0) != 0x80 ? 1 : 0;
  }
  return count;
}

/* Where character `index` begins. */
static const char* skip_characters(const char* text, size_t index) {
  for (; *text != '\0' && index > 0; --index) {
    do {
      ++text;
    } while (((unsigned char)*text & 0xC0) == 0x80);
  }
  return text;
}

static void print_blanks(FILE* file, size_t count) {
  (void)fprintf(file, "%*s", (int)count, "");
}

/* ---- Cells ---- */

void tool_table_begin(tool_table_t* table, const tool_column_t* columns, size_t column_count) {
  *table = (tool_table_t){.columns = columns, .column_count = column_count};
}

void tool_table_add(tool_table_t* table, const char* text) {
  table->cells = tool_grow((void*)table->cells, &table->cell_capacity, table->cell_count + 1,
                           sizeof(*table->cells));
  table->cells[table->cell_count++] = tool_escape(text, false);
}

void tool_table_free(tool_table_t* table) {
  for (size_t i = 0; i < table->cell_count; ++i) {
    tool_free(table->cells[i]);
  }
  tool_free((void*)table->cells);
  *table = (tool_table_t){0};
}

/* ---- Widths ---- */

typedef struct widths_t {
  size_t of[COLUMNS_MAX];
  size_t last_begin;  /* column of the terminal where the last one begins */
  size_t last_room;   /* 0: as wide as it is */
  bool last_is_below; /* it has lines of its own */
} widths_t;

static size_t total_before_last(const tool_table_t* table, const widths_t* widths) {
  size_t total = 0;
  for (size_t c = 0; c + 1 < table->column_count; ++c) {
    total += widths->of[c] + GAP;
  }
  return total;
}

/* Takes characters from the widest column that has some to give. */
static void shrink(const tool_table_t* table, widths_t* widths, size_t most) {
  while (total_before_last(table, widths) > most) {
    size_t widest = table->column_count;
    for (size_t c = 0; c + 1 < table->column_count; ++c) {
      const tool_column_t* column = &table->columns[c];
      const bool gives = !column->is_number && widths->of[c] > column->least;
      if (gives && (widest == table->column_count || widths->of[c] > widths->of[widest])) {
        widest = c;
      }
    }
    if (widest == table->column_count) {
      return;
    }
    --widths->of[widest];
  }
}

static widths_t find_widths(const tool_table_t* table, size_t width) {
  widths_t widths = {.last_room = 0};
  assert(table->column_count > 0 && table->column_count <= COLUMNS_MAX);
  const size_t last = table->column_count - 1;
  for (size_t c = 0; c < table->column_count; ++c) {
    widths.of[c] = count_characters(table->columns[c].title);
  }
  for (size_t i = 0, c = 0; i < table->cell_count; ++i, c = c == last ? 0 : c + 1) {
    const size_t own = count_characters(table->cells[i]);
    widths.of[c] = own > widths.of[c] ? own : widths.of[c];
  }
  if (width > 0 && total_before_last(table, &widths) + widths.of[last] > width) {
    const widths_t natural = widths;
    const size_t wanted = widths.of[last] < LAST_LEAST ? widths.of[last] : LAST_LEAST;
    shrink(table, &widths, width > wanted ? width - wanted : 0);
    if (total_before_last(table, &widths) + wanted > width) {
      widths = natural;
      widths.last_is_below = true;
      shrink(table, &widths, width + GAP);
    }
  }
  widths.last_begin = widths.last_is_below ? BELOW_INDENT : total_before_last(table, &widths);
  if (width > 0) {
    widths.last_room =
        width > widths.last_begin + LAST_LEAST ? width - widths.last_begin : LAST_LEAST;
  }
  return widths;
}

/* ---- Printing ---- */

static void print_cell(FILE* file, const tool_column_t* column, const char* text, size_t width) {
  const size_t count = count_characters(text);
  if (count > width) {
    const size_t kept = width > sizeof(ellipsis) - 1 ? width - (sizeof(ellipsis) - 1) : width;
    (void)fprintf(file, "%s%s", kept < width ? ellipsis : "", skip_characters(text, count - kept));
    return;
  }
  if (column->is_number) {
    print_blanks(file, width - count);
  }
  (void)fputs(text, file);
  if (!column->is_number) {
    print_blanks(file, width - count);
  }
}

/* Where a line of at most `room` characters ends: after a blank where there is one. */
static const char* line_end(const char* text, size_t room) {
  const char* end = skip_characters(text, room);
  if (*end == '\0') {
    return end;
  }
  for (const char* at = end; at > text; --at) {
    if (at[-1] == ' ') {
      return at;
    }
  }
  return end;
}

static void print_wrapped(FILE* file, const char* text, const widths_t* widths) {
  while (widths->last_room > 0 && count_characters(text) > widths->last_room) {
    const char* end = line_end(text, widths->last_room);
    const char* visible = end;
    while (visible > text && visible[-1] == ' ') {
      --visible;
    }
    (void)fprintf(file, "%.*s\n", (int)(visible - text), text);
    print_blanks(file, widths->last_begin);
    text = end;
  }
  (void)fprintf(file, "%s\n", text);
}

static void trim_end(char* line) {
  size_t length = strlen(line);
  while (length > 0 && line[length - 1] == ' ') {
    line[--length] = '\0';
  }
}

static const char* cell_text(const tool_table_t* table, char* const* cells, size_t column) {
  return cells != NULL ? cells[column] : table->columns[column].title;
}

/* `cells` of one row; NULL: the titles. */
static void print_row(const tool_table_t* table, FILE* file, const widths_t* widths,
                      char* const* cells) {
  const size_t last = table->column_count - 1;
  const char* text = cell_text(table, cells, last);
  char* line = NULL;
  size_t size = 0;
  FILE* memory = open_memstream(&line, &size);
  if (memory == NULL) {
    return;
  }
  for (size_t c = 0; c < last; ++c) {
    print_cell(memory, &table->columns[c], cell_text(table, cells, c), widths->of[c]);
    print_blanks(memory, GAP);
  }
  (void)fclose(memory);
  if (widths->last_is_below || text[0] == '\0') {
    trim_end(line);
    (void)fprintf(file, "%s\n", line);
    print_blanks(file, text[0] != '\0' ? BELOW_INDENT : 0);
  } else {
    (void)fputs(line, file);
  }
  if (text[0] != '\0') {
    print_wrapped(file, text, widths);
  }
  free(line);
}

void tool_table_print(const tool_table_t* table, FILE* file, size_t width,
                      void (*after)(void* user, size_t row), void* user) {
  const widths_t widths = find_widths(table, width);
  print_row(table, file, &widths, NULL);
  for (size_t i = 0; i + table->column_count <= table->cell_count; i += table->column_count) {
    print_row(table, file, &widths, &table->cells[i]);
    if (after != NULL) {
      after(user, i / table->column_count);
    }
  }
}
