// SPDX-License-Identifier: MIT
// The formats, each in a file of its own; docs/EXPORTS.md describes them.
#pragma once

#include "export.h"

extern const struct export_format export_csv; // a row a form
extern const struct export_format export_spreadsheet;
extern const struct export_format export_json;     // everything, pairs and provenance too
extern const struct export_format export_uops_xml; // as uops.info's instructions.xml
extern const struct export_format export_osaca;    // a machine file
extern const struct export_format export_exegesis; // for llvm-exegesis --mode=analysis
extern const struct export_format export_exegesis_throughput;
extern const struct export_format export_exegesis_uops;
extern const struct export_format export_llvm_json;  // for generators of scheduling models
extern const struct export_format export_llvm_sched; // a draft in TableGen
extern const struct export_format export_intrinsics; // perf2.js
extern const struct export_format export_asmdude;    // TSV
