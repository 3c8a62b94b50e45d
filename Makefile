# SPDX-License-Identifier: MIT
# Builds latput into build/. Targets: all (default), tests (builds them), test (runs those of pure
# functions), check (all that do not measure), check-hardware (those that do), bench (accuracy,
# repeatability and speed of the measurement itself; LISTS; speed of the web page), golden (rewrites
# the expected outputs), schema (that of JSON, in docs/), comparison (parts of docs/COMPARISON.md),
# figures (makes docs/PORTS_FIGURES.md), kernel-module (what ring 0 needs, in build/kernel;
# KERNEL=HEADERS), kernel-bodies (its list), windows (the core as a program for Windows;
# WINDOWS_CC), windows-kit (latput as one for Windows), windows-libraries (what that needs of
# others), truth (predicts the random mixes of the published runs), largest (the most work that a
# property of a pack may cause; READING), storm (kills and stops runs; STORM), fuzz (SECONDS=N,
# TARGET=NAME), format, lint (width and headless are parts of it), install and uninstall (PREFIX,
# DESTDIR), dist, deb, kit (one file for bare hosts), pages (the web page of the published runs, in
# build/pages), release (checks, then archive, deb, page, figures and their sha256 in build/release;
# TAG=yes: the tag, too), clean.
# Variables: CC, CPPFLAGS, CFLAGS, LDFLAGS, SANITIZE=address,undefined, WERROR=1, BUILD, TESTED
# (folders of tests), V=1 (prints whole commands).

ifeq ($(origin CC),default)
CC = gcc
endif
BUILD ?= build
PREFIX ?= /usr/local
CFLAGS ?= -O2 -g
# The commit is part of it in a checkout, but not in an unpacked archive inside another checkout.
COMMIT := $(if $(wildcard .git),$(shell git describe --always --exclude '*' --dirty 2>/dev/null))
VERSION := $(shell cat VERSION)$(COMMIT:%=+g%)
CONTACT := $(shell grep -v '^\#' CONTACT)

WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
	-Wmissing-prototypes -Wwrite-strings -Wundef -Wvla -Wformat=2 -Wpointer-arith \
	-Wdouble-promotion -Wimplicit-fallthrough $(CLANG_WARNINGS) $(if $(WERROR),-Werror)
# glibc's NAN and INFINITY are float constants, about which clang warns wherever they meet a double.
CLANG_WARNINGS = $(if $(findstring clang,$(CC)),-Wno-double-promotion)
# gcc's warnings about format strings have false alarms where sanitizers have added branches.
SANITIZE_CFLAGS = $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer \
	-fno-sanitize-recover=undefined $(if $(findstring clang,$(CC)),,-Wno-format-truncation \
	-Wno-format-overflow))
# A header of another folder is included by its path below runner/ ("plan/plan.h") or below the
# root ("cpuinfo/cpuinfo.h"), one of the same folder by its name.
INCLUDES = -Irunner -I. -Iinclude
BASE_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(INCLUDES) $(WARNINGS)
# All objects can become part of a shared library, whose only symbols are those of latput.h.
ALL_CFLAGS = $(BASE_CFLAGS) $(CPPFLAGS) $(CFLAGS) -fPIC -fvisibility=hidden -pthread \
	$(SANITIZE_CFLAGS)
LINK = $(CC) $(ALL_CFLAGS) $(LDFLAGS)
# $(call step,CC) begins the first line of a recipe, and $Q each further one: a step prints one
# short line, with V=1 its commands, with -s nothing.
SILENT := $(findstring s,$(firstword -$(MAKEFLAGS)))
step = $Q$(if $(V)$(SILENT),,echo '  $(1) $(or $(filter %.c %.asm,$<),$@)';)
Q = $(if $(V),,@)
# libarchive is loaded with the first pack (runner/pack/libarchive.h), libexpat with the first XML.
LDLIBS = -lcsv -lsqlite3 -lmd -lZydis -lm -pthread

# core_*.c make the measuring process; outcome.c in the same folder belongs to the runner.
SOURCES := $(filter-out runner/core/core_%,$(wildcard runner/*/*.c cpuinfo/*.c))
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
TESTED ?= unit/* whole hardware
TEST_SOURCES := $(wildcard $(TESTED:%=tests/%/test_*.c))
TESTS := $(patsubst %.c,$(BUILD)/tests/%,$(notdir $(TEST_SOURCES)))
LIBRARY := $(BUILD)/liblatput_runner.a

# liblatput, for programs that measure themselves: docs/LIBRARY.md.
USER_SOURCES := $(filter-out library/latput_sqlite%,$(wildcard library/*.c))
USER_OBJECTS := $(USER_SOURCES:%.c=$(BUILD)/%.o)
USER_LDLIBS = -lcsv -lm -pthread
USER_SONAME = liblatput.so.0
SQLITE_SOURCES := $(wildcard library/latput_sqlite*.c)
SQLITE_OBJECTS := $(SQLITE_SOURCES:%.c=$(BUILD)/%.o)

# The core is linked statically with each batch of bodies and must not be disturbed by sanitizers,
# stack protectors, position independence or other flags of the user: its addresses stay below 2 GiB
# for absolute operands.
CORE_CFLAGS = $(BASE_CFLAGS) -O2 -g -fno-pie -fno-stack-protector -fcf-protection=none -mno-red-zone
CORE_SOURCES := $(wildcard runner/core/core_*.c)
CORE_OBJECTS := $(CORE_SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/runner/core/core_enter.o \
	$(BUILD)/runner/core/core_call.o

# The core for 32-bit mode, where the compiler can link 32-bit programs (gcc-multilib); without it
# rows with bits=32 are skipped.
CORE32_CFLAGS = $(CORE_CFLAGS) -m32 -msse2 -mfpmath=sse
CORE32_OBJECTS := $(CORE_SOURCES:runner/core/%.c=$(BUILD)/runner/core32/%.o) \
	$(BUILD)/runner/core32/core_enter32.o $(BUILD)/runner/core32/core_call.o
CORE32 := $(shell mkdir -p $(BUILD) && echo 'int main(void) { return 0; }' | \
	$(CC) -m32 -static -x c -o $(BUILD)/probe32 - 2>/dev/null && echo $(BUILD)/core32.o)
CORES = $(BUILD)/core64.o $(BUILD)/linked64 $(CORE32) $(CORE32:%core32.o=%linked32)

# The runs in results/published/ as a database, which is asked where a machine has none yet;
# PUBLISHED= is none.
PUBLISHED = $(wildcard results/published/*.tar.xz)
PUBLISHED_DB = $(if $(PUBLISHED),$(BUILD)/published.db)

.PHONY: all kernel-module kernel-bodies tests test check check-hardware storm bench golden \
	schema comparison figures truth largest fuzz format lint width headless install uninstall \
	dist deb kit windows windows-kit \
	windows-libraries pages release clean
all: $(BUILD)/latput $(CORES) $(BUILD)/liblatput.a $(BUILD)/liblatput.so \
	$(BUILD)/latput_sqlite.so $(if $(SANITIZE),,$(PUBLISHED_DB))

$(BUILD)/latput: $(BUILD)/runner/main.o $(LIBRARY)
	$(call step,LD)$(LINK) -o $@ $^ $(LDLIBS)

$(BUILD)/published.db: $(PUBLISHED) db/schema.sql db/views.sql | $(BUILD)/latput
	$(call step,MERGE)rm -f $@.part*
	$Q$(BUILD)/latput merge --db $@.part $(PUBLISHED) >$@.log 2>&1 || { cat $@.log >&2; exit 1; }
	$Qmv $@.part $@

# A page of them for any web server, which needs no program there.
pages: $(BUILD)/latput $(PUBLISHED_DB)
	rm -rf $(BUILD)/pages
	$(BUILD)/latput site --db $(PUBLISHED_DB) --output $(BUILD)/pages

$(LIBRARY): $(OBJECTS)
	@rm -f $@
	$(call step,AR)$(AR) rcs $@ $^

# One object with its other symbols local, so that they cannot clash with the user's program.
$(BUILD)/liblatput.a: $(USER_OBJECTS) $(LIBRARY)
	$(call step,LD)$(LD) -r -o $(BUILD)/liblatput.o $^
	$Qobjcopy --localize-hidden $(BUILD)/liblatput.o
	@rm -f $@
	$Q$(AR) rcs $@ $(BUILD)/liblatput.o

$(BUILD)/liblatput.so: $(USER_OBJECTS) $(LIBRARY)
	$(call step,LD)$(LINK) -shared -Wl,-soname,$(USER_SONAME) -o $@ $^ $(USER_LDLIBS)
	@ln -sf liblatput.so $(BUILD)/$(USER_SONAME)

# The extension for the sqlite3 shell.
$(BUILD)/latput_sqlite.so: $(SQLITE_OBJECTS) $(LIBRARY)
	$(call step,LD)$(LINK) -shared -o $@ $^ $(LDLIBS)

$(BUILD)/core64.o: $(CORE_OBJECTS)
	$(call step,LD)$(LD) -r -o $@ $^

$(BUILD)/core32.o: $(CORE32_OBJECTS)
	$(call step,LD)$(LD) -m elf_i386 -r -o $@ $^

# The cores as programs, with room for kernels at the addresses of runner/assemble/load.h: a batch
# is put there without linker and libraries.
of_cc = $(shell $(CC) $(1) -print-file-name=$(2))
each_of_cc = $(foreach f,$(2),$(call of_cc,$(1),$f))
link_core = $(LD) -m $(2) -static -z noexecstack --strip-debug -Ttext-segment=0x400000 \
	--section-start=latput_table=0x00800000 --section-start=latput_code=0x02000000 \
	--section-start=latput_room=0x01400000 -o $@ \
	$(call each_of_cc,$(1),crt1.o crti.o crtbeginT.o) $^ \
	--start-group $(call each_of_cc,$(1),libgcc.a libgcc_eh.a libc.a) --end-group \
	$(call each_of_cc,$(1),crtend.o crtn.o)
$(BUILD)/linked64: $(BUILD)/core64.o $(BUILD)/runner/core/core_room.o
	$(call step,LD)$(call link_core,-m64,elf_x86_64)

$(BUILD)/linked32: $(BUILD)/core32.o $(BUILD)/runner/core32/core_room.o
	$(call step,LD)$(call link_core,-m32,elf_i386)

$(BUILD)/runner/core32/core_%.o: runner/core/core_%.c
	@mkdir -p $(@D)
	$(call step,CC)$(CC) $(CORE32_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/runner/core32/%.o: runner/core/%.asm runner/core/core_layout.inc macros/address.inc
	@mkdir -p $(@D)
	$(call step,NASM)nasm -f elf32 -w+error=label-orphan -Irunner/core/ -Imacros/ -o $@ $<

$(BUILD)/runner/core/core_%.o: runner/core/core_%.c
	@mkdir -p $(@D)
	$(call step,CC)$(CC) $(CORE_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/runner/core/%.o: runner/core/%.asm runner/core/core_layout.inc macros/address.inc
	@mkdir -p $(@D)
	$(call step,NASM)nasm -f elf64 -w+error=label-orphan -Irunner/core/ -Imacros/ -o $@ $<

# Measuring on Windows, experimental (windows/README.md): latput-windows.exe has the core, made of
# the same sources, but for those that are about Linux, with its calls by the names of Linux. The
# kernels that it measures are those of programs for Linux, at the same addresses
# (runner/assemble/load.h). latput-windows is its other side, on Linux.
WINDOWS_CC ?= x86_64-w64-mingw32-gcc
WINDOWS = $(BUILD)/windows
WINDOWS_HOST = $(WINDOWS)/latput-windows.exe
WINDOWS_FAR = $(WINDOWS)/latput-windows
# gcc judges formats there by the C library of Windows, in whose place MinGW's own is used.
WINDOWS_FLAGS = -std=gnu11 -D_GNU_SOURCE -D_WIN32_WINNT=0x0a00 -Iwindows/posix $(INCLUDES) \
	$(WARNINGS) -Wno-format
WINDOWS_CFLAGS = $(WINDOWS_FLAGS) -O2 -g -fno-stack-protector -mno-red-zone
WINDOWS_SOURCES := $(wildcard windows/core_*.c windows/host*.c) cpuinfo/cpu_capture.c \
	cpuinfo/cpu_leaf.c $(filter-out $(addprefix runner/core/core_,\
	corunner_serve.c count.c filter.c guard.c own.c rdpmc.c ring0.c seal.c),$(CORE_SOURCES))
WINDOWS_OBJECTS := $(WINDOWS_SOURCES:%.c=$(WINDOWS)/%.o) $(WINDOWS)/windows/core_bases.o \
	$(WINDOWS)/runner/core/core_enter.o
WINDOWS_SYMBOLS = latput_kernel_count=0x00800000 latput_kernels=0x00800010 latput_code=0x02000000 \
	seal_remember=0 seal_verify=0 core_opening_stack=0 \
	__executable_start=__image_base__ _end=__bss_end__
windows: $(WINDOWS_HOST) $(WINDOWS_FAR)
$(WINDOWS_FAR): $(patsubst %.c,$(BUILD)/%.o,$(wildcard windows/far*.c))
	@mkdir -p $(@D)
	$(call step,LD)$(LINK) -o $@ $^
$(WINDOWS_HOST): $(WINDOWS_OBJECTS)
	@mkdir -p $(@D)
	$(call step,LD)$(WINDOWS_CC) -static -Wl,--image-base=0x400000,--disable-dynamicbase \
		-Wl,--disable-high-entropy-va,--wrap=main,--wrap=core_enter,--wrap=core_sealed \
		$(WINDOWS_SYMBOLS:%=-Wl,--defsym=%) -o $@ $^ -lwinmm

# latput for Windows, with all it takes in one file: the runner, but for what is about Linux or
# needs its tools. What it needs of others is made from their sources (windows/kit/libraries).
WINDOWS_KIT = $(BUILD)/latput-$(VERSION)-windows.exe
WINDOWS_LIBRARIES = $(WINDOWS)/libraries
WINDOWS_REPLACED = $(addprefix runner/,$(addprefix util/,affinity confine dynlib limits pager \
	program scratch subproc) store/store_place store/store_claim execute/exec_read \
	pack/libarchive check/check_known $(addprefix commands/,cmd_counters% cmd_explain cmd_stat \
	cmd_validate explain_choose validate_blocks) explain/% stat/%)
WINDOWS_KIT_SOURCES := $(filter-out $(WINDOWS_REPLACED:%=%.c),$(SOURCES)) runner/main.c \
	$(wildcard windows/kit/*.c) windows/host_machine.c windows/host_process.c
WINDOWS_KIT_OBJECTS := $(WINDOWS_KIT_SOURCES:%.c=$(WINDOWS)/kit/%.o) $(WINDOWS)/kit/manifest.o
# Code of the runner is as for Linux: what gcc says of its types there is not what it says here.
WINDOWS_KIT_CFLAGS = -std=gnu11 -D_GNU_SOURCE -D_WIN32_WINNT=0x0a00 -D_FILE_OFFSET_BITS=64 \
	-DLIBARCHIVE_STATIC -DZYDIS_STATIC_BUILD -DZYCORE_STATIC_BUILD -Iwindows/kit/posix \
	-Iwindows/kit $(INCLUDES) -I$(BUILD) -I$(WINDOWS_LIBRARIES)/include \
	-idirafter $(WINDOWS_LIBRARIES)/linux $(filter-out -Wpedantic,$(WARNINGS)) -Wno-format \
	-Wno-conversion -Wno-sign-compare -O2 -g
# Its read() has another type, and nothing to read.
$(WINDOWS)/kit/runner/counters/count.o: WINDOWS_KIT_CFLAGS += -Wno-incompatible-pointer-types
windows-kit: $(WINDOWS_KIT)
	@echo $<
windows-libraries: $(WINDOWS_LIBRARIES)/made
$(WINDOWS_KIT): $(WINDOWS)/latput.exe $(WINDOWS_HOST) $(CORES) windows/kit/make
	$Q$(DATA) | grep -v '^results/' | \
		windows/kit/make $(WINDOWS) $@ $(WINDOWS_LIBRARIES) $(filter %/linked64 %/linked32,$^)
$(WINDOWS)/latput.exe: $(WINDOWS_KIT_OBJECTS)
	$(call step,LD)$(WINDOWS_CC) -static -Wl,--wrap=main -o $@ $^ -L$(WINDOWS_LIBRARIES)/lib \
		-lcsv -lsqlite3 -lZydis -larchive -llzma -lz -lbcrypt -lwinmm -lpthread -lm
$(WINDOWS_LIBRARIES)/made: windows/kit/libraries
	$(call step,LIBRARIES)windows/kit/libraries $(WINDOWS_LIBRARIES)

$(WINDOWS)/kit/manifest.o: windows/kit/kit.rc windows/kit/kit.manifest
	@mkdir -p $(@D)
	$Q$(WINDOWS_CC:%gcc=%windres) -Iwindows/kit -o $@ $<

$(WINDOWS)/kit/%.o: %.c $(WINDOWS_LIBRARIES)/made | $(BUILD)/version.h
	@mkdir -p $(@D)
	$(call step,CC)$(WINDOWS_CC) $(WINDOWS_KIT_CFLAGS) -MMD -MP -c -o $@ $<

$(WINDOWS)/%.o: %.c
	@mkdir -p $(@D)
	$(call step,CC)$(WINDOWS_CC) $(WINDOWS_CFLAGS) -MMD -MP -c -o $@ $<

$(WINDOWS)/%.o: %.asm runner/core/core_layout.inc macros/address.inc
	@mkdir -p $(@D)
	$(call step,NASM)nasm -f win64 -w+error=label-orphan -Irunner/core/ -Imacros/ -o $@ $<

$(BUILD)/version.h: FORCE
	@mkdir -p $(@D)
	@printf '#define LATPUT_%s\n' 'VERSION "$(VERSION)"' 'CONTACT "$(CONTACT)"' >$@.new
	@cmp -s $@.new $@ || cp $@.new $@
.PHONY: FORCE
FORCE:

# The version is made before anything is compiled; when it changes, only its includers are compiled.
$(BUILD)/%.o: %.c | $(BUILD)/version.h
	@mkdir -p $(@D)
	$(call step,CC)$(CC) $(ALL_CFLAGS) -I$(BUILD) -MMD -MP -c -o $@ $<

# A test spends its time in what it tests; sanitizers take five times as long to compile it
# optimized.
LINK_TEST = $(LINK) $(if $(SANITIZE),-O0)
define build_test
@mkdir -p $(@D)
$(call step,CC)$(LINK_TEST) -I$(BUILD) -Itests -MMD -MP -o $@ $< $(filter %.o,$^) \
	$(LIBRARY) -lcmocka $(LDLIBS)
endef
# Sources of tests by file name alone; names are unique.
vpath test_%.c $(sort $(dir $(TEST_SOURCES)))
$(BUILD)/tests/%: %.c $(LIBRARY)
	$(build_test)

# Runs commands as if the kernel lacked something.
WITHOUT := $(BUILD)/tests/without
$(WITHOUT): tests/without.c
	@mkdir -p $(@D)
	$(call step,CC)$(CC) $(BASE_CFLAGS) $(CFLAGS) -o $@ $<

# Times planning and building.
$(BUILD)/tests/bench_batches: tests/bench_batches.c $(LIBRARY)
	$(build_test)

# The simulated CPU.
PORT_SIM := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/fixtures/port_sim*.c))
$(addprefix $(BUILD)/tests/,test_ports test_ports_fuzz test_ports_names \
	test_port_names_small test_ports_wide test_ports_front \
	test_ports_moves test_ports_llvm test_ports_discover test_ports_controls): $(PORT_SIM)

# A core made of text: the core without the layer that touches the machine. Its addresses do not
# overlap with those of the programs that it reads kernels from.
TEXT_WRAPPED = run_setup time_now time_cpu sched_setaffinity guard_sleep_ms code_add core_enter \
	core_sealed seal_shut guard_intact guard_setup guard_protect guard_drop_privileges \
	own_remember own_restore corunner_split send_record interrupts_off
TEXT_SYMBOLS = latput_kernels=0x40000000 latput_kernel_count=0x47fffff8 latput_code=0x48000000
TEXT_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/text/*.c))
$(TEXT_OBJECTS): SANITIZE_CFLAGS = # as the core
$(BUILD)/tests/core_text: $(TEXT_OBJECTS) $(CORE_OBJECTS)
	@mkdir -p $(@D)
	$(call step,LD)$(CC) -no-pie -Wl,-Ttext-segment=0x20000000 $(TEXT_WRAPPED:%=-Wl,--wrap=%) \
		$(TEXT_SYMBOLS:%=-Wl,--defsym=%) -o $@ $^ -lZydis -lm

# A core that is wrong about the machine while it starts.
$(BUILD)/tests/core_wrong.o: tests/fixtures/core_wrong.c $(CORE_OBJECTS)
	@mkdir -p $(@D)
	$(call step,CC)$(CC) $(CORE_CFLAGS) -Itests -MMD -MP -c -o $(@:.o=_.o) $<
	$Q$(LD) -r --wrap=time_own -o $@ $(@:.o=_.o) $(CORE_OBJECTS)

# Linked like a user's program.
LATPUT_TESTS := $(patsubst %,$(BUILD)/tests/%,test_latput test_latput_memory test_latput_summary)
$(LATPUT_TESTS): $(BUILD)/tests/%: %.c $(BUILD)/liblatput.a
	@mkdir -p $(@D)
	$(call step,CC)$(LINK_TEST) -MMD -MP -o $@ $< $(BUILD)/liblatput.a -lcmocka $(USER_LDLIBS)

QUERY_OBJECTS = $(filter-out %/latput_sqlite.o,$(SQLITE_OBJECTS))
$(BUILD)/tests/test_latput_code: test_latput_code.c $(QUERY_OBJECTS) $(LIBRARY)
	@mkdir -p $(@D)
	$(call step,CC)$(LINK_TEST) -I$(BUILD) -Itests -MMD -MP -o $@ $< $(QUERY_OBJECTS) $(LIBRARY) \
		-lcmocka $(LDLIBS)

# They read packs by libarchive itself.
$(addprefix $(BUILD)/tests/,test_pack test_merge_work): LDLIBS += -larchive

# Compares the counter tables with libpfm4, where it is installed.
$(BUILD)/tests/test_counters_libpfm4: \
	LDLIBS += $(if $(wildcard /usr/include/perfmon/pfmlib.h),-lpfm)

# Everything that reads foreign data, on inputs that libFuzzer makes up for SECONDS, and (replay) on
# those that were once found to be of interest.
FUZZ_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(filter-out %_main.c %_replay.c,\
	$(wildcard tests/fuzz/*.c))) $(QUERY_OBJECTS)
$(BUILD)/tests/fuzz/%.o: ALL_CFLAGS += -Itests
# Comparisons of numbers in long loops teach the fuzzer nothing, and telling it of each takes four
# fifths of its time.
FUZZ_UNTRACED = $(filter $(BUILD)/runner/conclude/% $(BUILD)/runner/util/quantile.o \
	$(BUILD)/runner/util/random.o $(BUILD)/runner/util/suggest.o,$(OBJECTS))
ifneq ($(findstring fuzzer,$(SANITIZE)),)
$(FUZZ_UNTRACED): ALL_CFLAGS += -fno-sanitize-coverage=trace-cmp
endif
$(BUILD)/fuzz_replay: $(BUILD)/tests/fuzz/fuzz_replay.o $(FUZZ_OBJECTS) $(LIBRARY)
	$(call step,LD)$(LINK) -o $@ $^ $(LDLIBS)

$(BUILD)/fuzz: $(BUILD)/tests/fuzz/fuzz_main.o $(FUZZ_OBJECTS) $(LIBRARY)
	$(call step,LD)$(LINK) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)

SECONDS ?= 60
FUZZ_CC ?= clang
FUZZ_VARIABLES = BUILD=$(BUILD)/fuzzing SANITIZE=address,undefined,fuzzer-no-link CFLAGS="-O1 -g1"
fuzz: all $(BUILD)/tests/test_report
	echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' | \
		$(FUZZ_CC) -fsanitize=fuzzer -x c -o /dev/null - 2>/dev/null || ./install-deps.sh --dev
	$(MAKE) $(FUZZ_VARIABLES) CC="$(FUZZ_CC)" $(BUILD)/fuzzing/fuzz
	tests/fuzz/run $(BUILD) $(SECONDS) $(TARGET)

# Judges whether the host is quiet; shares no code with latput.
$(BUILD)/tests/judge: tests/judge.c
	@mkdir -p $(@D)
	$(call step,CC)$(CC) -std=c11 -O2 $(WARNINGS) -o $@ $<

# The kernel module (kernel/README.md), for the running kernel or KERNEL, a folder of headers.
KERNEL ?= /lib/modules/$(shell uname -r)/build
KERNEL_FILES = $(wildcard kernel/*)
kernel-module:
	@[ -d $(KERNEL) ] || { echo 'make kernel-module: no headers at $(KERNEL); install' \
		'linux-headers-amd64, or name another folder by KERNEL=' >&2; exit 1; }
	@mkdir -p $(BUILD)/kernel
	cp -p $(KERNEL_FILES) $(BUILD)/kernel/
	$(MAKE) -C $(KERNEL) M=$(abspath $(BUILD)/kernel) modules

# The list of what it runs, from lists/kernel/ and macros/.
kernel-bodies: $(BUILD)/latput
	tools/kernel-bodies $< >$(BUILD)/latput_list.S
	mv $(BUILD)/latput_list.S kernel/

tests: $(TESTS) $(BUILD)/fuzz_replay $(BUILD)/tests/core_text $(BUILD)/tests/core_wrong.o \
	$(BUILD)/tests/judge $(WITHOUT)

# test: pure functions and data; check: every command besides; check-hardware: this machine.
test: all tests
	tests/run $(BUILD) unit/
check: all tests
	tests/run $(BUILD) unit/ whole/ cli/
check-hardware: all tests
	tests/run $(BUILD) hardware/

# Kills and stops a run at random moments (STORM='EVENTS SEED LIST...'), and what takes minutes of a
# CPU: cores and random cases that `make check` takes only some of.
storm: all tests
	tests/storm.sh $(BUILD) $(STORM)
	KILLS=100 SEED=$$$$ tests/run $(BUILD) cli_kills
	LATPUT_LLVM_CORES=all TEST_TIMES=$${TEST_TIMES:-4} tests/run $(BUILD) test_ports_llvm \
		test_ports_fuzz test_conclude

golden: all $(TESTS)
	LATPUT_GOLDEN=rewrite tests/run $(BUILD) golden

# docs/output.schema.json, from the records of the outputs and docs/output.schema.in.
schema: $(BUILD)/tests/test_golden_schema
	LATPUT_GOLDEN=rewrite $(BUILD)/tests/test_golden_schema

# The parts of docs/COMPARISON.md that follow from records, or that a command prints.
comparison: all $(BUILD)/tests/test_golden_comparison
	LATPUT_GOLDEN=rewrite $(BUILD)/tests/test_golden_comparison
	LATPUT_GOLDEN=rewrite tests/run $(BUILD) cli/cli_compare.sh

# The pages of figures, from the tables that programs read.
figures:
	@mkdir -p $(BUILD)
	tools/figures.sh docs/figures/ports.csv >$(BUILD)/PORTS_FIGURES.md
	mv $(BUILD)/PORTS_FIGURES.md docs/PORTS_FIGURES.md

# Today's ports predict the mixes that the published runs measured.
truth: $(BUILD)/latput $(PUBLISHED_DB)
	$Q$(BUILD)/latput validate --stored --db $(PUBLISHED_DB)

largest: $(BUILD)/tests/test_merge_property_size
	$Q$< largest $(READING)

bench: all $(BUILD)/tests/test_site $(BUILD)/tests/bench_batches
	tests/bench.sh $(BUILD) $(LISTS)
	tests/bench_site.sh $(BUILD) || [ $$? = 77 ]
	tests/bench_merge.sh $(BUILD) || [ $$? = 77 ]
	tests/bench_compare.sh $(BUILD) || [ $$? = 77 ]

# Files that are in git or are about to be, or in an unpacked archive.
sources = $(shell if [ -e .git ]; then \
	git ls-files --cached --others --exclude-standard $(1); else \
	for p in $(1); do find . -path "./$$p" ! -path './$(BUILD)/*' -printf '%P\n'; done; fi)

format:
	clang-format -i $(call sources,'*.c' '*.h')

# Scripts of the shell that have no ending.
SCRIPTS = .ci/run .ci/bare packaging/kit/make tests/run tests/mutate tests/make_xml tests/fuzz/run \
	tests/kernel/run tests/kernel/init tools/count-instructions tools/fleet tools/kernel-bodies \
	tools/release windows/kit/make windows/kit/libraries
WIDTH_CHECKED = '*.c' '*.h' '*.asm' '*.inc' '*.sh' '*.awk' '*.mjs' 'site/*.[cjh]*' 'db/*.sql' \
	'*.md' $(SCRIPTS) tools/intrinsics Makefile '.clang-*'
width:
	tests/width.sh $(call sources,$(WIDTH_CHECKED))
headless:
	tests/headless.sh $(call sources,$(filter-out '*.md' '.clang-*',$(WIDTH_CHECKED)))

# Limit of the analyser's steps per function. Its default of 225000 takes ten times as long, and has
# not found more in this code: make lint LINT_NODES=225000.
LINT_NODES ?= 10000
TIDY = clang-tidy --quiet \
	$(patsubst %,--extra-arg=%,-Xclang -analyzer-config -Xclang max-nodes=$(LINT_NODES))
# The patterns are those of git, whose * matches directories, too.
lint: width headless $(BUILD)/version.h $(LIBRARY) $(BUILD)/core64.o $(USER_OBJECTS) \
	$(SQLITE_OBJECTS) $(BUILD)/tests/test_golden_schema $(BUILD)/tests/test_golden_comparison
	$(BUILD)/tests/test_golden_schema
	$(BUILD)/tests/test_golden_comparison
	clang-format --dry-run --Werror $(call sources,'*.c' '*.h')
	shellcheck -x $(call sources,'*.sh') $(SCRIPTS)
	tests/layers.sh . $(BUILD)
	printf '%s\n' $(call sources,'runner/*.c' 'cpuinfo/*.c' 'library/*.c' \
		'windows/far*.c') | \
		xargs -P $$(nproc) -n 1 sh -c \
		'$(TIDY) "$$0" -- $(BASE_CFLAGS) -I$(BUILD) 2>/dev/null || exit 255'
	! command -v $(WINDOWS_CC) >/dev/null || \
		printf '%s\n' $(call sources,'windows/core_*.c' 'windows/host*.c') | \
		xargs -P $$(nproc) -n 1 sh -c '$(TIDY) "$$0" -- --target=x86_64-w64-mingw32 \
		$(WINDOWS_FLAGS) 2>/dev/null || exit 255'
	printf '%s\n' $(call sources,'tests/*.c') | xargs -P $$(nproc) -n 1 sh -c \
		'clang-tidy --quiet --checks="-*,readability-function-size" "$$0" -- $(BASE_CFLAGS) \
		-I$(BUILD) -Itests 2>/dev/null || exit 255'

DATA = find lists macros cpuinfo db site $(PUBLISHED) -type f ! -name '*.[ch]' ! -name '*.db*'
BASH_COMPLETION = share/bash-completion/completions/latput
ZSH_COMPLETION = share/zsh/site-functions/_latput
install: all
	install -D -m 755 $(BUILD)/latput $(DESTDIR)$(PREFIX)/bin/latput
	for f in $(CORES) $(PUBLISHED_DB); do \
		install -D -m 644 $$f $(DESTDIR)$(PREFIX)/lib/latput/$${f##*/} || exit 1; done
	for f in $$($(DATA)); do \
		install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/latput/$$f || exit 1; done
	for f in $(KERNEL_FILES); do \
		install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/latput/$$f || exit 1; done
	install -D -m 644 include/latput.h $(DESTDIR)$(PREFIX)/include/latput.h
	install -D -m 644 $(BUILD)/liblatput.a $(DESTDIR)$(PREFIX)/lib/liblatput.a
	install -D -m 755 $(BUILD)/liblatput.so $(DESTDIR)$(PREFIX)/lib/$(USER_SONAME)
	ln -sf $(USER_SONAME) $(DESTDIR)$(PREFIX)/lib/liblatput.so
	install -D -m 755 $(BUILD)/latput_sqlite.so $(DESTDIR)$(PREFIX)/lib/latput_sqlite.so
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include' '' \
		'Name: latput' 'Description: Time stamps, core cycles and counters inside a program' \
		'Version: $(VERSION)' 'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -llatput' \
		'Libs.private: $(USER_LDLIBS)' >$(BUILD)/latput.pc
	install -D -m 644 $(BUILD)/latput.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig/latput.pc
	$(BUILD)/latput help --man >$(BUILD)/latput.1
	install -D -m 644 $(BUILD)/latput.1 $(DESTDIR)$(PREFIX)/share/man/man1/latput.1
	$(BUILD)/latput help --completion bash >$(BUILD)/completion.bash
	install -D -m 644 $(BUILD)/completion.bash $(DESTDIR)$(PREFIX)/$(BASH_COMPLETION)
	$(BUILD)/latput help --completion zsh >$(BUILD)/completion.zsh
	install -D -m 644 $(BUILD)/completion.zsh $(DESTDIR)$(PREFIX)/$(ZSH_COMPLETION)

# Removes what install has put there, and latput's own directories if nothing else is in them.
uninstall:
	cd $(DESTDIR)$(PREFIX) && rm -f bin/latput lib/latput/core64.o lib/latput/core32.o \
		lib/latput/linked64 lib/latput/linked32 lib/latput/published.db* \
		include/latput.h lib/liblatput.a lib/$(USER_SONAME) lib/liblatput.so lib/latput_sqlite.so \
		lib/pkgconfig/latput.pc share/man/man1/latput.1 $(BASH_COMPLETION) $(ZSH_COMPLETION)
	for f in $$($(DATA)) $(KERNEL_FILES); do rm -f $(DESTDIR)$(PREFIX)/share/latput/$$f || exit 1; done
	cd $(DESTDIR)$(PREFIX) && for d in lib/latput share/latput; do \
		[ ! -d $$d ] || find $$d -depth -type d -empty -delete || exit 1; done

# Packs the tree of the last commit, with that commit in VERSION, as an archive that needs no git;
# the same bytes each time.
DIST = latput-$(VERSION)
dist:
	@[ -e .git ] || { echo 'make dist: this is no git checkout' >&2; exit 1; }
	@case '$(COMMIT)' in *-dirty) \
		echo 'make dist: commit or stash the changes first' >&2; exit 1;; esac
	rm -rf $(BUILD)/$(DIST)
	mkdir -p $(BUILD)/$(DIST)
	git archive HEAD | tar -x -C $(BUILD)/$(DIST)
	echo '$(VERSION)' >$(BUILD)/$(DIST)/VERSION
	tar -c --sort=name --owner=0 --group=0 --numeric-owner --mtime="$$(git log -1 --format=%cI)" \
		-C $(BUILD) $(DIST) | gzip -9n >$(BUILD)/$(DIST).tar.gz
	rm -r $(BUILD)/$(DIST)
	@echo $(BUILD)/$(DIST).tar.gz

# Makes a Debian package of this commit or unpacked archive: $(BUILD)/latput_VERSION_amd64.deb.
DEB = $(BUILD)/deb/latput
DEB_VERSION = $(subst -,.,$(VERSION))
MAINTAINER = $(or $(CONTACT),latput developers <nobody@latput.invalid>)
deb:
	rm -rf $(BUILD)/deb
	mkdir -p $(DEB)
	if [ -e .git ]; then git archive HEAD; else tar -c --exclude=./$(BUILD) .; fi | \
		tar -x -C $(DEB)
	echo '$(VERSION)' >$(DEB)/VERSION
	cp -r $(DEB)/packaging/debian $(DEB)/debian
	sed -i 's|^Maintainer:.*|Maintainer: $(MAINTAINER)|' $(DEB)/debian/control
	printf 'latput (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n' \
		'$(DEB_VERSION)' '$(MAINTAINER)' \
		"$$(date -R -d "@$${SOURCE_DATE_EPOCH:-$$(stat -c %Y VERSION)}")" >$(DEB)/debian/changelog
	sed 's/^$$/./; s/^/ /' LICENSE >>$(DEB)/debian/copyright
	cd $(DEB) && dpkg-buildpackage -b -us -uc >../build.log 2>&1 || \
		{ tail -n 40 ../build.log; exit 1; }
	mv $(BUILD)/deb/latput_*.deb $(BUILD)/
	@echo $(BUILD)/latput_$(DEB_VERSION)_amd64.deb

# One file for hosts that have neither latput nor what it needs: $(BUILD)/latput-VERSION-x86_64.run.
KIT_SOURCES = $(wildcard packaging/kit/*.c)
KIT = $(BUILD)/latput-$(VERSION)-x86_64.run
$(BUILD)/kit_starter: $(KIT_SOURCES) packaging/kit/kit.h
	$(call step,CC)$(CC) -static -std=gnu11 -D_GNU_SOURCE $(WARNINGS) \
		-Wno-format-truncation -O2 -s -o $@ $(KIT_SOURCES) -llzma

kit: all $(BUILD)/kit_starter
	$Q$(DATA) | grep -v '^results/' | packaging/kit/make $(BUILD) $(KIT) $(CORES)
	@echo $(KIT)

release:
	tools/release $(if $(TAG),--tag)

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
# Sources that have moved since the last build are still named in its dependency files; -MP covers
# headers only.
MOVED := $(shell find $(BUILD) -name '*.d' -exec grep -ohE '[^ ]+\.c\>' {} + 2>/dev/null | \
	sort -u | while read -r file; do [ -e "$$file" ] || echo "$$file"; done)
$(MOVED):
