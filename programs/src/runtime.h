// SPDX-License-Identifier: Apache-2.0
/* The runtime's C interface: accounts, invocations of other programs, and three system calls.
 *
 * A program is one section of code without constants, globals and relocations. So all functions are static, keys are words in the code, and
 * arrays are assigned word by word: an initializer would become a constant or a call of memset.
 */
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;

#define INLINE static inline __attribute__((always_inline))
#define FUNCTION static __attribute__((noinline))

typedef struct {
    u64 word[4];
} Key;

/* SolAccountInfo. `lamports`, `data` and `owner` point into the input, which the runtime updates after each invocation. */
typedef struct {
    const Key *key;
    const u64 *lamports;
    u64 size;
    const u8 *data;
    const Key *owner;
    u64 rentEpoch;
    u8 isSigner, isWritable, isExecutable, padding[5];
} Account;

/* SolAccountMeta. The first byte of `flags` is isWritable, the second isSigner. */
typedef struct {
    const Key *key;
    u64 flags;
} Meta;
enum { READ = 0, WRITE = 1, SIGN = 0x100 };

/* SolInstruction. */
typedef struct {
    const Key *program;
    const Meta *metas;
    u64 metaCount;
    const u8 *data;
    u64 dataSize;
} Instruction;

/* SolBytes, SolSignerSeed and SolSignerSeeds have one layout. */
typedef struct {
    const void *at;
    u64 size;
} Slice;

typedef struct {
    u64 slot, epochStart, epoch, leaderEpoch;
    long unixTime;
} Clock;

/* A call of a constant address is a system call: the address is the murmur3 hash of its name, which the build defines. */
#define sol_invoke_signed_c                                                                                            \
    ((u64(*)(const Instruction *, const Account *, u64, const Slice *, u64))(u64)SYSCALL_INVOKE)
#define sol_sha256 ((u64(*)(const Slice *, u64, u8 *))(u64)SYSCALL_SHA256)
#define sol_get_clock_sysvar ((u64(*)(Clock *))(u64)SYSCALL_CLOCK)

/* Eight characters as one little-endian word. */
#define WORD(a, b, c, d, e, f, g, h)                                                                                   \
    ((u64)(a) | (u64)(b) << 8 | (u64)(c) << 16 | (u64)(d) << 24 | (u64)(e) << 32 | (u64)(f) << 40 | (u64)(g) << 48 |   \
     (u64)(h) << 56)

/* Between accounts in the input: room for an account's data to grow. */
enum { NOT_DUPLICATE = 0xff, ACCOUNT_HEAD = 88, GROWTH_MAX = 10240 };

INLINE u64 readInteger(const u8 *from, int bytes) {
    u64 value = 0;
    for (int i = 0; i < bytes; i++) value |= (u64)from[i] << (8 * i);
    return value;
}
INLINE void writeInteger(u8 *to, u64 value, int bytes) {
    for (int i = 0; i < bytes; i++) to[i] = (u8)(value >> (8 * i));
}
/* Only for addresses that are multiples of eight. */
INLINE u64 readWord(const u8 *from) { return *(const u64 *)from; }

INLINE int isKey(const Key *key, u64 a, u64 b, u64 c, u64 d) {
    return key->word[0] == a && key->word[1] == b && key->word[2] == c && key->word[3] == d;
}
INLINE int isSameKey(const Key *one, const Key *other) {
    return isKey(one, other->word[0], other->word[1], other->word[2], other->word[3]);
}
INLINE void setKey(Key *to, u64 a, u64 b, u64 c, u64 d) {
    to->word[0] = a;
    to->word[1] = b;
    to->word[2] = c;
    to->word[3] = d;
}
INLINE void setMeta(Meta *meta, const Account *account, u64 flags) {
    meta->key = account->key;
    meta->flags = flags;
}
INLINE void setSlice(Slice *slice, const void *at, u64 size) {
    slice->at = at;
    slice->size = size;
}

/* Reads one account of the input into `accounts[index]` and returns the address after it; 0 for an input that no runtime writes. A duplicate is
 * the index of its first occurrence in seven bytes of padding. */
INLINE const u8 *readAccount(const u8 *at, Account *accounts, u64 index) {
    Account *account = &accounts[index];
    if (*at != NOT_DUPLICATE) {
        if (*at >= index) return 0;
        *account = accounts[*at];
        return at + 8;
    }
    account->isSigner = at[1];
    account->isWritable = at[2];
    account->isExecutable = at[3];
    account->key = (const Key *)(at + 8);
    account->owner = (const Key *)(at + 40);
    account->lamports = (const u64 *)(at + 72);
    account->size = readWord(at + 80);
    account->data = at + ACCOUNT_HEAD;
    at += (ACCOUNT_HEAD + account->size + GROWTH_MAX + 7) & ~7ul;
    account->rentEpoch = readWord(at);
    return at + 8;
}
