// SPDX-License-Identifier: MIT
#include "file_write.h"

#include "scratch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int file_fill(const char *path, const char *bytes, size_t len, bool sync)
{
    FILE *file = fopen(path, "we");
    if (!file)
        return -1;
    bool bad = fwrite(bytes, 1, len, file) != len;
    bad |= fflush(file) != 0 || ferror(file);
    bad |= sync && fsync(fileno(file)) != 0;
    int error = errno;
    bad |= fclose(file) != 0;
    if (bad && error)
        errno = error;
    return bad ? -1 : 0;
}

bool file_is_replaceable(const char *path)
{
    struct stat about;
    return lstat(path, &about) != 0 || S_ISREG(about.st_mode);
}

int file_write_scratch(const char *path, const char *text, struct err *err)
{
    return file_fill(path, text, strlen(text), false) == 0
               ? 0
               : err_set(err, "%s: cannot be written: %s", path, strerror(errno));
}

int file_write(const char *path, const char *bytes, size_t len, struct err *err)
{
    if (!file_is_replaceable(path))
        return file_fill(path, bytes, len, false) == 0
                   ? 0
                   : err_set(err, "%s: cannot be written: %s", path, strerror(errno));
    const char *temporary = scratch_file_begin(path);
    int bad = file_fill(temporary, bytes, len, true), error = errno;
    if (scratch_file_end(temporary, bad ? NULL : path) != 0 || bad)
        return err_set(err, "%s: cannot be written: %s", path, strerror(bad ? error : errno));
    return 0;
}
