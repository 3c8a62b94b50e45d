// SPDX-License-Identifier: MIT
// Messages between latput-windows (Linux) and latput-windows.exe, and between the measuring process
// on Linux and the former. A message is a head and so many bytes, in the byte order of
// x86.
#pragma once

#include <stdint.h>

enum { CHANNEL_VERSION = 1, CHANNEL_MAGIC = 0x5750544c }; // "LTPW"

enum channel_type {
    // From Windows
    CHANNEL_HELLO = 1, // the first: struct channel_hello
    CHANNEL_MACHINE,   // text: a line that names the system, then a CPUID dump (cpuinfo/README.md)
    CHANNEL_RECORDS,   // what the core wrote
    CHANNEL_END,       // struct channel_end: the core's, one for each CHANNEL_START
    CHANNEL_FAILED,    // text: why nothing more can be measured
    // To Windows
    CHANNEL_PROGRAM, // a program of kernels, as latput builds it for Linux; on Linux its path
    CHANNEL_START,   // a core's struct core_config and what follows it: begin, with that program
    CHANNEL_STOP,    // end the core, if it is there
};

struct channel_head {
    uint32_t magic, type, bytes;
};
enum { CHANNEL_PROGRAM_MAX = 256 << 20, CHANNEL_OTHER_MAX = 4 << 20 };

struct channel_hello {
    uint32_t version; // CHANNEL_VERSION
    uint32_t abi;     // CORE_ABI_VERSION
};

struct channel_end {
    uint32_t status; // of the process
    uint32_t hung;   // 1: it was ended, since a body did not return
};
