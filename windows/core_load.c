// SPDX-License-Identifier: MIT
// Puts the kernels of a program at their addresses: the program is one that latput builds for Linux
// (runner/assemble/load.h), whose machine code is taken as it is. Of its segments, the table, the
// data of a snippet and the code are taken; the core in it is not. Heap and stacks of a process lie
// at low addresses, too, so the image of this program covers those of kernels.
#include "core/core_internal.h"
#include "core_windows.h"

#include <string.h>

#include <windows.h>

// Mirrors of runner/assemble/load.h; the linker is told the same (Makefile).
enum { TABLE_AT = 0x00800000, USER_AT = 0x01400000, CODE_AT = 0x02000000 };
// All batches are smaller by far; memory that is not touched is only counted as promised.
enum { IMAGE_AT = 0x00400000, CODE_BYTES = 64 << 20, CODE_END = CODE_AT + CODE_BYTES };
static unsigned char room[CODE_END - IMAGE_AT];

// Mirrors of elf.h.
struct load_head {
    unsigned char ident[16];
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, segments_at, sections_at;
    uint32_t flags;
    uint16_t head_bytes, segment_bytes, segments;
};
struct load_segment {
    uint32_t type, flags;
    uint64_t offset, at, physical, in_file, in_memory, align;
};
enum { SEGMENT_LOAD = 1, SEGMENT_EXECUTE = 1, CLASS_AT = 4, CLASS_64 = 2, SEGMENTS_MAX = 64 };

static void load_read(HANDLE file, uint64_t offset, void *to, uint64_t bytes)
{
    LARGE_INTEGER at = {.QuadPart = (LONGLONG)offset};
    DWORD got = 0;
    if (bytes > INT32_MAX || !SetFilePointerEx(file, at, NULL, FILE_BEGIN) ||
        !ReadFile(file, to, (DWORD)bytes, &got, NULL) || got != bytes)
        send_fatal("the program is incomplete");
}

static void load_segment(HANDLE file, const struct load_segment *segment)
{
    uint64_t end = segment->at == CODE_AT ? CODE_END : segment->at == USER_AT ? CODE_AT : USER_AT;
    DWORD before, wanted = segment->flags & SEGMENT_EXECUTE ? PAGE_EXECUTE_READ : PAGE_READONLY;
    void *at = room + (segment->at - (uintptr_t)room);
    if (segment->in_file > end - segment->at)
        send_fatal("more code than the core for Windows has room for; measure fewer kernels at a "
                   "time");
    load_read(file, segment->offset, at, segment->in_file);
    if (segment->at != USER_AT && !VirtualProtect(at, segment->in_file, wanted, &before))
        send_fatal("cannot make kernels read-only: error %lu", GetLastError());
}

void load_program(void *file)
{
    static struct load_segment segments[SEGMENTS_MAX];
    struct load_head head;
    load_read(file, 0, &head, sizeof head);
    if ((uintptr_t)room > TABLE_AT || (uintptr_t)room + sizeof room < CODE_END)
        send_fatal("the core for Windows is linked wrongly: it has no room for kernels");
    if (memcmp(head.ident, "\177ELF", 4) != 0 || head.ident[CLASS_AT] != CLASS_64)
        send_fatal("rows of 32-bit mode are not for Windows");
    if (head.segment_bytes != sizeof *segments || head.segments > SEGMENTS_MAX)
        send_fatal("the program is none of latput");
    load_read(file, head.segments_at, segments, head.segments * sizeof *segments);
    bool table = false;
    for (int i = 0; i < head.segments; i++) {
        uint64_t at = segments[i].at;
        if (segments[i].type != SEGMENT_LOAD || segments[i].in_file == 0 ||
            (at != TABLE_AT && at != USER_AT && at != CODE_AT))
            continue;
        load_segment(file, &segments[i]);
        table |= at == TABLE_AT;
    }
    CloseHandle(file);
    if (!table)
        send_fatal("the program has no kernels: one that a linker made is not for Windows");
}
