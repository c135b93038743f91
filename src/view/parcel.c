#include "view/parcel.h"

#include <stdlib.h>
#include <string.h>

rp_blob *rp_blob_make(size_t size)
{
    rp_blob *blob = malloc(sizeof *blob + size);
    if (blob != NULL) {
        atomic_init(&blob->users, 1);
        blob->size = size;
    }
    return blob;
}

rp_blob *rp_blob_share(rp_blob *blob)
{
    if (blob != NULL) {
        atomic_fetch_add(&blob->users, 1);
    }
    return blob;
}

void rp_blob_release(rp_blob *blob)
{
    if (blob != NULL && atomic_fetch_sub(&blob->users, 1) == 1) {
        free(blob);
    }
}

size_t rp_parcel_size(const rp_parcel *parcel)
{
    size_t size = 0;
    for (int i = 0; i < RP_PARCEL_PIECES && parcel->piece[i] != NULL; i++) {
        size += parcel->piece[i]->size;
    }
    return size;
}

int rp_parcel_rest(const rp_parcel *parcel, size_t offset, struct iovec out[RP_PARCEL_PIECES])
{
    int pieces = 0;
    for (int i = 0; i < RP_PARCEL_PIECES && parcel->piece[i] != NULL; i++) {
        rp_blob *blob = parcel->piece[i];
        if (offset < blob->size) {
            out[pieces++] = (struct iovec){blob->data + offset, blob->size - offset};
        }
        offset -= offset < blob->size ? offset : blob->size;
    }
    return pieces;
}

rp_parcel rp_parcel_share(const rp_parcel *parcel)
{
    rp_parcel copy = *parcel;
    for (int i = 0; i < RP_PARCEL_PIECES; i++) {
        rp_blob_share(copy.piece[i]);
    }
    return copy;
}

void rp_parcel_release(rp_parcel *parcel)
{
    for (int i = 0; i < RP_PARCEL_PIECES; i++) {
        rp_blob_release(parcel->piece[i]);
    }
    *parcel = (rp_parcel){0};
}

json_t *rp_json_text(const char *text)
{
    json_t *json = json_string(text);
    char *plain = json == NULL ? strdup(text) : NULL;
    for (char *c = plain; c != NULL && *c != '\0'; c++) {
        *c = (unsigned char)*c >= 0x80 ? '?' : *c;
    }
    json = json == NULL && plain != NULL ? json_string(plain) : json;
    free(plain);
    return json != NULL ? json : json_null();
}

rp_parcel rp_parcel_text(json_t *json)
{
    rp_parcel parcel = {0};
    char *text = json != NULL ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    if (text != NULL && (parcel.piece[0] = rp_blob_make(strlen(text))) != NULL) {
        memcpy(parcel.piece[0]->data, text, strlen(text));
    }
    free(text);
    json_decref(json);
    return parcel;
}

rp_parcel rp_parcel_binary(json_t *json, rp_blob *first, rp_blob *second)
{
    rp_parcel parcel = {.binary = true};
    char *text = json != NULL ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    const size_t length = text != NULL ? strlen(text) : 0, padded = (length + 3) / 4 * 4;
    if (text != NULL && (parcel.piece[0] = rp_blob_make(4 + padded)) != NULL) {
        const uint32_t prefix = (uint32_t)padded;
        memcpy(parcel.piece[0]->data, &prefix, 4);
        memset(parcel.piece[0]->data + 4, ' ', padded);
        memcpy(parcel.piece[0]->data + 4, text, length);
        parcel.piece[1] = rp_blob_share(first != NULL ? first : second);
        parcel.piece[2] = rp_blob_share(first != NULL ? second : NULL);
    }
    free(text);
    json_decref(json);
    return parcel;
}
