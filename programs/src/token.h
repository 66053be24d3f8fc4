// SPDX-License-Identifier: Apache-2.0
/* Reading mints and token accounts of the two token programs. */

/* Offsets in a token account. An optional field begins with its tag, which is 0 when it is absent. */
enum {
    TOKEN_MINT = 0,
    TOKEN_OWNER = 32,
    TOKEN_AMOUNT = 64,
    TOKEN_DELEGATE = 72,
    TOKEN_STATE = 108,
    TOKEN_NATIVE = 109,
    TOKEN_CLOSER = 129,
    TOKEN_SIZE = 165, /* where an account with extensions has its type */
    TOKEN_EXTENSIONS = 166
};
enum { MINT_DECIMALS = 44, MINT_SIZE = 82 };
enum { STATE_NONE, STATE_INITIALIZED, STATE_FROZEN };
enum { TYPE_TOKEN_ACCOUNT = 2 };

/* Types of extensions of a token account. */
enum {
    EXTENSION_END = 0,
    EXTENSION_FEE_AMOUNT = 2,
    EXTENSION_IMMUTABLE_OWNER = 7,
    EXTENSION_MEMO_TRANSFER = 8,
    EXTENSION_CPI_GUARD = 11,
    EXTENSION_NON_TRANSFERABLE = 13,
    EXTENSION_TRANSFER_HOOK = 15,
    EXTENSION_PAUSABLE = 27
};

enum { FEE_BPS_MAX = 1000, BPS = 10000 };

/* One inbox of a call, with one token account of it and that account's mint. */
typedef struct {
    const u8 *seeds; /* bump, salt */
    const Account *account, *pda, *mint;
} Inbox;

INLINE const Key *tokenOwnerOf(const Account *account) { return (const Key *)(account->data + TOKEN_OWNER); }
INLINE u64 amountOf(const Account *account) { return readWord(account->data + TOKEN_AMOUNT); }

/* STATE_NONE for anything but a token account of this mint and token program. */
INLINE u64 stateOf(const Account *account, const Account *mint, const Account *program) {
    if (account->size < TOKEN_SIZE || !isSameKey(account->owner, program->key)) return STATE_NONE;
    if (!isSameKey((const Key *)(account->data + TOKEN_MINT), mint->key)) return STATE_NONE;
    if (account->size > TOKEN_SIZE && account->data[TOKEN_SIZE] != TYPE_TOKEN_ACCOUNT) return STATE_NONE;
    return account->data[TOKEN_STATE];
}

/* The inbox is a signer only by this program: otherwise a wallet could stand in its place. */
FUNCTION u64 checkInbox(const Call *call, const Inbox *inbox) {
    const Account *program = &call->accounts[TOKEN_PROGRAM];
    if (inbox->pda->isSigner) return ERROR_PDA;
    if (inbox->mint->size < MINT_SIZE || !isSameKey(inbox->mint->owner, program->key)) return ERROR_MINT;
    u64 state = stateOf(inbox->account, inbox->mint, program);
    if (state == STATE_NONE || !isSameKey(tokenOwnerOf(inbox->account), inbox->pda->key)) return ERROR_INBOX;
    return state == STATE_INITIALIZED ? 0 : ERROR_FROZEN;
}

enum { RECEIVING, CLOSING };

/* Whether every extension of an account is known to permit a plain transfer to it, or its closing. An unknown one does not. */
FUNCTION int doExtensionsPermit(const Account *account, int purpose) {
    const u8 *at = account->data + TOKEN_EXTENSIONS, *end = account->data + account->size;
    while (at + 4 <= end) {
        u64 type = readInteger(at, 2), size = readInteger(at + 2, 2);
        const u8 *value = at + 4;
        if (type == EXTENSION_END) return 1;
        if (value + size > end) return 0;
        int isHarmless = type == EXTENSION_IMMUTABLE_OWNER || type == EXTENSION_CPI_GUARD ||
                         type == EXTENSION_NON_TRANSFERABLE || type == EXTENSION_TRANSFER_HOOK ||
                         type == EXTENSION_PAUSABLE;
        /* Withheld transfer fees keep an account from being closed. */
        if (type == EXTENSION_FEE_AMOUNT && size == 8)
            isHarmless = purpose == RECEIVING || readInteger(value, 8) == 0;
        /* An account may require a memo before each transfer to it. */
        if (type == EXTENSION_MEMO_TRANSFER && size == 1) isHarmless = purpose == CLOSING || *value == 0;
        if (!isHarmless) return 0;
        at = value + size;
    }
    return 1;
}

/* A fee never stops a payout. Where it cannot be paid, the payout wallet receives it. */
FUNCTION u64 feeOf(const Call *call, const Account *mint, u64 amount) {
    const Account *fee = &call->accounts[AGENT];
    u64 feeBps = readInteger(call->data + PAY_FEE_BPS, 2);
    if (call->kind != KIND_PAY || feeBps > FEE_BPS_MAX) return 0;
    if (stateOf(fee, mint, &call->accounts[TOKEN_PROGRAM]) != STATE_INITIALIZED) return 0;
    if (!doExtensionsPermit(fee, RECEIVING)) return 0;
    return amount / BPS * feeBps + amount % BPS * feeBps / BPS;
}
