// SPDX-License-Identifier: MIT
// The calls of libexpat that XML is read by. The library is loaded with the first such file.
#pragma once

#include "util/err.h"

#include <expat.h>

#define LIBEXPAT_CALLS(X)                                                                          \
    X(XML_ErrorString)                                                                             \
    X(XML_GetBuffer)                                                                               \
    X(XML_GetCurrentByteIndex)                                                                     \
    X(XML_GetCurrentLineNumber)                                                                    \
    X(XML_GetErrorCode)                                                                            \
    X(XML_ParseBuffer)                                                                             \
    X(XML_ParserCreate)                                                                            \
    X(XML_ParserFree)                                                                              \
    X(XML_SetCharacterDataHandler)                                                                 \
    X(XML_SetElementHandler)                                                                       \
    X(XML_SetStartDoctypeDeclHandler)                                                              \
    X(XML_SetUserData)                                                                             \
    X(XML_StopParser)

#define LIBEXPAT_FIELD(call) __typeof__(call) *call;
// Null before libexpat_load() has succeeded.
extern struct libexpat {
    LIBEXPAT_CALLS(LIBEXPAT_FIELD)
} xp;

// Loads the library if it is not yet; -1 if it is missing or lacks a call.
int libexpat_load(struct err *err);
