// SPDX-License-Identifier: MIT
// Validation against an oracle that records its questions and answers with known errors: the forms
// that are drawn, the content of the mixes, and the figures.

#include "fixtures/lists_fixture.h"
#include "plan/plan.h"
#include "store/store_ports.h"
#include "store/store_validation.h"
#include "util/random.h"
#include "validate/validate.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { PORTS = 4, SLOTS_WIDTH = 6 };

static const struct port_model model = {.width = SLOTS_WIDTH, .nports = PORTS, .filler = -1};

// One µop for all four ports and one slot.
static const struct port_usage one_uop = {
    .uses = {1,           1, {{0xf, 1}}},
      .front = {.slots = 1}
};

static int compare_usages(const void *a, const void *b)
{
    return stored_form_compare(&((const struct stored_port_usage *)a)->form,
                               &((const struct stored_port_usage *)b)->form);
}

static int compare_forms(const void *a, const void *b)
{
    return stored_form_compare(a, b);
}

// Usages of rows, one µop each; ends with NULL.
struct chosen {
    struct arena arena;
    struct selected_row rows[32];
    struct stored_port_usage usages[32];
    int n;
    struct validate_forms forms;
};

static void chosen_rows(struct chosen *chosen, const char *const *forms)
{
    *chosen = (struct chosen){.n = 0};
    for (; forms[chosen->n]; chosen->n++) {
        const struct selected_row *row = lists_selected(forms[chosen->n], 64);
        chosen->rows[chosen->n] = *row;
        chosen->usages[chosen->n] =
            (struct stored_port_usage){stored_form_of(row->row), one_uop, 0};
    }
}

static struct stored_port_usage *chosen_usage(struct chosen *chosen, const char *form)
{
    for (int i = 0; i < chosen->n; i++)
        if (strcmp(chosen->usages[i].form.form, form) == 0)
            return &chosen->usages[i];
    fail_msg("no usage of %s", form);
    return NULL;
}

static void chosen_choose(struct chosen *chosen)
{
    qsort(chosen->usages, (size_t)chosen->n, sizeof *chosen->usages, compare_usages);
    const struct stored_port_usages usages = {chosen->usages, chosen->n};
    const struct port_model divided = {.nunits = 1, .units = {{.name = "DIV"}}};
    chosen->forms = validate_choose(&divided, chosen->rows, chosen->n, &usages, &chosen->arena);
}

static const struct validate_form *chosen_form(const struct chosen *chosen, const char *form)
{
    for (int i = 0; i < chosen->forms.n; i++)
        if (strcmp(chosen->forms.forms[i].row->form, form) == 0)
            return &chosen->forms.forms[i];
    return NULL;
}

// Moves that cut the dependencies of a form have ports of their own, if all forms have; also moves
// of 512 bits, which have no shorter encoding.
static void test_moves(void **state)
{
    (void)state;
    struct stored_form *forms = calloc((size_t)lists_all.nrows, sizeof *forms);
    int n = 0, moves = 0;
    for (int i = 0; i < lists_all.nrows; i++)
        forms[n++] = stored_form_of(lists_all.rows[i].row);
    qsort(forms, (size_t)n, sizeof *forms, compare_forms);
    for (int i = 0; i < lists_all.nrows; i++) {
        const struct list_row *row = lists_all.rows[i].row;
        const char *breakers[MIX_BREAKERS_MAX];
        int nbreakers = row->bits == 64 ? mix_breakers(row, BREAK_ALL, breakers) : 0;
        for (int b = 0; b < nbreakers; b++, moves++)
            if (!stored_form_find_move(breakers[b], forms, n, sizeof *forms))
                fail_msg("%s: nothing has the ports of %s", row->form, breakers[b]);
    }
    assert_true(moves > 1000);
    free(forms);
}

// --- the oracle ---

struct fake {
    const struct validate_forms *forms;
    struct port_mix *mixes;
    int n, fail_every;
    int alone; // mixes of one form that ask how long decoding takes, asked for first
    double
        decoding_clk;  // that instances of forms with a 16-bit immediate take longer where decoded
    bool uncached;     // and are, in short bodies, too
    const char *waits; // a form whose instances wait for what they write, 15 cycles each
    double busy_clk;   // that every form takes alone, whatever its registers
    bool broken;
    double factor[3]; // of the prediction, in turns
};

static double predict(const struct validate_forms *forms, const struct port_mix *mix)
{
    const struct port_usage *usages[PORT_MIX_PARTS_MAX];
    int counts[PORT_MIX_PARTS_MAX];
    for (int i = 0; i < mix->nparts; i++) {
        usages[i] = &forms->forms[mix->parts[i].form].usage;
        counts[i] = mix->parts[i].count;
    }
    return port_predict(&model, usages, counts, mix->nparts);
}

enum { CACHED_MOST = 1000 }; // instances that a µop cache holds

static int fake_decoding(struct fake *fake, const struct port_mix *mixes, int n,
                         struct port_timing *timings)
{
    fake->alone += n;
    for (int i = 0; i < n; i++) {
        assert_int_equal(mixes[i].nparts, 1);
        assert_non_null(strstr(fake->forms->forms[mixes[i].parts[0].form].row->form, "i16"));
        bool decodes = fake->uncached || mixes[i].parts[0].count > CACHED_MOST;
        int decoded = decodes ? mixes[i].parts[0].count : 0;
        timings[i] = (struct port_timing){.outcome = OUTCOME_OK,
                                          .clk = predict(fake->forms, &mixes[i]) +
                                                 decoded * fake->decoding_clk};
    }
    return 0;
}

enum { FAKE_LATENCY = 15, FAKE_REGISTERS = 4 };

static int fake_waiting(struct fake *fake, const struct port_mix *mixes, int n,
                        struct port_timing *timings)
{
    for (int i = 0; i < n; i++) {
        const struct port_part *part = &mixes[i].parts[0];
        assert_int_equal(mixes[i].nparts, 1);
        double clk = fmax(predict(fake->forms, &mixes[i]), fake->busy_clk * part->count);
        if (fake->waits && strcmp(fake->forms->forms[part->form].row->form, fake->waits) == 0)
            clk = fmax(clk, FAKE_LATENCY * part->count /
                                (mixes[i].orders & PORT_MIX_SINGLE ? 1 : FAKE_REGISTERS));
        timings[i] = (struct port_timing){.outcome = OUTCOME_OK, .clk = clk};
    }
    return 0;
}

static int fake_measure(void *context, const struct port_mix *mixes, int n,
                        struct port_timing *timings, struct err *err)
{
    struct fake *fake = context;
    if (fake->broken)
        return err_set(err, "the oracle is gone");
    if (n > 0 && mixes[0].nparts == 1 && mixes[0].orders & 1u << MIX_BLOCKS)
        return fake_decoding(fake, mixes, n, timings);
    if (n > 0 && mixes[0].nparts == 1)
        return fake_waiting(fake, mixes, n, timings);
    fake->mixes = xrealloc(fake->mixes, (size_t)n * sizeof *mixes);
    memcpy(fake->mixes, mixes, (size_t)n * sizeof *mixes);
    fake->n = n;
    for (int i = 0; i < n; i++) {
        bool fails = fake->fail_every && i % fake->fail_every == 0;
        timings[i] =
            (struct port_timing){.outcome = fails ? OUTCOME_UNSTABLE : OUTCOME_OK,
                                 .clk = predict(fake->forms, &mixes[i]) / fake->factor[i % 3]};
        if (fails)
            timings[i].clk = (double)NAN;
    }
    return 0;
}

static int fake_validate(struct fake *fake, struct chosen *chosen, int wanted, uint64_t seed,
                         struct validation *result, struct err *err)
{
    fake->forms = &chosen->forms;
    for (int i = 0; i < 3; i++)
        fake->factor[i] = fake->factor[i] > 0 ? fake->factor[i] : 1;
    const struct port_oracle oracle = {.measure = fake_measure, .context = fake};
    const struct validate_trial trial = {.forms = &chosen->forms,
                                         .model = &model,
                                         .oracle = &oracle,
                                         .wanted = wanted,
                                         .seed = seed};
    struct validate_mixes mixes;
    if (validate_measure(&trial, &chosen->arena, &mixes, err) != 0)
        return -1;
    *result = validate_figures(&chosen->forms, &mixes, seed, &chosen->arena);
    return 0;
}

static const char *const varied[] = {
    "mov r32 i32",    "add r64 r64", "shlx r64 r64 r64", "vpaddb x x x", "vpaddb y y y",
    "paddb x x",      "mulps x x",   "kandw k k k",      "mov r64 m64",  "mov m64 r64",
    "vmovaps y m256", "mov r64 r64", "movaps x x",       "vmovaps x x",  "vmovaps y y",
    "vmulps y y y",   "add r64 m64", "kmovw k k",        "test r32 r32", NULL};

// --- tests ---

static void expect_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.9g, expected %.9g", value, expected);
}

// The definition: every pair.
static double kendall_of_pairs(const double *a, const double *b, int n)
{
    int64_t agree = 0, ties_a = 0, ties_b = 0, pairs = (int64_t)n * (n - 1) / 2;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            int order_a = (a[i] > a[j]) - (a[i] < a[j]);
            int order_b = (b[i] > b[j]) - (b[i] < b[j]);
            agree += order_a * order_b;
            ties_a += order_a == 0;
            ties_b += order_b == 0;
        }
    double scale = sqrt((double)(pairs - ties_a)) * sqrt((double)(pairs - ties_b));
    return scale > 0 ? (double)agree / scale : (double)NAN;
}

// Against the definition, with many ties and with few, of every small length.
static void test_kendall_pairs(void **state)
{
    (void)state;
    double a[200], b[200];
    uint64_t random = 1;
    for (int kinds = 1; kinds <= 1000; kinds *= 10)
        for (int n = 0; n <= 200; n += n < 40 ? 1 : 31) {
            for (int i = 0; i < n; i++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                a[i] = (double)(random >> 40) * kinds / (1 << 24);
                a[i] = floor(a[i]);
                random = random * 6364136223846793005u + 1442695040888963407u;
                b[i] = random >> 63 ? a[i] : floor((double)(random >> 40) * kinds / (1 << 24));
            }
            double wanted = kendall_of_pairs(a, b, n), got = validate_kendall(a, b, n);
            if (isnan(wanted) ? !isnan(got) : fabs(wanted - got) > 1e-12)
                fail_msg("%d points of %d values: %g instead of %g", n, kinds, got, wanted);
        }
}

// A million points: 10^12 pairs would take half an hour.
static void test_kendall_long(void **state)
{
    (void)state;
    enum { POINTS = 1000000 };
    double *a = malloc(POINTS * sizeof *a), *b = malloc(POINTS * sizeof *b);
    assert_true(a && b);
    for (int i = 0; i < POINTS; i++) {
        a[i] = i;
        b[i] = POINTS - i;
    }
    expect_near(validate_kendall(a, b, POINTS), -1, 1e-12);
    free(a);
    free(b);
}

static void test_kendall(void **state)
{
    (void)state;
    const double up[] = {1, 2, 3, 4}, down[] = {4, 3, 2, 1}, swapped[] = {1, 3, 2, 4};
    const double constant[] = {5, 5, 5, 5};
    double many[200], reverse[200]; // never beyond 1: the database refuses that
    for (int i = 0; i < 200; i++)
        reverse[i] = -(many[i] = i);
    for (int n = 2; n <= 200; n++) {
        assert_true(validate_kendall(many, many, n) == 1);
        assert_true(validate_kendall(many, reverse, n) == -1);
    }
    expect_near(validate_kendall(up, up, 4), 1, 1e-12);
    expect_near(validate_kendall(up, down, 4), -1, 1e-12);
    expect_near(validate_kendall(up, swapped, 4), 4.0 / 6, 1e-12);
    assert_true(isnan(validate_kendall(up, constant, 4)));
    assert_true(isnan(validate_kendall(constant, up, 4)));
    const double a[] = {1, 1, 2, 3, 3}, b[] = {1, 2, 2, 3, 1};
    // 1-3: +, 1-4: +, 2-4: +, 3-4: +, 2-5: -, 3-5: -; 1-2 and 4-5 are ties in a, 2-3 and 1-5 in b.
    expect_near(validate_kendall(a, b, 5), (4 - 2) / 8.0, 1e-12);
    assert_true(isnan(validate_kendall(up, up, 1)));
}

// The same seed draws the same mixes; another draws others.
static void test_seed(void **state)
{
    (void)state;
    struct chosen chosen;
    struct validation result;
    struct err err = {0};
    struct fake first = {.n = 0}, again = {.n = 0}, other = {.n = 0};
    chosen_rows(&chosen, varied);
    chosen_choose(&chosen);
    assert_int_equal(fake_validate(&first, &chosen, 200, 7, &result, &err), 0);
    assert_int_equal(result.seed, 7);
    assert_int_equal(fake_validate(&again, &chosen, 200, 7, &result, &err), 0);
    assert_int_equal(fake_validate(&other, &chosen, 200, 8, &result, &err), 0);
    assert_true(first.n >= 200 && first.n == again.n && first.n == other.n);
    int same = 0;
    for (int i = 0; i < first.n; i++) {
        assert_int_equal(first.mixes[i].nparts, again.mixes[i].nparts);
        bool equal = first.mixes[i].nparts == other.mixes[i].nparts;
        for (int p = 0; p < first.mixes[i].nparts; p++) {
            assert_int_equal(first.mixes[i].parts[p].form, again.mixes[i].parts[p].form);
            assert_int_equal(first.mixes[i].parts[p].count, again.mixes[i].parts[p].count);
            equal &= first.mixes[i].parts[p].form == other.mixes[i].parts[p].form;
        }
        same += equal;
    }
    assert_true(same < first.n / 10);
    free(first.mixes);
    free(again.mixes);
    free(other.mixes);
    arena_free(&chosen.arena);
}

// Two forms with ports in common, one instance of one beside 3 to 12 of the other, in either order.
static void test_ratios(void **state)
{
    (void)state;
    struct chosen chosen;
    struct err err = {0};
    struct fake fake = {
        .factor = {1, 1, 1}
    };
    struct validate_mixes mixes;
    chosen_rows(&chosen, varied);
    chosen_usage(&chosen, "paddb x x")->usage.uses.use[0].set = 0x30; // with nobody
    chosen_choose(&chosen);
    fake.forms = &chosen.forms;
    const struct port_oracle oracle = {.measure = fake_measure, .context = &fake};
    const struct validate_trial trial = {.forms = &chosen.forms,
                                         .model = &model,
                                         .oracle = &oracle,
                                         .wanted = 400,
                                         .seed = 1,
                                         .kind = VALIDATE_RATIOS};
    assert_int_equal(validate_measure(&trial, &chosen.arena, &mixes, &err), 0);
    assert_int_equal(mixes.n, 400);
    int first = 0, apart = 0;
    for (int i = 0; i < mixes.n; i++) {
        const struct port_part *parts = mixes.mixes[i].mix.parts;
        assert_int_equal(mixes.mixes[i].mix.nparts, 2);
        int few = parts[0].count < parts[1].count ? 0 : 1;
        assert_int_equal(parts[few].count, 1);
        assert_in_range(parts[!few].count, 3, 12);
        first += few == 0;
        apart += !(chosen.forms.forms[parts[0].form].usage.uses.use[0].set &
                   chosen.forms.forms[parts[1].form].usage.uses.use[0].set);
    }
    assert_in_range(first, 120, 280);
    assert_true(apart < 100); // only where there is no other
    free(fake.mixes);
    arena_free(&chosen.arena);
}

static int divisor(int a, int b)
{
    return b ? divisor(b, a % b) : a;
}

// 2 to 8 parts, 1 to 3 instances repeated to a body of some 128, all classes, all orders; legacy
// SIMD never beside wide vectors.
static void test_draw(void **state)
{
    (void)state;
    struct chosen chosen;
    struct validation result;
    struct err err = {0};
    struct fake fake = {.n = 0};
    chosen_rows(&chosen, varied);
    chosen_choose(&chosen);
    assert_int_equal(fake_validate(&fake, &chosen, 2000, 1, &result, &err), 0);
    assert_int_equal(result.mixes, 2000);
    int parts[10] = {0}, counts[5] = {0}, drawn[32] = {0}, legacy_mixes = 0, wide_mixes = 0;
    for (int i = 0; i < fake.n; i++) {
        const struct port_mix *mix = &fake.mixes[i];
        assert_in_range(mix->nparts, 2, 8);
        assert_int_equal(mix->orders, MIX_ORDERS_ALL | PORT_MIX_INDEPENDENT);
        parts[mix->nparts]++;
        bool legacy = false, wide = false;
        int repeats = 0, instances = 0;
        for (int p = 0; p < mix->nparts; p++) {
            repeats = divisor(mix->parts[p].count, repeats);
            instances += mix->parts[p].count;
        }
        assert_in_range(instances, 105, 128);
        for (int p = 0; p < mix->nparts; p++) {
            assert_in_range(mix->parts[p].count / repeats, 1, 3);
            assert_in_range(mix->parts[p].form, 0, chosen.forms.n - 1);
            counts[mix->parts[p].count / repeats]++;
            drawn[mix->parts[p].form]++;
            const struct list_row *row = chosen.forms.forms[mix->parts[p].form].row;
            for (int op = 0; op < row->nops; op++) {
                legacy |= row->ops[op].kind == OPERAND_VEC && row->enc == ENC_LEGACY;
                wide |= row->ops[op].kind == OPERAND_VEC && row->ops[op].bits > 128;
            }
        }
        assert_false(legacy && wide);
        legacy_mixes += legacy;
        wide_mixes += wide;
    }
    for (int n = 2; n <= 8; n++)
        assert_true(parts[n] > fake.n / 10);
    for (int n = 1; n <= 3; n++)
        assert_true(counts[n] > fake.n);
    for (int form = 0; form < chosen.forms.n; form++)
        assert_true(drawn[form] > 0);
    assert_true(legacy_mixes > fake.n / 10 && wide_mixes > fake.n / 10);
    free(fake.mixes);
    arena_free(&chosen.arena);
}

// A gather's index can be wide where its other operands are not.
static void test_wide_index(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "paddb x x", "movaps x x", "mov r32 i32", "vpgatherqd x vm64y x", "vmovaps y y", NULL};
    struct chosen chosen;
    struct validation result;
    struct err err = {0};
    struct fake fake = {.n = 0};
    chosen_rows(&chosen, forms);
    chosen_choose(&chosen);
    assert_non_null(chosen_form(&chosen, "vpgatherqd x vm64y x"));
    assert_int_equal(fake_validate(&fake, &chosen, 200, 1, &result, &err), 0);
    int gathers = 0;
    for (int i = 0; i < fake.n; i++) {
        bool gather = false, legacy = false;
        for (int p = 0; p < fake.mixes[i].nparts; p++) {
            const char *form = chosen.forms.forms[fake.mixes[i].parts[p].form].row->form;
            gather |= strncmp(form, "vpgather", 8) == 0;
            legacy |= strcmp(form, "paddb x x") == 0;
        }
        gathers += gather;
        assert_false(gather && legacy);
    }
    assert_true(gathers > 0);
    free(fake.mixes);
    arena_free(&chosen.arena);
}

// Neither wide registers nor wide memory beside legacy SSE.
static void test_wide_memory(void **state)
{
    (void)state;
    static const char *const forms[] = {"paddb x x",   "movaps x x",       "vpaddb x x x",
                                        "vmovaps x x", "vcvtpd2ps x m256", "vcvtpd2ps x m128",
                                        NULL};
    struct chosen chosen;
    struct validation result;
    struct err err = {0};
    struct fake fake = {.n = 0};
    chosen_rows(&chosen, forms);
    chosen_choose(&chosen);
    assert_int_equal(chosen.forms.n, 6);
    assert_int_equal(fake_validate(&fake, &chosen, 300, 1, &result, &err), 0);
    int narrow = 0, wide = 0;
    for (int i = 0; i < fake.n; i++) {
        bool has_wide = false, has_narrow = false, legacy = false;
        for (int p = 0; p < fake.mixes[i].nparts; p++) {
            const struct list_row *row = chosen.forms.forms[fake.mixes[i].parts[p].form].row;
            has_wide |= strcmp(row->form, "vcvtpd2ps x m256") == 0;
            has_narrow |= strcmp(row->form, "vcvtpd2ps x m128") == 0;
            legacy |= row->enc == ENC_LEGACY;
        }
        assert_false(legacy && has_wide);
        narrow += legacy && has_narrow;
        wide += has_wide;
    }
    assert_true(narrow > 20 && wide > 20);
    free(fake.mixes);
    arena_free(&chosen.arena);
}

// A form that the decoders are slow with is in no mix; where they are not, it is. What the run has
// stored of it is not measured again.
static void test_decoding(void **state)
{
    (void)state;
    for (int how = 0; how < 6; how++) {
        bool slow = how % 2, known = how / 2 == 1, uncached = how / 2 == 2;
        struct chosen chosen;
        struct validation result;
        struct err err = {0};
        struct fake fake = {.decoding_clk = slow ? 2.7 : 0.4, .uncached = uncached};
        chosen_rows(&chosen,
                    (const char *const[]){"or r16 i16", "add r32 i32", "mov r32 i32",
                                          "shlx r64 r64 r64", "mov r64 r64", "test r32 r32", NULL});
        chosen_choose(&chosen);
        int form = (int)(chosen_form(&chosen, "or r16 i16") - chosen.forms.forms), drawn = 0;
        chosen.forms.forms[form].decode_clk = known ? slow * 2.7 : (double)NAN;
        assert_int_equal(fake_validate(&fake, &chosen, 200, 1, &result, &err), 0);
        for (int i = 0; i < fake.n; i++)
            for (int p = 0; p < fake.mixes[i].nparts; p++)
                drawn += fake.mixes[i].parts[p].form == form;
        assert_int_equal(fake.alone, known ? 0 : 2);
        assert_int_equal(chosen.forms.left_out[VALIDATE_DECODING], slow);
        assert_true(slow ? drawn == 0 : drawn > 20);
        free(fake.mixes);
        arena_free(&chosen.arena);
    }
}

// A form whose instances wait for the register that they write is in no mix, unless it takes as
// long with any number of registers.
static void test_waiting(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct chosen chosen;
        struct validation result;
        struct err err = {0};
        struct fake fake = {.waits = how == 1 ? "vpaddb x x x" : NULL,
                            .busy_clk = how == 2 ? 5 : 0};
        chosen_rows(&chosen, varied);
        chosen_choose(&chosen);
        assert_int_equal(fake_validate(&fake, &chosen, 300, 1, &result, &err), 0);
        int waits = 0;
        for (int i = 0; i < chosen.forms.n; i++) {
            bool this = fake.waits && strcmp(chosen.forms.forms[i].row->form, fake.waits) == 0;
            assert_int_equal(chosen.forms.forms[i].waits, this);
            waits += this;
        }
        assert_int_equal(waits, how == 1);
        assert_int_equal(chosen.forms.left_out[VALIDATE_REGISTER], waits);
        assert_int_equal(result.mixes, how == 1 ? result.mixes : 300);
        assert_true(result.mixes > 200);
        free(fake.mixes);
        arena_free(&chosen.arena);
    }
}

// A table of one kind of forms must give mixes, too: all legacy, or all wide.
static void test_one_kind(void **state)
{
    (void)state;
    static const char *const kinds[2][4] = {
        {"paddb x x",    "mulps x x",    "movaps x x",  NULL},
        {"vpaddb y y y", "vmulps y y y", "vmovaps y y", NULL},
    };
    for (int kind = 0; kind < 2; kind++) {
        struct chosen chosen;
        struct validation result;
        struct err err = {0};
        struct fake fake = {.n = 0};
        chosen_rows(&chosen, kinds[kind]);
        chosen_choose(&chosen);
        assert_int_equal(chosen.forms.n, 3);
        assert_int_equal(fake_validate(&fake, &chosen, 50, 1, &result, &err), 0);
        assert_int_equal(result.mixes, 50);
        free(fake.mixes);
        arena_free(&chosen.arena);
    }
}

static void test_choose(void **state)
{
    (void)state;
    struct chosen chosen;
    chosen_rows(&chosen,
                (const char *const[]){"add m64 r64", "add r64 r64", "mov r64 m64", "mov m64 r64",
                                      "imul r64 r64 i8", "shlx r64 r64 r64", "blsr r64 r64",
                                      "mov r64 r64", "vpaddb x x x", "mulps x x", "bswap r64",
                                      "movnti m64 r64", "fadd st st0", NULL});
    chosen_usage(&chosen, "imul r64 r64 i8")->usage.outcome = OUTCOME_UNSTABLE;
    chosen_usage(&chosen, "blsr r64 r64")->usage.front.slots = (double)NAN;
    chosen_usage(&chosen, "shlx r64 r64 r64")->usage.front.slots = 5;
    chosen_usage(&chosen, "bswap r64")->usage.demands =
        (struct port_demands){1, {{.unit = -1, .clk = 50}}};
    chosen_usage(&chosen, "mov m64 r64")->usage.demands =
        (struct port_demands){1, {{.unit = 0, .clk = 5}}}; // a path would be busy for less
    chosen_usage(&chosen, "mov r64 r64")->usage = (struct port_usage){
        .uses = {2,                     3, {{0x3, 1}, {0xf, 2}}},
          .front = {.slots = 2}
    };
    chosen_choose(&chosen);
    // Reads and writes memory: each instance has a place of its own. The move of mulps has no
    // usage.
    assert_string_equal(validate_class_name(chosen_form(&chosen, "add m64 r64")->class), "store");
    assert_null(chosen_form(&chosen, "mulps x x"));
    assert_int_equal(chosen.forms.left_out[VALIDATE_MOVES], 1);
    assert_null(chosen_form(&chosen, "fadd st st0"));
    assert_int_equal(chosen.forms.left_out[VALIDATE_X87], 1);
    assert_int_equal(chosen.forms.left_out[VALIDATE_NO_SLOTS], 1);
    assert_int_equal(chosen.forms.left_out[VALIDATE_LONG], 1);
    assert_null(chosen_form(&chosen, "movnti m64 r64")); // waits for memory: in no mix
    // No usage to speak of, or too long.
    assert_null(chosen_form(&chosen, "imul r64 r64 i8"));
    assert_null(chosen_form(&chosen, "blsr r64 r64"));
    assert_null(chosen_form(&chosen, "bswap r64"));
    // The classes.
    static const struct {
        const char *form, *class;
    } classes[] = {
        {"add r64 r64",      "general-purpose"},
        {"mov r64 m64",      "load"           },
        {"mov m64 r64",      "non-pipelined"  },
        {"shlx r64 r64 r64", "microcode"      },
        {"vpaddb x x x",     "vector"         },
    };
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        assert_string_equal(validate_class_name(chosen_form(&chosen, classes[i].form)->class),
                            classes[i].class);
    // An add comes with the move in front of it, µop by µop.
    const struct port_usage *add = &chosen_form(&chosen, "add r64 r64")->usage;
    assert_int_equal(add->uses.n, 2);
    assert_int_equal(add->uses.use[0].set, 0xf);
    assert_int_equal(add->uses.use[0].uops, 3);
    assert_int_equal(add->uses.use[1].set, 0x3);
    assert_int_equal(add->uses.use[1].uops, 1);
    assert_int_equal(add->uses.uops, 4);
    expect_near(add->front.slots, 3, 1e-12);
    // One that needs none is as stored.
    assert_int_equal(chosen_form(&chosen, "vpaddb x x x")->usage.uses.uops, 1);
    arena_free(&chosen.arena);
}

// Predictions that are right, 5 % too large and 20 % too small, in turns.
static void test_figures(void **state)
{
    (void)state;
    struct chosen chosen;
    struct validation result;
    struct err err = {0};
    struct fake fake = {
        .factor = {1, 1.05, 0.8}
    };
    chosen_rows(&chosen, varied);
    chosen_choose(&chosen);
    assert_int_equal(fake_validate(&fake, &chosen, 300, 3, &result, &err), 0);
    assert_int_equal(result.mixes, 300);
    expect_near(result.mape_percent, (0.0 + 5 + 20) / 3, 1e-6);
    expect_near(result.within_10_percent, 200.0 / 3, 1e-6);
    assert_int_equal(result.nworst, 20);
    double error = 1;
    for (int i = 0; i < result.nworst; i++) {
        double mine = fabs(result.worst[i].predicted_clk / result.worst[i].measured_clk - 1);
        expect_near(mine, 0.2, 1e-6);
        // The time of one mix: at most 24 µops on four ports, or six slots.
        assert_true(result.worst[i].predicted_clk <= 2 * 24.0 / PORTS);
        assert_true(mine <= error + 1e-9);
        error = mine;
        assert_non_null(strchr(result.worst[i].text, '*'));
    }
    // By class: recomputed from what the oracle was asked.
    int classes = 0;
    for (int class = 0; class < VALIDATE_CLASSES; ++class) {
        int mixes = 0, within = 0;
        double sum = 0;
        for (int i = 0; i < 300; i++) {
            bool has = false;
            for (int p = 0; p < fake.mixes[i].nparts; p++)
                has |= chosen.forms.forms[fake.mixes[i].parts[p].form].class == class;
            mixes += has;
            within += has && i % 3 != 2;
            sum += has ? (i % 3 == 0 ? 0 : i % 3 == 1 ? 5 : 20) : 0;
        }
        for (int c = 0; c < result.nclasses; c++) {
            if (strcmp(result.classes[c].name, validate_class_name(class)) != 0)
                continue;
            classes++;
            assert_int_equal(result.classes[c].mixes, mixes);
            expect_near(result.classes[c].mape_percent, sum / mixes, 1e-6);
            expect_near(result.classes[c].within_10_percent, 100.0 * within / mixes, 1e-6);
        }
    }
    assert_true(classes >= 5);
    free(fake.mixes);
    arena_free(&chosen.arena);
}

static const struct validation_class *figures_of(const struct validation *result, const char *name)
{
    for (int i = 0; i < result->nclasses; i++)
        if (strcmp(result->classes[i].name, name) == 0)
            return &result->classes[i];
    return NULL;
}

// Mixes of known forms and times: what they have in common decides where they count.
static void test_groups(void **state)
{
    (void)state;
    static const char *const rows[] = {"shlx r64 r64 r64", "vpaddb x x x", "vpaddb y y y",
                                       "vpaddd z z z", NULL};
    struct chosen chosen;
    chosen_rows(&chosen, rows);
    chosen_usage(&chosen, "vpaddb y y y")->usage.ambiguous = true;
    chosen_choose(&chosen);
    assert_int_equal(chosen.forms.n, 4);
    int at[4];
    for (int i = 0; i < 4; i++)
        at[i] = (int)(chosen_form(&chosen, rows[i]) - chosen.forms.forms);
    struct validate_mix mixes[] = {
        {{.parts = {{at[0], 1}, {at[1], 2}}, .nparts = 2},             2, 2.5 }, // 128
        {{.parts = {{at[0], 1}, {at[2], 1}, {at[1], 1}}, .nparts = 3}, 2, 1   }, // 256, 128
        {{.parts = {{at[3], 1}, {at[2], 1}, {at[1], 1}}, .nparts = 3}, 4, 4.25}, // all
        {{.parts = {{at[3], 3}}, .nparts = 1},                         3, 3   }, // 512
        {{.parts = {{at[0], 1}}, .nparts = 1},                         1, 1   }, // none
    };
    const struct validate_mixes all = {.mixes = mixes, .n = (int)ARRAY_LEN(mixes)};
    struct validation result = validate_figures(&chosen.forms, &all, 1, &chosen.arena);
    static const struct {
        const char *name;
        int mixes;
        double mape_percent, within_10_percent;
    } wanted[] = {
        {"general-purpose",  3, 25,       100.0 / 3},
        {"vector",           4, 20.3125,  50       },
        {"no vectors",       1, 0,        100      },
        {"only 128 bits",    1, 25,       0        },
        {"only 512 bits",    1, 0,        100      },
        {"256 and 128 bits", 2, 28.125,   50       },
        {"512 and 128 bits", 1, 6.25,     100      },
        {"512 and 256 bits", 1, 6.25,     100      },
        {"certain ports",    3, 25.0 / 3, 200.0 / 3},
        {"ambiguous ports",  2, 28.125,   50       },
    };
    assert_int_equal(result.nclasses, ARRAY_LEN(wanted));
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        const struct validation_class *class = figures_of(&result, wanted[i].name);
        assert_non_null(class);
        assert_int_equal(class->mixes, wanted[i].mixes);
        expect_near(class->mape_percent, wanted[i].mape_percent, 1e-9);
        expect_near(class->within_10_percent, wanted[i].within_10_percent, 1e-9);
    }
    struct strbuf csv = {0};
    validate_csv(&chosen.forms, &model, &all, &csv);
    assert_string_equal(strbuf_text(&csv),
                        "mix,measured_clk,predicted_clk,vector_bits,ambiguous,front_clk,"
                        "ports_clk,unit_clk,unit,unknown_clk\n"
                        "1*shlx r64 r64 r64; 2*vpaddb x x x,2.000,2.500,128,0,0.500,0.750,"
                        "0.000,,0.000\n"
                        "1*shlx r64 r64 r64; 1*vpaddb y y y; 1*vpaddb x x x,2.000,1.000,256,1,"
                        "0.500,0.750,0.000,,0.000\n"
                        "1*vpaddd z z z; 1*vpaddb y y y; 1*vpaddb x x x,4.000,4.250,512,1,0.500,"
                        "0.750,0.000,,0.000\n"
                        "3*vpaddd z z z,3.000,3.000,512,0,0.500,0.750,0.000,,0.000\n"
                        "1*shlx r64 r64 r64,1.000,1.000,0,0,0.167,0.250,0.000,,0.000\n");
    strbuf_free(&csv);
    arena_free(&chosen.arena);
}

// A file of mixes, which the caller unlinks.
static void write_mixes(char path[32], const char *text)
{
    strcpy(path, "/tmp/latput_mixes_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static int read_again(struct chosen *chosen, const char *text, struct validate_mixes *mixes,
                      struct err *err)
{
    char path[32];
    write_mixes(path, text);
    const struct validate_again again = {&chosen->forms, &model};
    int status = validate_again(path, &again, &chosen->arena, mixes, err);
    unlink(path);
    return status;
}

// Mixes that were written are read again, whatever was predicted of them then.
static void test_again(void **state)
{
    (void)state;
    static const char *const rows[] = {"shlx r64 r64 r64", "vpaddb x x x", NULL};
    struct chosen chosen;
    struct validate_mixes mixes;
    struct err err = {0};
    chosen_rows(&chosen, rows);
    chosen_choose(&chosen);
    assert_int_equal(read_again(&chosen,
                                "mix,measured_clk,predicted_clk,vector_bits,ambiguous\n"
                                "1*shlx r64 r64 r64; 7*vpaddb x x x,2.500,9.0,128,0\n"
                                "1*shlx r64 r64 r64; 1*fsqrt,2.000,1.0,0,0\n"
                                "6*vpaddb x x x,1.500,1.0,128,0\n",
                                &mixes, &err),
                     0);
    assert_int_equal(mixes.n, 2);
    assert_int_equal(mixes.unknown, 1);
    assert_int_equal(mixes.mixes[0].mix.nparts, 2);
    assert_int_equal(mixes.mixes[0].mix.parts[1].count, 7);
    expect_near(mixes.mixes[0].measured_clk, 2.5, 1e-9);
    expect_near(mixes.mixes[0].predicted_clk, 2, 0.01); // eight on four ports
    expect_near(mixes.mixes[1].predicted_clk, 1.5, 0.01);
    static const char *const bad[][2] = {
        {"mix,measured_clk\nvpaddb x x x,1\n",                     ":2: a mix is "       },
        {"mix,measured_clk\n0*vpaddb x x x,1\n",                   ":2: a mix is "       },
        {"mix,measured_clk\n2*,1\n",                               ":2: a mix is "       },
        {"mix,measured_clk\n1*vpaddb x x x,fast\n",                ":2: measured_clk is "},
        {"mix,measured_clk\n1*vpaddb x x x,-1\n",                  ":2: measured_clk is "},
        {"mix,measured_clk\n1*vpaddb x x x,nan\n",                 ":2: measured_clk is "},
        {"mix,measured_clk\n1*vpaddb x x x,1\n1*fsqrt,1\n1*f,1\n", "fewer than 2"        },
        {"mixes\n",                                                "mixes"               },
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_int_equal(read_again(&chosen, bad[i][0], &mixes, &err), -1);
        if (!strstr(err.text, bad[i][1]))
            fail_msg("%s: %s", bad[i][0], err.text);
    }
    arena_free(&chosen.arena);
}

// A form and the move in front of it may both use other ports beside wide forms, or one of them.
static void test_wide_uses(void **state)
{
    (void)state;
    static const char *const rows[] = {"vfmadd231ps x x x", "vmovaps x x", NULL};
    static const struct {
        uint32_t form_wide, move_wide; // sets beside wide forms; 0: as alone
    } cases[] = {
        {0,   0  },
        {0x2, 0  },
        {0,   0x8},
        {0x2, 0x8},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct chosen chosen;
        chosen_rows(&chosen, rows);
        for (int f = 0; f < 2; f++) {
            struct port_usage *usage = &chosen_usage(&chosen, rows[f])->usage;
            uint32_t wide = f ? cases[i].move_wide : cases[i].form_wide;
            usage->uses.use[0].set = f ? 0xd : 0x3;
            usage->wide_uses.n = wide != 0;
            usage->wide_uses.use[0] = (struct port_use){wide, 1};
        }
        chosen_choose(&chosen);
        const struct port_usage *usage = &chosen_form(&chosen, rows[0])->usage;
        assert_int_equal(usage->uses.n, 2);
        assert_int_equal(usage->uses.use[0].set, 0x3);
        assert_int_equal(usage->uses.use[1].set, 0xd);
        assert_int_equal(usage->wide_uses.n, cases[i].form_wide || cases[i].move_wide ? 2 : 0);
        if (usage->wide_uses.n) {
            assert_int_equal(usage->wide_uses.use[0].set, cases[i].form_wide ? 0x2 : 0x3);
            assert_int_equal(usage->wide_uses.use[1].set, cases[i].move_wide ? 0x8 : 0xd);
        }
        arena_free(&chosen.arena);
    }
}

// The worst come first, the same ones whatever their order.
static void test_worst(void **state)
{
    (void)state;
    struct chosen chosen;
    struct validation result;
    struct err err = {0};
    struct fake fake = {
        .factor = {1.3, 1.2, 1.1}
    };
    chosen_rows(&chosen, varied);
    chosen_choose(&chosen);
    assert_int_equal(fake_validate(&fake, &chosen, 30, 3, &result, &err), 0);
    assert_int_equal(result.nworst, 20);
    for (int i = 0; i < 20; i++)
        expect_near(result.worst[i].predicted_clk / result.worst[i].measured_clk,
                    i < 10 ? 1.3 : 1.2, 1e-9);
    // All of them are among the worst 20, which tell tau.
    double measured[20], predicted[20];
    assert_int_equal(fake_validate(&fake, &chosen, 20, 4, &result, &err), 0);
    assert_int_equal(result.nworst, 20);
    for (int i = 0; i < 20; i++) {
        measured[i] = result.worst[i].measured_clk;
        predicted[i] = result.worst[i].predicted_clk;
    }
    expect_near(result.kendall_tau, validate_kendall(measured, predicted, 20), 1e-9);
    assert_true(result.kendall_tau > 0.5 && result.kendall_tau < 1);
    assert_int_equal(fake_validate(&fake, &chosen, 7, 3, &result, &err), 0);
    assert_int_equal(result.nworst, 7);
    free(fake.mixes);
    arena_free(&chosen.arena);
}

// Mixes that fail are replaced as far as spares go; if all fail there is no result.
static void test_failures(void **state)
{
    (void)state;
    struct chosen chosen;
    struct validation result = {.mixes = 0};
    struct err err = {0};
    struct fake fake = {.fail_every = 6};
    chosen_rows(&chosen, varied);
    chosen_choose(&chosen);
    assert_int_equal(fake_validate(&fake, &chosen, 100, 3, &result, &err), 0);
    assert_int_equal(result.mixes, 100);
    fake.fail_every = 2;
    assert_int_equal(fake_validate(&fake, &chosen, 100, 3, &result, &err), 0);
    assert_int_equal(result.mixes, fake.n / 2);
    fake.fail_every = 1;
    assert_int_equal(fake_validate(&fake, &chosen, 100, 3, &result, &err), -1);
    assert_non_null(strstr(err.text, "no mix could be timed"));
    fake.broken = true;
    assert_int_equal(fake_validate(&fake, &chosen, 100, 3, &result, &err), -1);
    assert_string_equal(err.text, "the oracle is gone");
    struct chosen none;
    chosen_rows(&none, (const char *const[]){"fadd st st0", NULL});
    chosen_choose(&none);
    assert_int_equal(fake_validate(&fake, &none, 100, 3, &result, &err), -1);
    assert_non_null(strstr(err.text, "no form has a port usage"));
    free(fake.mixes);
    arena_free(&chosen.arena);
    arena_free(&none.arena);
}

// Mixes that were named to be stored are predicted again alike, and by another table otherwise; as
// many are kept as there is room for.
static void test_stored(void **state)
{
    (void)state;
    struct fake fake = {
        .factor = {1, 1.3, 0.9}
    };
    struct chosen chosen;
    struct err err = {0};
    struct validate_mixes mixes, again;
    chosen_rows(&chosen, varied);
    chosen_choose(&chosen);
    fake.forms = &chosen.forms;
    const struct port_oracle oracle = {.measure = fake_measure, .context = &fake};
    const struct validate_trial trial = {
        .forms = &chosen.forms, .model = &model, .oracle = &oracle, .wanted = 60, .seed = 1};
    if (validate_measure(&trial, &chosen.arena, &mixes, &err) != 0)
        fail_msg("%s", err.text);
    struct validation figures = validate_figures(&chosen.forms, &mixes, 1, &chosen.arena);
    assert_int_equal(figures.nworst, 20);
    assert_int_equal(figures.layouts, VALIDATE_LAYOUTS);
    validate_name_all(&chosen.forms, &mixes, &chosen.arena, &figures);
    assert_int_equal(figures.nworst, 60);
    struct validate_again table = {&chosen.forms, &model};
    assert_int_equal(validate_stored(&figures, &table, &chosen.arena, &again, &err), 0);
    assert_int_equal(again.n, 60);
    assert_int_equal(again.unknown, 0);
    struct validation same = validate_figures(&chosen.forms, &again, 1, &chosen.arena);
    expect_near(same.mape_percent, figures.mape_percent, 1e-9);
    expect_near(same.kendall_tau, figures.kendall_tau, 1e-9);
    assert_true(same.within_10_percent == figures.within_10_percent);
    const struct port_model narrow = {.width = 1, .nports = PORTS, .filler = -1};
    table.model = &narrow;
    assert_int_equal(validate_stored(&figures, &table, &chosen.arena, &again, &err), 0);
    same = validate_figures(&chosen.forms, &again, 1, &chosen.arena);
    assert_true(same.within_10_percent < figures.within_10_percent);
    // A form that has no ports here, what is no mix, and no time.
    struct validation_mix few[] = {
        {"2*vpaddb x x x; 1*aaa", 1, 1},
        {"1*vpaddb x x x",        1, 1},
        {"1*aaa; 2*vpaddb x x x", 1, 1}
    };
    const struct validation made = {.worst = few, .nworst = 3};
    assert_int_equal(validate_stored(&made, &table, &chosen.arena, &again, &err), 0);
    assert_int_equal(again.n, 1);
    assert_int_equal(again.unknown, 2);
    few[1].measured_clk = 0;
    assert_int_equal(validate_stored(&made, &table, &chosen.arena, &again, &err), -1);
    few[1] = (struct validation_mix){"vpaddb x x x", 1, 1};
    assert_int_equal(validate_stored(&made, &table, &chosen.arena, &again, &err), -1);
    arena_free(&chosen.arena);
    free(fake.mixes);
}

static void test_shorten(void **state)
{
    (void)state;
    struct chosen chosen;
    chosen_rows(&chosen, varied);
    chosen_choose(&chosen);
    enum { MANY = 4000 };
    struct validate_mix *mixes = calloc(MANY, sizeof *mixes);
    for (int i = 0; i < MANY; i++)
        mixes[i] = (struct validate_mix){
            {.parts = {{0, 1}, {1, 2}}, .nparts = 2},
            1, 1
        };
    struct validate_mixes all = {.mixes = mixes, .n = MANY};
    validate_shorten(&chosen.forms, &all);
    struct validation figures = {.seed = 1};
    validate_name_all(&chosen.forms, &all, &chosen.arena, &figures);
    size_t each = store_validation_bytes(figures.worst[0].text);
    assert_true(each > strlen(figures.worst[0].text) + 16); // two numbers
    assert_int_equal(all.n, STORE_VALIDATION_BYTES_MAX / each);
    all.n = 10;
    validate_shorten(&chosen.forms, &all);
    assert_int_equal(all.n, 10);
    free(mixes);
    arena_free(&chosen.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kendall),      cmocka_unit_test(test_kendall_pairs),
        cmocka_unit_test(test_kendall_long), cmocka_unit_test(test_seed),
        cmocka_unit_test(test_draw),         cmocka_unit_test(test_ratios),
        cmocka_unit_test(test_wide_index),   cmocka_unit_test(test_one_kind),
        cmocka_unit_test(test_choose),       cmocka_unit_test(test_figures),
        cmocka_unit_test(test_worst),        cmocka_unit_test(test_again),
        cmocka_unit_test(test_groups),       cmocka_unit_test(test_stored),
        cmocka_unit_test(test_shorten),      cmocka_unit_test(test_wide_memory),
        cmocka_unit_test(test_waiting),      cmocka_unit_test(test_decoding),
        cmocka_unit_test(test_moves),        cmocka_unit_test(test_wide_uses),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, lists_setup, lists_teardown);
}
