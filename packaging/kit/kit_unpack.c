// SPDX-License-Identifier: MIT
// The archive of a kit: a ustar archive of directories and plain files, packed by xz, with eight
// bytes of its length and the magic after it. Its check sums tell a file that was cut short or
// altered on its way.
#include "kit.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC_BYTES = 8, END_BYTES = 16 };

bool kit_file_open(struct kit_file *file)
{
    struct stat about;
    const char *executed = (const char *)getauxval(AT_EXECFN);
    ssize_t len = readlink("/proc/self/exe", file->path, sizeof file->path - 1);
    file->path[len > 0 ? len : 0] = '\0';
    if (len <= 0 && (!executed || !realpath(executed, file->path)))
        file->path[0] = '\0';
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && executed)
        fd = open(executed, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0)
        kit_fail("its own file cannot be read: %s", strerror(errno));
    file->size = (size_t)about.st_size;
    file->bytes = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (file->bytes == MAP_FAILED)
        kit_fail("its own file cannot be read: %s", strerror(errno));
    const unsigned char *end = file->bytes + file->size - END_BYTES;
    if (file->size < END_BYTES || memcmp(end + 8, KIT_MAGIC, MAGIC_BYTES) != 0)
        return false;
    uint64_t packed = 0;
    memcpy(&packed, end, sizeof packed); // little-endian
    if (packed > file->size - END_BYTES)
        return false;
    file->program = file->size - END_BYTES - (size_t)packed;
    return true;
}

int kit_write(int directory, const char *name, unsigned mode, const void *bytes, size_t len)
{
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    const char *at = bytes;
    int error = fd < 0 ? errno : 0;
    while (!error && len > 0) {
        ssize_t put = write(fd, at, len);
        if (put < 0 && errno == EINTR)
            continue;
        error = put < 0 ? errno : 0;
        at += put > 0 ? put : 0;
        len -= put > 0 ? (size_t)put : 0;
    }
    if (!error && fchmod(fd, mode) != 0)
        error = errno;
    if (fd >= 0 && close(fd) != 0 && !error)
        error = errno;
    return error;
}

// The archive as it is unpacked.
struct unpacked {
    unsigned char *bytes;
    size_t size;
};

static bool unpack_all(const unsigned char *packed, size_t len, struct unpacked *unpacked)
{
    uint64_t limit = UINT64_MAX;
    size_t room = 8 * len + (1 << 20);
    for (;; room *= 2) {
        size_t in = 0, out = 0;
        unpacked->bytes = malloc(room);
        if (!unpacked->bytes)
            kit_fail("there is no memory to unpack it");
        lzma_ret got = lzma_stream_buffer_decode(&limit, 0, NULL, packed, &in, len, unpacked->bytes,
                                                 &out, room);
        unpacked->size = out;
        if (got == LZMA_OK)
            return true;
        free(unpacked->bytes);
        unpacked->bytes = NULL;
        if (got != LZMA_BUF_ERROR || room > ((size_t)1 << 30))
            return false;
    }
}

// Header of a file in a ustar archive.
struct tar_header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100];
    char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
enum { TAR_BLOCK = 512 };
_Static_assert(sizeof(struct tar_header) == TAR_BLOCK, "a block");

static size_t tar_number(const char *text, size_t len)
{
    size_t value = 0;
    for (size_t i = 0; i < len && text[i] >= '0' && text[i] <= '7'; i++)
        value = 8 * value + (size_t)(text[i] - '0');
    return value;
}

static int tar_put(int directory, const struct tar_header *header, const unsigned char *bytes,
                   size_t size)
{
    char name[sizeof header->prefix + sizeof header->name + 2];
    bool split = header->prefix[0];
    snprintf(name, sizeof name, "%.*s%s%.*s", (int)sizeof header->prefix, header->prefix,
             split ? "/" : "", (int)sizeof header->name, header->name);
    if (header->type == '5')
        return mkdirat(directory, name, 0700) != 0 && errno != EEXIST ? errno : 0;
    if (header->type != '0')
        return EBADMSG;
    unsigned mode = tar_number(header->mode, sizeof header->mode) & 0100 ? 0700 : 0600;
    return kit_write(directory, name, mode, bytes, size);
}

int kit_unpack(const struct kit_file *file, int directory)
{
    struct unpacked tar;
    if (!unpack_all(file->bytes + file->program, file->size - file->program - END_BYTES, &tar))
        return EBADMSG;
    int error = 0;
    for (size_t at = 0; at + TAR_BLOCK <= tar.size && tar.bytes[at] && !error;) {
        const struct tar_header *header = (const void *)(tar.bytes + at);
        size_t size = tar_number(header->size, sizeof header->size);
        at += TAR_BLOCK;
        if (size > tar.size - at)
            error = EBADMSG;
        else
            error = tar_put(directory, header, tar.bytes + at, size);
        at += (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
    }
    free(tar.bytes);
    return error;
}
