/* gunzip.c -- gzip with any number of members, and BGZF (stream.h).
 *
 * Idea: zlib checks each member's header, CRC and length; this file walks from member to member and judges what lies
 * between and behind them. A plain gzip file that was cut exactly between two members looks complete, and nobody can
 * tell; BGZF ends with an empty member, so there a missing last member is seen and refused. Zero bytes
 * behind the last member are padding of tapes and archives, as for gzip(1); anything else is refused.
 */
#include "stream.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define WINDOW_GZIP_ONLY (15 + 16)
#define EXTRA_MAX 256 /* BGZF's own field takes 6 bytes */

struct hspz__gunzip {
    hspz__refill *refill;
    void *source;
    const char *label;
    z_stream inflate;
    gz_header header;
    Bytef extra[EXTRA_MAX];
    uint64_t members;    /* begun */
    uint64_t raw_before; /* raw bytes of the pieces before the present one */
    size_t raw_size;     /* of the present piece */
    bool open;           /* inside a member */
    bool end;
    bool bgzf;            /* the first member has BGZF's field */
    bool last_bgzf;       /* the present member has */
    uint64_t member_size; /* bytes the present member has given */
};

static uint64_t raw_position(const hspz__gunzip *gunzip)
{
    return gunzip->raw_before + gunzip->raw_size - gunzip->inflate.avail_in;
}

/* Makes raw bytes available unless the file has ended (avail_in stays 0). */
static int refill(hspz__gunzip *gunzip, hspz_failure *failure)
{
    const uint8_t *piece = NULL;
    size_t size = 0;
    if (gunzip->inflate.avail_in > 0)
        return 0;
    int code = gunzip->refill(gunzip->source, &piece, &size, failure);
    if (code != 0)
        return code;
    if (size > UINT_MAX)
        return hspz_failed(failure, HSPZ_EXIT_DATA, "%s: a piece of %zu bytes is too large", gunzip->label,
                           size);
    gunzip->raw_before += gunzip->raw_size;
    gunzip->raw_size = size;
    gunzip->inflate.next_in =
        (Bytef *)(uintptr_t)piece; /* zlib's interface is not const, but it only reads */
    gunzip->inflate.avail_in = (uInt)size;
    return 0;
}

/* BGZF marks each member with an extra subfield 'B','C' of two bytes. */
static bool has_bgzf_field(const hspz__gunzip *gunzip)
{
    size_t size = gunzip->header.extra_len < EXTRA_MAX ? gunzip->header.extra_len : EXTRA_MAX;
    if (gunzip->header.extra == Z_NULL || gunzip->header.done != 1)
        return false;
    for (size_t at = 0; at + 4 <= size;) {
        size_t length = gunzip->extra[at + 2] + 256u * gunzip->extra[at + 3];
        if (gunzip->extra[at] == 'B' && gunzip->extra[at + 1] == 'C' && length == 2)
            return true;
        at += 4 + length;
    }
    return false;
}

static int begin_member(hspz__gunzip *gunzip, hspz_failure *failure)
{
    if (inflateReset(&gunzip->inflate) != Z_OK)
        return hspz_failed(failure, HSPZ_EXIT_DATA, "%s: the gzip decoder cannot be reset", gunzip->label);
    memset(&gunzip->header, 0, sizeof gunzip->header);
    gunzip->header.extra = gunzip->extra;
    gunzip->header.extra_max = EXTRA_MAX;
    if (inflateGetHeader(&gunzip->inflate, &gunzip->header) != Z_OK)
        return hspz_failed(failure, HSPZ_EXIT_DATA, "%s: the gzip decoder cannot be reset", gunzip->label);
    gunzip->members++;
    gunzip->member_size = 0;
    gunzip->open = true;
    return 0;
}

static void finish_member(hspz__gunzip *gunzip)
{
    gunzip->open = false;
    gunzip->last_bgzf = has_bgzf_field(gunzip);
    if (gunzip->members == 1)
        gunzip->bgzf = gunzip->last_bgzf;
}

static int judge_end(hspz__gunzip *gunzip, hspz_failure *failure)
{
    gunzip->end = true;
    if (gunzip->last_bgzf && gunzip->member_size > 0)
        return hspz_failed(
            failure, HSPZ_EXIT_DATA,
            "%s: truncated: the BGZF file ends after member %llu (byte %llu) without the empty member "
            "that closes it",
            gunzip->label, (unsigned long long)gunzip->members, (unsigned long long)raw_position(gunzip));
    return 0;
}

/* Between members: the next one, padding, or the end. */
static int next_member(hspz__gunzip *gunzip, hspz_failure *failure)
{
    bool padding = false;
    for (;;) {
        int code = refill(gunzip, failure);
        if (code != 0)
            return code;
        if (gunzip->inflate.avail_in == 0)
            return judge_end(gunzip, failure);
        uint8_t byte = *gunzip->inflate.next_in;
        if (byte == 0 && gunzip->members > 0) {
            padding = true;
            gunzip->inflate.next_in++;
            gunzip->inflate.avail_in--;
            continue;
        }
        if (byte != 0x1f || padding)
            return hspz_failed(
                failure, HSPZ_EXIT_DATA,
                "%s: byte %llu, behind gzip member %llu, is 0x%02x, which begins no further member: "
                "the file is damaged or has something appended",
                gunzip->label, (unsigned long long)raw_position(gunzip) + 1,
                (unsigned long long)gunzip->members, byte);
        return begin_member(gunzip, failure);
    }
}

static int damaged(const hspz__gunzip *gunzip, int result, hspz_failure *failure)
{
    const char *text = gunzip->inflate.msg != NULL ? gunzip->inflate.msg : "unusable data";
    if (result == Z_MEM_ERROR)
        return hspz_failed_memory(failure, "the gzip decoder", 1u << 16);
    return hspz_failed(failure, HSPZ_EXIT_DATA, "%s: gzip member %llu is damaged at byte %llu: %s",
                       gunzip->label, (unsigned long long)gunzip->members,
                       (unsigned long long)raw_position(gunzip), text);
}

int hspz__gunzip_read(hspz__gunzip *gunzip, uint8_t *buffer, size_t capacity, size_t *size,
                      hspz_failure *failure)
{
    size_t done = 0;
    *size = 0;
    while (done < capacity && !gunzip->end) {
        int code = gunzip->open ? refill(gunzip, failure) : next_member(gunzip, failure);
        if (code != 0)
            return code;
        if (!gunzip->open)
            continue;
        if (gunzip->inflate.avail_in == 0)
            return hspz_failed(
                failure, HSPZ_EXIT_DATA, "%s: truncated: the file ends inside gzip member %llu, at byte %llu",
                gunzip->label, (unsigned long long)gunzip->members, (unsigned long long)raw_position(gunzip));
        size_t room = capacity - done < UINT_MAX ? capacity - done : UINT_MAX;
        gunzip->inflate.next_out = buffer + done;
        gunzip->inflate.avail_out = (uInt)room;
        int result = inflate(&gunzip->inflate, Z_NO_FLUSH);
        size_t given = room - gunzip->inflate.avail_out;
        done += given;
        gunzip->member_size += given;
        if (result == Z_STREAM_END)
            finish_member(gunzip);
        else if (result != Z_OK && result != Z_BUF_ERROR)
            return damaged(gunzip, result, failure);
    }
    *size = done;
    return 0;
}

int hspz__gunzip_open(hspz__refill *refill_function, void *source, const char *label, hspz__gunzip **gunzip,
                      hspz_failure *failure)
{
    hspz__gunzip *made = calloc(1, sizeof *made);
    *gunzip = NULL;
    if (made == NULL)
        return hspz_failed_memory(failure, "the gzip decoder", sizeof *made);
    made->refill = refill_function;
    made->source = source;
    made->label = label;
    if (inflateInit2(&made->inflate, WINDOW_GZIP_ONLY) != Z_OK) {
        free(made);
        return hspz_failed_memory(failure, "the gzip decoder", 1u << 16);
    }
    *gunzip = made;
    return 0;
}

void hspz__gunzip_close(hspz__gunzip *gunzip)
{
    if (gunzip == NULL)
        return;
    (void)inflateEnd(&gunzip->inflate);
    free(gunzip);
}

bool hspz__gunzip_is_bgzf(const hspz__gunzip *gunzip)
{
    return gunzip->bgzf;
}
