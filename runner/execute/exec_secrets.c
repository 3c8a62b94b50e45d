// SPDX-License-Identifier: MIT
// The secrets of a core process; see exec_internal.h.
#include "exec_internal.h"

#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

enum { SECRETS_AT_ONCE = 64 };

// Gets random numbers from the system, which has some once the machine has started.
static void secrets_random(void *bytes, size_t n)
{
    for (size_t have = 0; have < n;) {
        ssize_t got = getrandom((char *)bytes + have, n - have, 0);
        have += got > 0 ? (size_t)got : 0;
    }
}

// Puts a secret after another one; `made` has random numbers for `after` and `token`.
static void secret_follow(struct core_secret *made, const struct core_secret *last)
{
    memcpy(made->before, last->after, sizeof made->before);
    memcpy(made->tags, last->tags, sizeof made->tags);
    made->number = last->number + 1;
    made->reserved = 0;
}

void exec_secrets_begin(struct exec_secrets *secrets, struct core_secret *first)
{
    secrets_random(first, sizeof *first);
    first->number = first->reserved = 0;
    *secrets = (struct exec_secrets){.fd = -1, .last = *first};
    secrets->tokens[0] = first->token;
}

void exec_secrets_feed(struct exec_secrets *secrets)
{
    struct core_secret made[SECRETS_AT_ONCE];
    while (secrets->fd >= 0 &&
           secrets->last.number + SECRETS_AT_ONCE < secrets->heard + EXEC_SECRETS_AHEAD) {
        secrets_random(made, sizeof made);
        for (int i = 0; i < SECRETS_AT_ONCE; i++)
            secret_follow(&made[i], i ? &made[i - 1] : &secrets->last);
        // The core reads whole ones, so all are there or none: where there is no room now, others
        // are made later.
        if (send(secrets->fd, made, sizeof made, MSG_NOSIGNAL) != (ssize_t)sizeof made)
            return;
        for (int i = 0; i < SECRETS_AT_ONCE; i++)
            secrets->tokens[made[i].number % EXEC_SECRETS_AHEAD] = made[i].token;
        secrets->last = made[SECRETS_AT_ONCE - 1];
    }
}

bool exec_secrets_accept(struct exec_secrets *secrets, const struct core_record *record)
{
    if (record->number < secrets->heard || record->number > secrets->last.number ||
        record->token != secrets->tokens[record->number % EXEC_SECRETS_AHEAD])
        return false;
    secrets->heard = record->number;
    return true;
}
