// SPDX-License-Identifier: Apache-2.0
/* What the programs of the tests share: reading their input, and copying bytes that are not aligned. */
#include "../../src/runtime.h"

#define sol_try_find_program_address                                                                                   \
    ((u64(*)(const Slice *, u64, const Key *, Key *, u8 *))(u64)SYSCALL_FIND_ADDRESS)

#define sol_get_rent_sysvar ((u64(*)(Rent *))(u64)SYSCALL_RENT)

/* The threshold is a double. Clusters fold it into the price, so that it is 1. */
typedef struct {
    u64 lamportsPerByte, threshold, burnPercent;
} Rent;

enum { ACCOUNTS_MAX = 32, ACCOUNT_OVERHEAD = 128 };

typedef struct {
    Account accounts[ACCOUNTS_MAX];
    u64 accountCount;
    u8 *data;
    u64 dataSize;
    const Key *self;
} Call;

FUNCTION int readInput(u8 *input, Call *call) {
    const u8 *at = input + 8;
    call->accountCount = readWord(input);
    if (call->accountCount > ACCOUNTS_MAX) return 0;
    for (u64 i = 0; i < call->accountCount; i++) {
        at = readAccount(at, call->accounts, i);
        if (!at) return 0;
    }
    call->dataSize = readWord(at);
    call->data = (u8 *)at + 8;
    call->self = (const Key *)(call->data + call->dataSize);
    return 1;
}

FUNCTION u64 rentOf(u64 bytes) {
    Rent rent;
    sol_get_rent_sysvar(&rent);
    return (ACCOUNT_OVERHEAD + bytes) * rent.lamportsPerByte;
}

/* Volatile, because a plain loop would become a call of memcpy or memset. */
INLINE void copyBytes(u8 *to, const void *from, int bytes) {
    for (int i = 0; i < bytes; i++) *(volatile u8 *)(to + i) = ((const u8 *)from)[i];
}
INLINE void clearBytes(u8 *to, int bytes) {
    for (int i = 0; i < bytes; i++) *(volatile u8 *)(to + i) = 0;
}
INLINE int isZero(const u8 *from) { return (readInteger(from, 8) | readInteger(from + 8, 8) | readInteger(from + 16, 8) | readInteger(from + 24, 8)) == 0; }
INLINE void writeBigEndian(u8 *to, u64 value, int bytes) {
    for (int i = 0; i < bytes; i++) to[i] = (u8)(value >> (8 * (bytes - 1 - i)));
}

INLINE u64 readBigEndian(const u8 *from, int bytes) {
    u64 value = 0;
    for (int i = 0; i < bytes; i++) value = value << 8 | from[i];
    return value;
}

/* Up to 32 characters of a seed. */
typedef struct {
    u64 word[4];
} Name;
INLINE void setName(Name *name, u64 a, u64 b, u64 c) {
    name->word[0] = a;
    name->word[1] = b;
    name->word[2] = c;
    name->word[3] = 0;
}
