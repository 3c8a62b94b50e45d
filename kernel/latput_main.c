// SPDX-License-Identifier: GPL-2.0
/*
 * latput_kernel: /dev/latput, which times instructions of ring 0 for latput with interrupts off.
 *
 * No code comes from outside. The kernels are part of the module (latput_list.S); a caller names
 * one by its bytes, and gets two readings of the time stamp counter, or the exception that ended
 * it. README.md says how to build and use it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <asm/fpu/api.h>
#include <asm/tsc.h>
#include <linux/capability.h>
#include <linux/cpufeature.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "latput_body.h"
#include "latput_kernel.h"

/* Changed by the code of the list alone, under the mutex. */
struct latput_state {
    u64 saved_rsp, saved_rax, saved_rdx;
    u64 tsc_begin, tsc_end;
    u64 begin_rsp, end_rsp;
    u32 iterations, vector;
    u32 faulted, reserved;
};
static_assert(offsetof(struct latput_state, tsc_begin) == STATE_TSC_BEGIN);
static_assert(offsetof(struct latput_state, end_rsp) == STATE_END_RSP);
static_assert(offsetof(struct latput_state, iterations) == STATE_ITERATIONS);
static_assert(offsetof(struct latput_state, vector) == STATE_VECTOR);
static_assert(offsetof(struct latput_state, faulted) == STATE_FAULTED);
extern struct latput_state latput_state;
struct latput_state latput_state;

/* An entry of latput_list.S; the macro `kernel` in latput_body.h makes it. */
struct latput_body {
    const char *name;
    const u8 *init, *body; /* machine code: that of the last variant */
    void *entries[LATPUT_VARIANTS];
    u32 init_bytes, body_bytes;
};
static_assert(sizeof(struct latput_body) == 56);
extern const struct latput_body latput_bodies[];
extern const u32 latput_nbodies;

void latput_enter(void *entry, void *data, u64 gpr_fill);

/* Interrupts are off for as long at most, but for the first run of a body. */
#define OFF_MS 20

/* The data area as runner/core/README.md has it, relative to r14. */
#define DATA_BEFORE PAGE_SIZE
#define DATA_BYTES (DATA_BEFORE + 65536)
#define DATA_FILLED 4096

static const u32 copies_of[LATPUT_VARIANTS] = {COPIES_MOST, COPIES_SOME, 1};
static DEFINE_MUTEX(latput_mutex);
static u8 *data_area;  /* r14 */
static u64 *least_tsc; /* by body: shortest time of one copy; 0: it has not run */

static bool same_code(const u8 *code, u32 bytes, u64 user, u32 user_bytes, u8 *copy)
{
    return bytes == user_bytes && bytes <= LATPUT_CODE_MAX &&
           !copy_from_user(copy, u64_to_user_ptr(user), bytes) && !memcmp(code, copy, bytes);
}

static long latput_find(struct latput_find *find)
{
    u8 *copy = kmalloc(LATPUT_CODE_MAX, GFP_KERNEL);
    long status = -ENOENT;
    u32 i;

    if (!copy)
        return -ENOMEM;
    for (i = 0; i < latput_nbodies && status; i++) {
        const struct latput_body *body = &latput_bodies[i];

        if (!same_code(body->init, body->init_bytes, find->init, find->init_bytes, copy) ||
            !same_code(body->body, body->body_bytes, find->body, find->body_bytes, copy))
            continue;
        find->number = i;
        memcpy(find->copies, copies_of, sizeof(find->copies));
        status = 0;
    }
    kfree(copy);
    return status;
}

/* Whether the run keeps interrupts off for longer than they may be. */
static bool takes_too_long(const struct latput_run *run)
{
    u64 limit = (u64)tsc_khz * OFF_MS;
    u64 copy_tsc = least_tsc[run->number];

    if (!copy_tsc)
        return run->variant != LATPUT_VARIANTS - 1 || run->iterations > LATPUT_FIRST_ITERATIONS;
    return run->iterations > limit / (copy_tsc * copies_of[run->variant]);
}

static void take_time(struct latput_run *run)
{
    u64 copies = (u64)run->iterations * copies_of[run->variant];
    u64 copy_tsc = div64_u64(run->tsc_end - run->tsc_begin, copies);

    copy_tsc = copy_tsc ? copy_tsc : 1;
    if (!least_tsc[run->number] || copy_tsc < least_tsc[run->number])
        least_tsc[run->number] = copy_tsc;
}

static void enter(const struct latput_run *run)
{
    void *entry = latput_bodies[run->number].entries[run->variant];
    unsigned long flags;

    memset64((u64 *)data_area, run->mem_fill, DATA_FILLED / sizeof(u64));
    latput_state = (struct latput_state){.iterations = run->iterations};
    kernel_fpu_begin(); /* this CPU, and vectors */
    local_irq_save(flags);
    latput_enter(entry, data_area, run->gpr_fill);
    local_irq_restore(flags);
    kernel_fpu_end();
}

static long latput_run(struct latput_run *run)
{
    if (run->number >= latput_nbodies)
        return -ENOENT;
    if (run->variant >= LATPUT_VARIANTS || run->iterations == 0)
        return -EINVAL;
    run->number = array_index_nospec(run->number, latput_nbodies);
    run->variant = array_index_nospec(run->variant, LATPUT_VARIANTS);
    if (takes_too_long(run))
        return -ETIME;
    enter(run);
    run->tsc_begin = latput_state.tsc_begin;
    run->tsc_end = latput_state.tsc_end;
    run->faulted = latput_state.faulted;
    run->vector = latput_state.vector;
    run->reserved = 0;
    run->stack_moved = latput_state.end_rsp - latput_state.begin_rsp;
    if (!run->faulted)
        take_time(run);
    return 0;
}

static long latput_name(struct latput_name *name)
{
    if (name->number >= latput_nbodies)
        return -ENOENT;
    strscpy_pad(name->name, latput_bodies[array_index_nospec(name->number, latput_nbodies)].name,
                sizeof(name->name));
    return 0;
}

/* IOPL is in the flags that the task goes back to user mode with. */
static long latput_interrupts(u32 allowed)
{
    struct pt_regs *regs = task_pt_regs(current);

    if (allowed > 1)
        return -EINVAL;
    if (allowed && (!capable(CAP_SYS_RAWIO) || security_locked_down(LOCKDOWN_IOPORT)))
        return -EPERM;
    regs->flags &= ~(unsigned long)X86_EFLAGS_IOPL;
    regs->flags |= allowed ? X86_EFLAGS_IOPL : 0;
    return 0;
}

static long latput_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
    void __user *user = (void __user *)argument;
    union {
        u32 version, allowed;
        struct latput_find find;
        struct latput_run run;
        struct latput_name name;
    } request = {.version = LATPUT_KERNEL_VERSION};
    size_t bytes = _IOC_SIZE(command);
    long status = 0;

    if (_IOC_TYPE(command) != 'L' || bytes > sizeof(request))
        return -ENOTTY;
    if ((_IOC_DIR(command) & _IOC_WRITE) && copy_from_user(&request, user, bytes))
        return -EFAULT;
    if (mutex_lock_interruptible(&latput_mutex))
        return -ERESTARTSYS;
    switch (command) {
    case LATPUT_VERSION:
        break;
    case LATPUT_FIND:
        status = latput_find(&request.find);
        break;
    case LATPUT_RUN:
        status = latput_run(&request.run);
        break;
    case LATPUT_NAME:
        status = latput_name(&request.name);
        break;
    case LATPUT_INTERRUPTS:
        status = latput_interrupts(request.allowed);
        break;
    default:
        status = -ENOTTY;
    }
    mutex_unlock(&latput_mutex);
    if (!status && (_IOC_DIR(command) & _IOC_READ) && copy_to_user(user, &request, bytes))
        return -EFAULT;
    return status;
}

static int latput_open(struct inode *inode, struct file *file)
{
    return capable(CAP_SYS_RAWIO) ? nonseekable_open(inode, file) : -EPERM;
}

static const struct file_operations latput_operations = {
    .owner = THIS_MODULE,
    .open = latput_open,
    .unlocked_ioctl = latput_ioctl,
};

static struct miscdevice latput_device = {
    .minor = MISC_DYNAMIC_MINOR,
    .name = "latput",
    .mode = 0600,
    .fops = &latput_operations,
};

static void latput_free(void)
{
    kvfree(least_tsc);
    if (data_area)
        vfree(data_area - DATA_BEFORE);
}

static int __init latput_init(void)
{
    int status;

    /* There is no ring 0 in such a guest. */
    if (boot_cpu_has(X86_FEATURE_XENPV))
        return -ENODEV;
    least_tsc = kvcalloc(latput_nbodies, sizeof(*least_tsc), GFP_KERNEL);
    data_area = vzalloc(DATA_BYTES);
    if (data_area)
        data_area += DATA_BEFORE;
    status = least_tsc && data_area ? misc_register(&latput_device) : -ENOMEM;
    if (status)
        latput_free();
    else
        pr_info("%u kernels of ring 0\n", latput_nbodies);
    return status;
}

static void __exit latput_exit(void)
{
    misc_deregister(&latput_device);
    latput_free();
}

module_init(latput_init);
module_exit(latput_exit);
MODULE_LICENSE("GPL");
MODULE_AUTHOR("The latput developers");
MODULE_DESCRIPTION("times instructions of ring 0 for latput");
MODULE_VERSION("2");
