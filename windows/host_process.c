// SPDX-License-Identifier: MIT
// Processes in job objects, and their CPU time; for the kit, too.
#include "host.h"

HANDLE job_make(bool alone)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {.ProcessMemoryLimit = 0};
    limits.BasicLimitInformation.LimitFlags =
        JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
    if (alone)
        limits.BasicLimitInformation.LimitFlags |= JOB_OBJECT_LIMIT_ACTIVE_PROCESS;
    limits.BasicLimitInformation.ActiveProcessLimit = 1;
    HANDLE job = CreateJobObjectW(NULL, NULL);
    if (job &&
        !SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits)) {
        CloseHandle(job);
        return NULL;
    }
    return job;
}

bool job_start(HANDLE job, const PROCESS_INFORMATION *held)
{
    if (AssignProcessToJobObject(job, held->hProcess) && ResumeThread(held->hThread) != (DWORD)-1)
        return true;
    DWORD error = GetLastError();
    TerminateProcess(held->hProcess, 1);
    CloseHandle(held->hProcess);
    CloseHandle(held->hThread);
    SetLastError(error);
    return false;
}

static unsigned long long time_us(const FILETIME *time)
{
    ULARGE_INTEGER whole = {.LowPart = time->dwLowDateTime, .HighPart = time->dwHighDateTime};
    return whole.QuadPart / 10;
}

void thread_times_us(HANDLE thread, unsigned long long *user, unsigned long long *kernel)
{
    FILETIME began, ended, in_kernel, in_user;
    *user = *kernel = 0;
    if (!GetThreadTimes(thread, &began, &ended, &in_kernel, &in_user))
        return;
    *user = time_us(&in_user);
    *kernel = time_us(&in_kernel);
}

unsigned long long thread_computed_ms(HANDLE thread)
{
    unsigned long long user, kernel;
    thread_times_us(thread, &user, &kernel);
    return (user + kernel) / 1000;
}
