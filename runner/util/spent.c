// SPDX-License-Identifier: MIT
#include "spent.h"

#include "clock.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct spent account;

void spent_add(enum spent_on what, double amount)
{
    pthread_mutex_lock(&mutex);
    account.on[what] += amount;
    pthread_mutex_unlock(&mutex);
}

void spent_add_time(enum spent_on what, double start_s)
{
    spent_add(what, clock_now_s() - start_s);
}

struct spent spent_now(void)
{
    pthread_mutex_lock(&mutex);
    struct spent now = account;
    pthread_mutex_unlock(&mutex);
    now.at_s = clock_now_s();
    return now;
}

struct spent spent_since(const struct spent *before)
{
    struct spent since = spent_now();
    since.at_s -= before->at_s;
    for (int i = 0; i < SPENT_KINDS; i++)
        since.on[i] -= before->on[i];
    return since;
}

void spent_add_rest(enum spent_on what, const struct spent *before)
{
    struct spent since = spent_since(before);
    double rest_s = since.at_s;
    for (int i = SPENT_MEASURING; i <= SPENT_WRITING; i++)
        rest_s -= since.on[i];
    if (rest_s > 0)
        spent_add(what, rest_s);
}
