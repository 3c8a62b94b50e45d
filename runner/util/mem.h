// SPDX-License-Identifier: MIT
// Memory: x* allocators that end the program with a message when memory runs out (no caller could
// do better), and an arena for everything that lives as long as one batch. What an arena hands out
// is owned by the arena and freed by arena_free(); never free it singly.
#ifndef LATPUT_MEM_H
#define LATPUT_MEM_H

#include <stdarg.h>
#include <stddef.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

void *xmalloc(size_t bytes);
void *xcalloc(size_t count, size_t bytes);
void *xrealloc(void *old, size_t bytes);
char *xstrdup(const char *text);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Grows the array *items (of *capacity items of item_bytes each) so that it has room for `needed`.
void *xgrow(void *items, size_t *capacity, size_t needed, size_t item_bytes);

struct arena_block;
struct arena {
    struct arena_block *head; // zero-initialise a struct arena before first use
};
void *arena_alloc(struct arena *arena, size_t bytes); // zeroed, aligned for any type
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t len);
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *arena); // frees everything; the arena can be used again

#endif
