// SPDX-License-Identifier: MIT
// The runs of `latput stat`; see stat_measure.h. First, each event is opened alone for a process
// that is held and then ended: this shows what the system refuses without a run. After that only
// the number of counters can be wrong (another user has one, the NMI watchdog), which shows when a
// full pass is opened or read; then passes become smaller.
#include "stat_measure.h"

#include "stat_usage.h"
#include "util/affinity.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/quantile.h"
#include "util/subproc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SHARED_TRIES = 3 }; // per pass, if something else took its counters for a while

struct measurement {
    const struct stat_options *options;
    const struct stat_event *events;
    int nevents;
    struct stat_result *result;
    struct count_capacity capacity;
    int shared;        // successive runs with shared counters
    off_t input_bytes; // offset of standard input, if it is a file; else -1
};

static void series_add(struct stat_series *series, double value)
{
    series->values =
        xgrow(series->values, &series->capacity, series->n + 1, sizeof *series->values);
    series->values[series->n++] = value;
}

static void series_refuse(struct stat_series *series, enum count_obstacle obstacle,
                          const struct err *err)
{
    if (series->obstacle)
        return;
    series->obstacle = obstacle;
    series->why = xstrdup(err->text);
    series->n = 0;
}

static bool is_hardware(const struct measurement *m, int event)
{
    return m->events[event].event.kind == COUNT_HARDWARE;
}

static void hardware_refuse(struct measurement *m, enum count_obstacle obstacle,
                            const struct err *err)
{
    for (int i = 0; i < m->nevents; i++)
        if (is_hardware(m, i))
            series_refuse(&m->result->series[i], obstacle, err);
}

// Starts the program up to its exec, on the CPU where it has to stay.
static int program_hold(const struct measurement *m, struct subproc_program *program,
                        struct err *err)
{
    if (subproc_hold(m->options->argv, program, err) != 0)
        return -1;
    if (m->options->cpu < 0)
        return 0;
    if (affinity_pin(program->pid, m->options->cpu) == 0)
        return 0;
    int error = errno;
    subproc_abandon(program);
    return err_set(err, "the program cannot be kept on CPU %d: %s", m->options->cpu,
                   strerror(error));
}

// Returns the target of a backend: the program, or the CPU that it is kept on.
static struct count_target target_make(const struct measurement *m,
                                       const struct count_backend *backend, pid_t pid)
{
    if (backend->whole_cpu)
        return (struct count_target){.what = COUNT_CPU, .cpu = m->options->cpu};
    return (struct count_target){.what = COUNT_PROCESS, .pid = pid};
}

static enum count_obstacle event_vet(struct measurement *m, int event, pid_t pid, struct err *err)
{
    const struct stat_options *options = m->options;
    const struct count_backend *backend = is_hardware(m, event) ? options->backend : &count_perf;
    struct count_target target = target_make(m, backend, pid);
    struct count_group *group;
    enum count_obstacle obstacle =
        backend->open(&options->machine, &target, &m->events[event].event, 1, &group, err);
    backend->close(group);
    return obstacle;
}

static int events_vet(struct measurement *m, struct err *err)
{
    struct subproc_program program;
    const struct stat_usage nothing = {0};
    struct err why = {0};
    double value;
    bool hardware = false;
    for (int i = 0; i < m->nevents; i++)
        hardware = hardware || is_hardware(m, i);
    enum count_obstacle obstacle =
        hardware ? m->options->backend->probe(&m->options->machine, &why) : COUNT_FINE;
    if (obstacle)
        hardware_refuse(m, obstacle, &why);
    if (program_hold(m, &program, err) != 0)
        return -1;
    for (int i = 0; i < m->nevents; i++) {
        struct stat_series *series = &m->result->series[i];
        if (series->obstacle)
            continue;
        obstacle = event_vet(m, i, program.pid, &why);
        if (obstacle && stat_usage_value(&nothing, &m->events[i].event, &value))
            series->from_usage = true;
        else if (obstacle)
            series_refuse(series, obstacle, &why);
    }
    subproc_abandon(&program);
    return 0;
}

// One run: the hardware events of a pass as a group, each software event by itself.
struct one_run {
    const int *chosen; // indices of events
    int nchosen;
    struct count_group *group;   // hardware events; NULL: none
    struct count_group **single; // one per event of m->events; NULL: it is not software
    uint64_t values[COUNT_EVENTS_MAX];
    enum count_obstacle obstacle; // to counting the group
    struct err why;
    struct stat_usage before; // exec
    struct subproc_end end;
    double wall_ns;
};

static void run_open(struct measurement *m, struct one_run *run, pid_t pid)
{
    const struct count_backend *backend = m->options->backend;
    struct count_target target = target_make(m, backend, pid);
    struct count_event events[COUNT_EVENTS_MAX];
    for (int i = 0; i < run->nchosen; i++)
        events[i] = m->events[run->chosen[i]].event;
    if (run->nchosen > 0)
        run->obstacle = backend->open(&m->options->machine, &target, events, run->nchosen,
                                      &run->group, &run->why);
    target = target_make(m, &count_perf, pid);
    for (int i = 0; i < m->nevents && !run->obstacle; i++) {
        struct stat_series *series = &m->result->series[i];
        struct err refused = {0};
        if (is_hardware(m, i) || series->obstacle || series->from_usage)
            continue;
        enum count_obstacle single = count_perf.open(
            &m->options->machine, &target, &m->events[i].event, 1, &run->single[i], &refused);
        if (single)
            series_refuse(series, single, &refused);
    }
}

// Starts or stops the counters. Counters that follow the program start with its exec; counters of a
// CPU are started by hand.
static void run_count(struct one_run *run, bool start)
{
    const struct count_backend *backend = run->group ? run->group->backend : NULL;
    if (!backend || !backend->whole_cpu)
        return;
    enum count_obstacle obstacle =
        start ? backend->start(run->group, &run->why) : backend->stop(run->group, &run->why);
    run->obstacle = run->obstacle ? run->obstacle : obstacle;
}

static void run_close(struct measurement *m, struct one_run *run)
{
    if (run->group)
        run->group->backend->close(run->group);
    for (int i = 0; i < m->nevents; i++)
        count_perf.close(run->single[i]);
    free(run->single);
}

// Lets the held program run to its end. Returns false where it was not started.
static bool run_execute(struct measurement *m, struct one_run *run, struct subproc_program *program)
{
    if (subproc_interrupted()) {
        m->result->abandoned = true;
        subproc_abandon(program);
        return false;
    }
    if (m->input_bytes >= 0)
        lseek(STDIN_FILENO, m->input_bytes, SEEK_SET);
    run->before = stat_usage_before(program->pid);
    run_count(run, true);
    int64_t begin_ns = clock_now_ns();
    m->result->exec_errno = subproc_release(program);
    subproc_await(program, &run->end);
    run->wall_ns = (double)(clock_now_ns() - begin_ns);
    run_count(run, false);
    return m->result->exec_errno == 0;
}

// Sets exit status and signal of the run. Returns true if it came to its own end.
static bool run_judge(struct measurement *m, const struct one_run *run)
{
    struct stat_result *result = m->result;
    int before = result->exit_status;
    result->signal = run->end.signal;
    if (result->signal)
        return false;
    result->exit_status = run->end.exit_status;
    if (result->counted_runs + result->warm_runs > 0 && before != result->exit_status)
        result->statuses_differ = true;
    return true;
}

static void run_record(struct measurement *m, const struct one_run *run)
{
    struct stat_result *result = m->result;
    const struct rusage *usage = &run->end.usage;
    struct stat_usage account = stat_usage_since(usage, &run->before);
    for (int i = 0; i < run->nchosen; i++)
        series_add(&result->series[run->chosen[i]], (double)run->values[i]);
    for (int i = 0; i < m->nevents; i++) {
        uint64_t count = 0;
        double value = 0;
        struct err why = {0};
        struct stat_series *series = &result->series[i];
        if (series->from_usage && stat_usage_value(&account, &m->events[i].event, &value)) {
            series_add(series, value);
        } else if (run->single[i]) {
            enum count_obstacle obstacle = count_perf.read(run->single[i], &count, &why);
            if (obstacle)
                series_refuse(series, obstacle, &why);
            else
                series_add(series, (double)count);
        }
    }
    series_add(&result->times[STAT_WALL_NS], run->wall_ns);
    series_add(&result->times[STAT_USER_NS],
               1e9 * (double)usage->ru_utime.tv_sec + 1e3 * (double)usage->ru_utime.tv_usec);
    series_add(&result->times[STAT_SYSTEM_NS],
               1e9 * (double)usage->ru_stime.tv_sec + 1e3 * (double)usage->ru_stime.tv_usec);
    series_add(&result->times[STAT_MAX_RSS_BYTES], 1024.0 * (double)usage->ru_maxrss);
    result->counted_runs++;
}

// Decides what to do about a pass that could not be counted.
static void pass_refused(struct measurement *m, const struct one_run *run)
{
    enum count_obstacle obstacle = run->obstacle;
    if (obstacle == COUNT_MULTIPLEXED && ++m->shared < SHARED_TRIES)
        return; // again: perhaps it was something short
    m->shared = 0;
    if (run->nchosen > 1 && count_capacity_yield(&m->capacity, obstacle))
        return;
    for (int i = 0; i < run->nchosen; i++)
        series_refuse(&m->result->series[run->chosen[i]], obstacle, &run->why);
}

// Takes the counts of a run that came to its own end.
static void run_finish(struct measurement *m, struct one_run *run, bool counted)
{
    if (run->group && !run->obstacle)
        run->obstacle = run->group->backend->read(run->group, run->values, &run->why);
    if (!counted) {
        m->result->warm_runs++;
    } else if (run->obstacle) {
        m->result->lost_runs++;
        pass_refused(m, run);
    } else {
        m->shared = 0;
        run_record(m, run);
    }
}

// Returns 0 to go on, 1 when the program is not to be run any more, -1 with a message.
static int run_once(struct measurement *m, const int *chosen, int nchosen, bool counted,
                    struct err *err)
{
    struct one_run run = {.chosen = chosen, .nchosen = nchosen};
    struct subproc_program program;
    int status = 1;
    if (program_hold(m, &program, err) != 0)
        return -1;
    run.single = xcalloc((size_t)m->nevents + 1, sizeof(struct count_group *));
    if (counted)
        run_open(m, &run, program.pid);
    if (run.obstacle) {
        subproc_abandon(&program);
        pass_refused(m, &run);
        status = 0;
    } else if (run_execute(m, &run, &program) && run_judge(m, &run) && !subproc_interrupted()) {
        status = 0;
        run_finish(m, &run, counted);
    }
    run_close(m, &run);
    m->result->interrupted = subproc_interrupted();
    return m->result->interrupted ? 1 : status;
}

// Chooses the first pass of the hardware events that were counted fewer than `repeat` times.
// Returns its length.
static int pass_choose(const struct measurement *m, int repeat, int *chosen)
{
    struct count_event *events = xcalloc((size_t)m->nevents + 1, sizeof *events);
    int *which = xcalloc((size_t)m->nevents + 1, sizeof *which);
    int *pass = xcalloc((size_t)m->nevents + 1, sizeof *pass);
    int n = 0, nchosen = 0;
    for (int i = 0; i < m->nevents; i++) {
        const struct stat_series *series = &m->result->series[i];
        if (!is_hardware(m, i) || series->obstacle || series->n >= (size_t)repeat)
            continue;
        events[n] = m->events[i].event;
        which[n++] = i;
    }
    count_passes_plan(events, n, m->capacity, pass);
    for (int i = 0; i < n; i++)
        if (pass[i] == 0)
            chosen[nchosen++] = which[i];
    free(events);
    free(which);
    free(pass);
    return nchosen;
}

// Returns the position of standard input, so that every run finds the file there.
static off_t input_position(void)
{
    struct stat about;
    if (fstat(STDIN_FILENO, &about) != 0 || !S_ISREG(about.st_mode))
        return -1;
    return lseek(STDIN_FILENO, 0, SEEK_CUR);
}

static bool hardware_all_refused(const struct measurement *m)
{
    bool any = false;
    for (int i = 0; i < m->nevents; i++) {
        if (is_hardware(m, i) && !m->result->series[i].obstacle)
            return false;
        any = any || is_hardware(m, i);
    }
    return any;
}

// Returns the number of runs that are needed if no counter turns out to be taken, warm-up included.
static int runs_needed(const struct measurement *m, int *npasses)
{
    struct count_event *hardware = xcalloc((size_t)m->nevents + 1, sizeof *hardware);
    int *pass = xcalloc((size_t)m->nevents + 1, sizeof *pass);
    int n = 0;
    for (int i = 0; i < m->nevents; i++)
        if (is_hardware(m, i) && !m->result->series[i].obstacle)
            hardware[n++] = m->events[i].event;
    *npasses = count_passes_plan(hardware, n, m->capacity, pass);
    free(hardware);
    free(pass);
    return m->options->warm + m->options->repeat * (*npasses > 0 ? *npasses : 1);
}

int stat_measure(const struct stat_options *options, const struct stat_event *events, int nevents,
                 struct stat_result *result, struct err *err)
{
    struct measurement m = {.options = options,
                            .events = events,
                            .nevents = nevents,
                            .result = result,
                            .capacity = options->capacity};
    int chosen[COUNT_EVENTS_MAX], status = 0;
    m.input_bytes = input_position();
    *result = (struct stat_result){.nevents = nevents};
    result->series = xcalloc((size_t)nevents + 1, sizeof *result->series);
    if (events_vet(&m, err) != 0)
        return -1;
    result->hardware_refused = options->hardware_required && hardware_all_refused(&m);
    if (result->hardware_refused)
        return 0;
    int npasses, runs = runs_needed(&m, &npasses);
    if (npasses > 1 && options->announce)
        options->announce(runs);
    for (int i = 0; i < options->warm && status == 0; i++)
        status = run_once(&m, NULL, 0, false, err);
    // All events once, then all of them again: a drift of the machine then shows in the spread.
    for (int round = 1; round <= options->repeat && status == 0; round++) {
        int nchosen = pass_choose(&m, round, chosen);
        if (nchosen == 0 && result->counted_runs < round)
            status = run_once(&m, chosen, 0, true, err); // time and software events only
        while (nchosen > 0 && status == 0) {
            status = run_once(&m, chosen, nchosen, true, err);
            nchosen = pass_choose(&m, round, chosen);
        }
    }
    return status < 0 ? -1 : 0;
}

void stat_result_free(struct stat_result *result)
{
    for (int i = 0; i < result->nevents; i++) {
        free(result->series[i].values);
        free(result->series[i].why);
    }
    for (int i = 0; i < STAT_TIMES; i++)
        free(result->times[i].values);
    free(result->series);
    result->series = NULL;
}

struct stat_summary stat_summarise(const struct stat_series *series)
{
    struct stat_summary summary = {
        .n = series->n, .mean = NAN, .min = NAN, .max = NAN, .spread = NAN};
    size_t n = series->n;
    if (n == 0)
        return summary;
    double *sorted = xmalloc(n * sizeof *sorted), sum = 0;
    memcpy(sorted, series->values, n * sizeof *sorted);
    quantile_sort(sorted, (int)n);
    for (size_t i = 0; i < n; i++)
        sum += sorted[i];
    summary.mean = sum / (double)n;
    summary.min = sorted[0];
    summary.max = sorted[n - 1];
    if (n > 1)
        summary.spread = quantile_spread(sorted, (int)n);
    free(sorted);
    return summary;
}
