// SPDX-License-Identifier: MIT
// Messages of latput-windows.
#include "far.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

const int far_ignored[] = {SIGINT, SIGQUIT, SIGHUP, SIGPIPE, 0};

bool far_read(int from, void *to, size_t bytes)
{
    for (size_t have = 0; have < bytes;) {
        ssize_t got = read(from, (char *)to + have, bytes - have);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        have += got > 0 ? (size_t)got : 0;
    }
    return true;
}

bool far_write(int to, const void *from, size_t bytes)
{
    for (size_t have = 0; have < bytes;) {
        ssize_t put = write(to, (const char *)from + have, bytes - have);
        if (put < 0 && errno != EINTR)
            return false;
        have += put > 0 ? (size_t)put : 0;
    }
    return true;
}

bool far_receive(int from, struct channel_head *head, void **payload)
{
    *payload = NULL;
    if (!far_read(from, head, sizeof *head) || head->magic != CHANNEL_MAGIC ||
        head->bytes > CHANNEL_OTHER_MAX)
        return false;
    char *text = malloc(head->bytes + (size_t)1);
    if (text && far_read(from, text, head->bytes)) {
        text[head->bytes] = '\0';
        *payload = text;
        return true;
    }
    free(text);
    return false;
}

bool far_send(int to, enum channel_type type, const void *payload, size_t bytes)
{
    const struct channel_head head = {CHANNEL_MAGIC, type, (uint32_t)bytes};
    return far_write(to, &head, sizeof head) && far_write(to, payload, bytes);
}

void *far_read_file(const char *path, size_t *bytes)
{
    struct stat found;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    void *all = NULL;
    if (file >= 0 && fstat(file, &found) == 0 && found.st_size <= CHANNEL_PROGRAM_MAX &&
        (all = malloc((size_t)found.st_size + 1)) &&
        !far_read(file, all, *bytes = (size_t)found.st_size)) {
        free(all);
        all = NULL;
    }
    if (file >= 0)
        close(file);
    return all;
}

void far_socket_name(const char *directory, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof address->sun_path, "%.90s/" FAR_SOCKET, directory);
}
