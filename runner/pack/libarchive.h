// SPDX-License-Identifier: MIT
// The calls of libarchive that packs are written and read by. The library is loaded with the first
// pack: it brings twelve others, and every command would take twice as long to start.
#pragma once

#include "util/err.h"

#include <archive.h>
#include <archive_entry.h>

#define LIBARCHIVE_CALLS(X)                                                                        \
    X(archive_entry_filetype)                                                                      \
    X(archive_entry_free)                                                                          \
    X(archive_entry_hardlink)                                                                      \
    X(archive_entry_is_encrypted)                                                                  \
    X(archive_entry_new)                                                                           \
    X(archive_entry_pathname)                                                                      \
    X(archive_entry_set_filetype)                                                                  \
    X(archive_entry_set_pathname)                                                                  \
    X(archive_entry_set_perm)                                                                      \
    X(archive_entry_set_size)                                                                      \
    X(archive_entry_size)                                                                          \
    X(archive_entry_size_is_set)                                                                   \
    X(archive_entry_symlink)                                                                       \
    X(archive_errno)                                                                               \
    X(archive_error_string)                                                                        \
    X(archive_format)                                                                              \
    X(archive_read_data)                                                                           \
    X(archive_read_free)                                                                           \
    X(archive_read_new)                                                                            \
    X(archive_read_next_header)                                                                    \
    X(archive_read_open_filename)                                                                  \
    X(archive_read_set_options)                                                                    \
    X(archive_read_support_filter_xz)                                                              \
    X(archive_read_support_format_tar)                                                             \
    X(archive_read_support_format_zip_seekable)                                                    \
    X(archive_write_add_filter_xz)                                                                 \
    X(archive_write_close)                                                                         \
    X(archive_write_data)                                                                          \
    X(archive_write_free)                                                                          \
    X(archive_write_header)                                                                        \
    X(archive_write_new)                                                                           \
    X(archive_write_open_filename)                                                                 \
    X(archive_write_set_format_ustar)                                                              \
    X(archive_write_set_format_zip)                                                                \
    X(archive_write_set_options)

#define LIBARCHIVE_FIELD(call) __typeof__(call) *call;
// Null before libarchive_load() has succeeded.
extern struct libarchive {
    LIBARCHIVE_CALLS(LIBARCHIVE_FIELD)
} la;

// Loads the library if it is not yet; -1 if it is missing or lacks a call.
int libarchive_load(struct err *err);
