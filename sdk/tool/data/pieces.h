/* Bytes that lie in several places: a file is written from them without being put together first.
 */
#ifndef TOOL_DATA_PIECES_H_
#define TOOL_DATA_PIECES_H_

#include <stdbool.h>
#include <stddef.h>

/* A run of the file's bytes. */
typedef struct tool_piece_t {
  const void* data;
  size_t size;
  void* owned; /* freed with the pieces; NULL: lent */
} tool_piece_t;

/* Empty when zero-filled. */
typedef struct tool_pieces_t {
  tool_piece_t* items;
  size_t count;
  size_t capacity;
  size_t size; /* of all */
} tool_pieces_t;

/* `data` comes from tool_allocate, and is the pieces' now. */
void tool_pieces_adopt(tool_pieces_t* pieces, void* data, size_t size);
/* The bytes are the caller's, who keeps them until the pieces are freed. */
void tool_pieces_borrow(tool_pieces_t* pieces, const void* data, size_t size);
/* All of `more`, in order; `more` is empty then and need not be freed. */
void tool_pieces_append(tool_pieces_t* pieces, tool_pieces_t* more);
void tool_pieces_free(tool_pieces_t* pieces);

#endif
