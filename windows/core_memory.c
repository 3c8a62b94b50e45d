// SPDX-License-Identifier: MIT
// Memory by the names of Linux. Windows hands out addresses in blocks of 64 KiB. Memory at a wanted
// address is reserved block by block, so that neighbours may share one; other memory is of one
// reservation.
#include "core/core_internal.h"

#include <sys/mman.h>
#include <unistd.h>

#include <windows.h>

enum { BLOCK_BYTES = 64 << 10 };

static DWORD memory_protection(int protection)
{
    if (protection & PROT_EXEC)
        return protection & PROT_WRITE ? PAGE_EXECUTE_READWRITE : PAGE_EXECUTE_READ;
    if (protection & PROT_WRITE)
        return PAGE_READWRITE;
    return protection & PROT_READ ? PAGE_READONLY : PAGE_NOACCESS;
}

// Returns true if nothing but memory_reserve() has the block.
static bool memory_is_reserved_block(uintptr_t block)
{
    MEMORY_BASIC_INFORMATION here, next;
    if (!VirtualQuery((void *)block, &here, sizeof here) ||
        !VirtualQuery((void *)(block + BLOCK_BYTES), &next, sizeof next))
        return false;
    return (uintptr_t)here.AllocationBase == block && here.AllocationBase != next.AllocationBase &&
           here.Type == MEM_PRIVATE;
}

static bool memory_reserve(uintptr_t from, uintptr_t to)
{
    for (uintptr_t at = from & ~(uintptr_t)(BLOCK_BYTES - 1); at < to; at += BLOCK_BYTES)
        if (!VirtualAlloc((void *)at, BLOCK_BYTES, MEM_RESERVE, PAGE_NOACCESS) &&
            !memory_is_reserved_block(at))
            return false;
    return true;
}

int mprotect(void *start, size_t bytes, int protection)
{
    uintptr_t at = (uintptr_t)start, end = at + bytes;
    DWORD wanted = memory_protection(protection), before;
    while (at < end) {
        uintptr_t next = (at & ~(uintptr_t)(BLOCK_BYTES - 1)) + BLOCK_BYTES;
        size_t part = (next < end ? next : end) - at;
        if (!VirtualAlloc((void *)at, part, MEM_COMMIT, wanted) ||
            !VirtualProtect((void *)at, part, wanted, &before))
            return -1;
        at = next;
    }
    return 0;
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    (void)offset;
    if (fd >= 0)
        return MAP_FAILED;
    if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
        uintptr_t from = (uintptr_t)at;
        if (!memory_reserve(from, from + bytes))
            return MAP_FAILED;
        return protection == PROT_NONE || mprotect(at, bytes, protection) == 0 ? at : MAP_FAILED;
    }
    void *map = VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, memory_protection(protection));
    return map ? map : MAP_FAILED;
}

int munmap(void *at, size_t bytes)
{
    return VirtualFree(at, bytes, MEM_DECOMMIT) ? 0 : -1;
}

int madvise(void *at, size_t bytes, int advice)
{
    (void)at, (void)bytes, (void)advice;
    return -1;
}

int memfd_create(const char *name, unsigned flags)
{
    (void)name, (void)flags;
    return -1;
}

int ftruncate(int fd, off_t bytes)
{
    (void)fd, (void)bytes;
    return -1;
}
