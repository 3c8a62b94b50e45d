// SPDX-License-Identifier: MIT
// Memory: x* allocators that end the program with a message when memory runs out (no caller could
// do better, but see mem_escape), and an arena for everything that lives as long as one batch. What
// an arena hands out is owned by the arena and freed by arena_free(); never free it singly.
#ifndef LATPUT_MEM_H
#define LATPUT_MEM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

void *xmalloc(size_t bytes);
void *xcalloc(size_t count, size_t bytes);
void *xrealloc(void *old, size_t bytes);
char *xstrdup(const char *text);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

// For a library, which must not end the program that it is part of: where memory runs out, the
// calling thread goes on at *place (of setjmp) from now on; NULL: the program ends again. What was
// allocated and opened on the way stays so and is lost, so a function whose few allocations can
// fail by themselves has no need of it.
void mem_escape(jmp_buf *place);
// Why there is no memory, into text[size]: it is used up, or the system refuses the calls that ask
// for it.
void mem_explain(char *text, size_t size);

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
