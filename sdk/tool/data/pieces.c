/* A growing list of pieces, borrowed or owned. */
#include "data/pieces.h"

#include "text/memory.h"

static void add(tool_pieces_t* pieces, tool_piece_t piece) {
  pieces->items =
      tool_grow(pieces->items, &pieces->capacity, pieces->count + 1, sizeof(*pieces->items));
  pieces->items[pieces->count++] = piece;
  pieces->size += piece.size;
}

void tool_pieces_adopt(tool_pieces_t* pieces, void* data, size_t size) {
  add(pieces, (tool_piece_t){.data = data, .size = size, .owned = data});
}

void tool_pieces_borrow(tool_pieces_t* pieces, const void* data, size_t size) {
  add(pieces, (tool_piece_t){.data = data, .size = size});
}

void tool_pieces_append(tool_pieces_t* pieces, tool_pieces_t* more) {
  for (size_t i = 0; i < more->count; ++i) {
    add(pieces, more->items[i]);
  }
  tool_free(more->items);
  *more = (tool_pieces_t){0};
}

void tool_pieces_free(tool_pieces_t* pieces) {
  for (size_t i = 0; i < pieces->count; ++i) {
    tool_free(pieces->items[i].owned);
  }
  tool_free(pieces->items);
  *pieces = (tool_pieces_t){0};
}
