// SPDX-License-Identifier: MIT
#include "exec_ring0.h"

#include "exec.h"
#include "kernel/latput_kernel.h"
#include "util/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *exec_no_ring0(void)
{
    if (exec_is_text())
        return "needs the kernel module, and this machine is made of files";
    int device = open(LATPUT_DEVICE, O_RDWR | O_CLOEXEC);
    if (device == -1)
        return errno == EACCES || errno == EPERM
                   ? "needs the kernel module, which root alone may use"
                   : "needs the kernel module (kernel/README.md)";
    uint32_t version = 0;
    int status = ioctl(device, LATPUT_VERSION, &version);
    close(device);
    return status == 0 && version == LATPUT_KERNEL_VERSION
               ? NULL
               : "the kernel module is of another version: build and load it again";
}

const char *exec_no_interrupts_off(void)
{
    return exec_is_text() && path_machine("dev/latput") ? NULL : exec_no_ring0();
}
