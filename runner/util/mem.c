// SPDX-License-Identifier: MIT
#include "mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ARENA_BLOCK_BYTES = 64 * 1024 }; // a typical batch needs some tens of these

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    max_align_t data[];
};

static _Thread_local jmp_buf *mem_place; // setjmp() buffer of mem_escape(); NULL: the program ends

void mem_escape(jmp_buf *place)
{
    mem_place = place;
}

// The C library reports ENOMEM whatever the system has answered, so this asks again: a filter of
// system calls or a security module refuses with an error of its own.
void mem_explain(char *text, size_t size)
{
    void *page = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int refusal = page == MAP_FAILED ? errno : 0;
    if (page != MAP_FAILED)
        munmap(page, 1);
    if (refusal == 0 || refusal == ENOMEM ||
        refusal == EAGAIN) // EAGAIN: the limit of locked memory
        snprintf(text, size, "out of memory");
    else
        snprintf(text, size,
                 "no memory: system calls are denied to this process (mmap: %s), by a seccomp "
                 "filter or a security module; allow mmap and brk, or have them done before",
                 strerror(refusal));
}

static void *mem_check(void *memory)
{
    if (memory)
        return memory;
    if (mem_place)
        longjmp(*mem_place, 1);
    char text[256];
    mem_explain(text, sizeof text);
    fprintf(stderr, "latput: %s\n", text);
    exit(3);
}

void *xmalloc(size_t bytes)
{
    return mem_check(malloc(bytes ? bytes : 1));
}

void *xcalloc(size_t count, size_t bytes)
{
    return mem_check(calloc(count ? count : 1, bytes ? bytes : 1));
}

void *xrealloc(void *old, size_t bytes)
{
    return mem_check(realloc(old, bytes ? bytes : 1));
}

char *xstrdup(const char *text)
{
    return mem_check(strdup(text));
}

__attribute__((format(printf, 1, 0))) static char *mem_vprintf(const char *format, va_list ap,
                                                               va_list ap2)
{
    int len = vsnprintf(NULL, 0, format, ap);
    char *text = xmalloc((size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, format, ap2);
    return text;
}

char *xasprintf(const char *format, ...)
{
    va_list ap, ap2;
    va_start(ap, format);
    va_copy(ap2, ap);
    char *text = mem_vprintf(format, ap, ap2);
    va_end(ap2);
    va_end(ap);
    return text;
}

void *xgrow(void *items, size_t *capacity, size_t needed, size_t item_bytes)
{
    if (needed <= *capacity)
        return items;
    size_t grown = *capacity ? *capacity * 2 : 16;
    if (grown < needed)
        grown = needed;
    *capacity = grown;
    return xrealloc(items, grown * item_bytes);
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    const size_t align = sizeof(max_align_t);
    bytes = (bytes + align - 1) / align * align;
    struct arena_block *block = arena->head;
    if (!block || block->size - block->used < bytes) {
        size_t size = bytes > ARENA_BLOCK_BYTES ? bytes : ARENA_BLOCK_BYTES;
        block = xmalloc(sizeof *block + size);
        block->next = arena->head;
        block->used = 0;
        block->size = size;
        arena->head = block;
    }
    void *memory = (char *)block->data + block->used;
    block->used += bytes;
    return memset(memory, 0, bytes);
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
    char *copy = arena_alloc(arena, len + 1);
    memcpy(copy, text, len);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list ap, ap2;
    va_start(ap, format);
    va_copy(ap2, ap);
    int len = vsnprintf(NULL, 0, format, ap);
    char *text = arena_alloc(arena, (size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, format, ap2);
    va_end(ap2);
    va_end(ap);
    return text;
}

void arena_join(struct arena *to, struct arena *from)
{
    struct arena_block **end = &from->head;
    while (*end)
        end = &(*end)->next;
    *end = to->head;
    to->head = from->head;
    from->head = NULL;
}

void arena_free(struct arena *arena)
{
    while (arena->head) {
        struct arena_block *next = arena->head->next;
        free(arena->head);
        arena->head = next;
    }
}
