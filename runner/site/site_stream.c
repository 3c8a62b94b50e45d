// SPDX-License-Identifier: MIT
// Views whose rows come in the order of forms, read side by side; see site_internal.h.
#include "site_internal.h"

#include "util/text.h"

#include <math.h>
#include <string.h>

int site_stream_next(struct site_stream *stream, struct err *err)
{
    int got = store_rows_next(stream->rows, err);
    stream->more = got > 0;
    if (got <= 0)
        return got;
    stream->at = (struct site_form){
        store_rows_exact(stream->rows, stream->mnemonic),
        store_rows_exact(stream->rows, stream->operands),
        store_rows_exact(stream->rows, stream->form),
        store_rows_exact(stream->rows, stream->enc),
        store_rows_integer(stream->rows, stream->bits),
    };
    stream->run = store_rows_integer(stream->rows, stream->run_id);
    return 0;
}

int site_stream_open(struct site_stream *stream, struct store *store, enum store_view view,
                     const struct store_filter *filter, struct err *err)
{
    *stream = (struct site_stream){.rows = store_rows_open(store, view, filter, err)};
    if (!stream->rows)
        return -1;
    stream->mnemonic = store_rows_column(stream->rows, "mnemonic");
    stream->operands = store_rows_column(stream->rows, "operands");
    stream->form = store_rows_column(stream->rows, "form");
    stream->enc = store_rows_column(stream->rows, "enc");
    stream->bits = store_rows_column(stream->rows, "bits");
    stream->run_id = store_rows_column(stream->rows, "run_id");
    return site_stream_next(stream, err);
}

void site_stream_close(struct site_stream *stream)
{
    store_rows_close(stream->rows);
    stream->rows = NULL;
}

// The order of the views' rows.
int site_form_compare(const struct site_form *a, const struct site_form *b)
{
    int order = strcmp(a->mnemonic, b->mnemonic);
    if (order == 0)
        order = strcmp(a->operands, b->operands);
    if (order == 0)
        order = text_compare(a->form, strlen(a->form), b->form, strlen(b->form));
    if (order == 0)
        order = strcmp(a->enc, b->enc);
    return order ? order : (a->bits > b->bits) - (a->bits < b->bits);
}

bool site_has_thousandths(double value)
{
    return isfinite(value) && fabs(value) < 1e12;
}

void site_thousandths(struct json *json, double value)
{
    if (site_has_thousandths(value))
        json_int(json, llround(value * 1000));
    else
        json_null(json);
}
