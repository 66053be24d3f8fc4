// SPDX-License-Identifier: Apache-2.0
/* A call of this program: its accounts, and the terms that accounts and data spell out together.
 *
 * Nothing here is trusted. The hash of the terms is a seed of the inbox, so the runtime refuses the inbox's signature for any other terms.
 */
enum { TAG_SETTLE, TAG_BRIDGE, TAG_RESCUE, TAG_RESCUE_LAMPORTS, TAG_RECLAIM, TAG_UNNEST };

/* `pay` pays out on this chain, `hop` burns for a payout on another chain. */
enum { KIND_PAY, KIND_HOP };

/* The first six accounts of every instruction. PAYEE is the payout wallet or the burn's recipient, AGENT the fee account or the messenger. */
enum { MINT, TOKEN_PROGRAM, PAYEE, AGENT, RENT_RECIPIENT, RECOVERY, FIRST };

/* Offsets in the data: tag, kind, option, recoverAfter, settings of the kind, then the inboxes. `recoverAfter` and settings are terms. */
enum { DATA_TAG, DATA_KIND, DATA_OPTION, DATA_RECOVER_AFTER, DATA_SETTINGS = 11, DATA_PAY_END = 13, DATA_HOP_END = 39 };
enum { PAY_FEE_BPS = DATA_SETTINGS };
enum { HOP_MIN_AMOUNT = DATA_SETTINGS, HOP_DOMAIN = DATA_SETTINGS + 8, HOP_ROUTES = DATA_SETTINGS + 12 };

/* Of each inbox: its bump, then its salt. */
enum { INBOX_SIZE = 33 };

enum { ACCOUNTS_MAX = 32 };

enum {
    ERROR_ACCOUNTS = 0x100, /* another number of accounts than the instruction has */
    ERROR_DATA,             /* another length, or an unknown tag */
    ERROR_KIND,             /* an unknown kind, or not for this kind */
    ERROR_TOKEN_PROGRAM,    /* neither of the two token programs */
    ERROR_MINT,             /* no mint of the token program */
    ERROR_PDA,              /* the inbox signs the transaction, so it is no inbox */
    ERROR_INBOX,            /* no token account of mint and inbox */
    ERROR_FROZEN,           /* the inbox's token account is frozen */
    ERROR_PAYOUT,           /* missing, frozen, of another owner, or at another address */
    ERROR_FEE_BPS,          /* above the maximum */
    ERROR_ROUTE,            /* no such route */
    ERROR_MINIMUM,          /* less than may be burned */
    ERROR_SIGNER,           /* event payer and event must sign themselves */
    ERROR_LEFT,             /* the messenger did more than the burn, or less */
    ERROR_RECOVERY,         /* the recovery key did not sign */
    ERROR_EARLY,            /* before recoverAfter */
    ERROR_NOTHING,          /* no lamports to move */
    ERROR_RENT,             /* the rent recipient did not sign */
    ERROR_EXCESS,           /* more lamports than a rent */
    ERROR_PROGRAM           /* an account of another program than expected */
};

typedef struct {
    Account accounts[ACCOUNTS_MAX];
    u64 accountCount;
    const u8 *data;
    u64 dataSize;
    u64 kind;
    const u8 *inboxes;
    u64 inboxCount;
    u64 kindSeed[2]; /* first seed of every inbox: 16 characters */
    Key termsHash;   /* second seed */
} Call;

INLINE int isTokenProgram(const Key *key) { return isKey(key, KEY_TOKEN) || isKey(key, KEY_TOKEN_2022); }

FUNCTION u64 readInput(const u8 *at, Call *call) {
    call->accountCount = readWord(at);
    if (call->accountCount < FIRST + 2 || call->accountCount > ACCOUNTS_MAX) return ERROR_ACCOUNTS;
    at += 8;
    for (u64 i = 0; i < call->accountCount; i++) {
        at = readAccount(at, call->accounts, i);
        if (!at) return ERROR_ACCOUNTS;
    }
    call->dataSize = readWord(at);
    call->data = at + 8;
    return 0;
}

/* The terms: five keys of 32 bytes, recoverAfter, and the settings of the kind. */
INLINE void hashTerms(Call *call, u64 end) {
    const Account *accounts = call->accounts;
    Slice terms[6];
    setSlice(&terms[0], accounts[MINT].key, 32);
    setSlice(&terms[1], accounts[PAYEE].key, 32);
    setSlice(&terms[2], accounts[AGENT].key, 32);
    setSlice(&terms[3], accounts[RENT_RECIPIENT].key, 32);
    setSlice(&terms[4], accounts[RECOVERY].key, 32);
    setSlice(&terms[5], call->data + DATA_RECOVER_AFTER, end - DATA_RECOVER_AFTER);
    sol_sha256(terms, 6, (u8 *)&call->termsHash);
}

FUNCTION u64 readTerms(Call *call) {
    if (call->dataSize < DATA_SETTINGS) return ERROR_DATA;
    call->kind = call->data[DATA_KIND];
    if (call->kind > KIND_HOP) return ERROR_KIND;
    u64 end = call->kind == KIND_PAY ? DATA_PAY_END : DATA_HOP_END;
    if (call->dataSize < end + INBOX_SIZE || (call->dataSize - end) % INBOX_SIZE != 0) return ERROR_DATA;
    if (!isTokenProgram(call->accounts[TOKEN_PROGRAM].key)) return ERROR_TOKEN_PROGRAM;
    call->inboxes = call->data + end;
    call->inboxCount = (call->dataSize - end) / INBOX_SIZE;
    call->kindSeed[0] = WORD('t', 'r', 'i', 'b', 'u', 't', 'a', 'r');
    call->kindSeed[1] = call->kind == KIND_PAY ? WORD('y', '.', 'p', 'a', 'y', '.', 'v', '1')
                                               : WORD('y', '.', 'h', 'o', 'p', '.', 'v', '1');
    hashTerms(call, end);
    return 0;
}

/* The recovery key signs. 32 zero bytes mean that nobody recovers, although they are a point of the curve. */
FUNCTION u64 checkRecovery(const Call *call) {
    const Account *recovery = &call->accounts[RECOVERY];
    return recovery->isSigner && !isKey(recovery->key, 0, 0, 0, 0) ? 0 : ERROR_RECOVERY;
}

FUNCTION int isRecoverable(const Call *call) {
    Clock clock;
    clock.unixTime = -1;
    sol_get_clock_sysvar(&clock);
    return clock.unixTime >= 0 && (u64)clock.unixTime >= readInteger(call->data + DATA_RECOVER_AFTER, 8);
}
