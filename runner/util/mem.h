// SPDX-License-Identifier: MIT
// Memory: x* allocators that end the program with a message when memory runs out (no caller could
// do better; mem_escape() is the exception), and an arena for everything that lives as long as one
// batch. The arena owns its allocations; arena_free() frees them all, never one singly.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

void *xmalloc(size_t bytes);
void *xcalloc(size_t count, size_t bytes);
void *xrealloc(void *old, size_t bytes);
char *xstrdup(const char *text);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Has the calling thread continue at *place (of setjmp) when memory runs out, or end the program
// again with NULL. It is for a library, which must not end the program that it is part of. Memory
// and descriptors taken on the way are lost, so a function whose few allocations can fail by
// themselves should not use it.
void mem_escape(jmp_buf *place);
// Writes into text[size] why there is no memory: it is used up, or the system refuses the calls
// that ask for it.
void mem_explain(char *text, size_t size);

// Grows the array *items (of *capacity items of item_bytes each) to room for `needed` items.
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
// Gives all that `from` owns to `to`; `from` is empty then.
void arena_join(struct arena *to, struct arena *from);
void arena_free(struct arena *arena); // frees everything; the arena can be used again
