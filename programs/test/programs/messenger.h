// SPDX-License-Identifier: Apache-2.0
/* deposit_for_burn of TokenMessengerMinterV2. */

enum {
    OWNER,
    EVENT_PAYER,
    SENDER_AUTHORITY,
    BURN_ACCOUNT,
    DENYLIST,
    TRANSMITTER_STATE,
    MESSENGER_STATE,
    REMOTE,
    MINTER,
    LOCAL,
    BURN_MINT,
    EVENT,
    TRANSMITTER,
    MESSENGER,
    TOKEN,
    SYSTEM,
    EVENT_AUTHORITY,
    PROGRAM,
    BURN_ACCOUNTS
};

/* Offsets in the instruction's data. */
enum { BURN_AMOUNT = 8, BURN_DOMAIN = 16, BURN_RECIPIENT = 20, BURN_CALLER = 52, BURN_FEE_MAX = 84, BURN_THRESHOLD = 92, BURN_SIZE = 96 };
/* Offsets in the states. */
enum { STATE_BODY_VERSION = 104, STATE_AUTHORITY_BUMP = 108, STATE_FEE_RECIPIENT = 109, STATE_FEE_MIN = 173, MESSENGER_STATE_SIZE = 177 };
enum { REMOTE_DOMAIN = 8, REMOTE_ADDRESS = 12, REMOTE_SIZE = 44 };
enum { MINTER_PAUSED = 72, MINTER_BUMP = 73, MINTER_SIZE = 74 };
enum {
    LOCAL_MINT = 40,
    LOCAL_LIMIT = 72,
    LOCAL_MESSAGES_SENT = 80,
    LOCAL_MESSAGES_RECEIVED = 88,
    LOCAL_AMOUNT_SENT = 96,
    LOCAL_AMOUNT_RECEIVED = 112,
    LOCAL_SIZE = 130
};
enum { FEE_MIN_SCALE = 10000000 };

enum {
    MESSENGER_SENDER = 6002,
    MESSENGER_MALFORMED = 6004,
    MESSENGER_BODY_VERSION = 6005,
    MESSENGER_AMOUNT = 6006,
    MESSENGER_DOMAIN = 6007,
    MESSENGER_RECIPIENT = 6009,
    MESSENGER_TOKEN_PAIR = 6011,
    MESSENGER_FEE_ABOVE_AMOUNT = 6014,
    MESSENGER_FEE_ABOVE_MAX = 6015,
    MESSENGER_EXPIRED = 6016,
    MESSENGER_THRESHOLD = 6017,
    MESSENGER_DENYLISTED = 6021,
    MESSENGER_FEE_MAX_LOW = 6026,
    MESSENGER_FEE_MAX_HIGH = 6027,
    MINTER_IS_PAUSED = 6002,
    MINTER_LIMIT = 6007
};

INLINE int isLocalToken(const Call *call, const Account *account, const Key *mint) {
    Name name;
    setName(&name, WORD('l', 'o', 'c', 'a', 'l', '_', 't', 'o'), WORD('k', 'e', 'n', 0, 0, 0, 0, 0), 0);
    Slice seeds[2];
    setSlice(&seeds[0], &name, 11);
    setSlice(&seeds[1], mint, 32);
    return isDerived(account, call->self, seeds, 2);
}

INLINE int isDenylistEntry(const Call *call) {
    const Account *a = call->accounts;
    Name name;
    setName(&name, WORD('d', 'e', 'n', 'y', 'l', 'i', 's', 't'), WORD('_', 'a', 'c', 'c', 'o', 'u', 'n', 't'), 0);
    Slice seeds[2];
    setSlice(&seeds[0], &name, 16);
    setSlice(&seeds[1], a[OWNER].key, 32);
    return isDerived(&a[DENYLIST], call->self, seeds, 2);
}

INLINE int isSenderAuthority(const Account *account, const Key *program) {
    Name name;
    setSenderAuthority(&name);
    Slice seed;
    setSlice(&seed, &name, 16);
    return isDerived(account, program, &seed, 1);
}

/* The types of the accounts, in their order. */
FUNCTION u64 checkBurnTypes(const Call *call) {
    const Account *a = call->accounts;
    Key transmitter;
    setKey(&transmitter, KEY_TRANSMITTER);
    if (call->accountCount < BURN_ACCOUNTS) return ERROR_NOT_ENOUGH_ACCOUNTS;
    if (call->dataSize < BURN_SIZE) return ERROR_NOT_DESERIALIZED;
    if (!a[OWNER].isSigner || !a[EVENT_PAYER].isSigner) return ERROR_NOT_SIGNER;
    u64 failure = checkTokenAccount(&a[BURN_ACCOUNT]);
    if (!failure) failure = checkState(&a[TRANSMITTER_STATE], &transmitter, MESSAGE_TRANSMITTER, TRANSMITTER_STATE_SIZE);
    if (!failure) failure = checkState(&a[MESSENGER_STATE], call->self, TOKEN_MESSENGER, MESSENGER_STATE_SIZE);
    if (!failure) failure = checkState(&a[REMOTE], call->self, REMOTE_TOKEN_MESSENGER, REMOTE_SIZE);
    if (!failure) failure = checkState(&a[MINTER], call->self, TOKEN_MINTER, MINTER_SIZE);
    if (!failure) failure = checkState(&a[LOCAL], call->self, LOCAL_TOKEN, LOCAL_SIZE);
    if (failure) return failure;
    if (!a[EVENT].isSigner) return ERROR_NOT_SIGNER;
    if (!isSameKey(a[TRANSMITTER].key, &transmitter) || !isSameKey(a[MESSENGER].key, call->self)) return ERROR_PROGRAM;
    return isKey(a[TOKEN].key, KEY_TOKEN) && isKey(a[SYSTEM].key, KEY_SYSTEM) ? 0 : ERROR_PROGRAM;
}

/* Then what ties them together. */
FUNCTION u64 checkBurnAccounts(const Call *call) {
    const Account *a = call->accounts;
    u64 failure = checkBurnTypes(call);
    if (failure) return failure;
    if (!isSenderAuthority(&a[SENDER_AUTHORITY], call->self)) return ERROR_SEEDS;
    if (!isSameKey((const Key *)a[BURN_ACCOUNT].data, a[BURN_MINT].key)) return ERROR_RAW;
    if (!isSameKey((const Key *)(a[BURN_ACCOUNT].data + TOKEN_ACCOUNT_OWNER), a[OWNER].key)) return ERROR_HAS_ONE;
    if (!isDenylistEntry(call)) return ERROR_SEEDS;
    if (readInteger(call->data + BURN_DOMAIN, 4) != readInteger(a[REMOTE].data + REMOTE_DOMAIN, 4)) return MESSENGER_DOMAIN;
    if (!isLocalToken(call, &a[LOCAL], a[BURN_MINT].key)) return ERROR_SEEDS;
    return checkEventAuthority(call, &a[EVENT_AUTHORITY]);
}

FUNCTION u64 checkBurnTerms(const Call *call) {
    const Account *a = call->accounts;
    u64 amount = readInteger(call->data + BURN_AMOUNT, 8), feeMax = readInteger(call->data + BURN_FEE_MAX, 8);
    u64 feeMin = readInteger(a[MESSENGER_STATE].data + STATE_FEE_MIN, 4);
    if (amount == 0) return MESSENGER_AMOUNT;
    if (a[DENYLIST].size) return MESSENGER_DENYLISTED;
    if (isZero(call->data + BURN_RECIPIENT)) return MESSENGER_RECIPIENT;
    if (feeMax >= amount) return MESSENGER_FEE_MAX_HIGH;
    u64 least = amount / FEE_MIN_SCALE * feeMin + amount % FEE_MIN_SCALE * feeMin / FEE_MIN_SCALE;
    if (feeMin != 0 && amount == 1) return MESSENGER_AMOUNT;
    if (feeMin != 0 && feeMax < (least ? least : 1)) return MESSENGER_FEE_MAX_LOW;
    if (a[MINTER].data[MINTER_PAUSED] != 0) return MINTER_IS_PAUSED;
    return amount > readInteger(a[LOCAL].data + LOCAL_LIMIT, 8) ? MINTER_LIMIT : 0;
}

FUNCTION u64 burn(const Call *call) {
    const Account *a = call->accounts;
    u8 *local = (u8 *)a[LOCAL].data;
    u64 amount = readInteger(call->data + BURN_AMOUNT, 8);
    writeInteger(local + LOCAL_MESSAGES_SENT, readInteger(local + LOCAL_MESSAGES_SENT, 8) + 1, 8);
    writeInteger(local + LOCAL_AMOUNT_SENT, readInteger(local + LOCAL_AMOUNT_SENT, 8) + amount, 8);
    Meta metas[3];
    setMeta(&metas[0], &a[BURN_ACCOUNT], WRITE);
    setMeta(&metas[1], &a[BURN_MINT], WRITE);
    setMeta(&metas[2], &a[OWNER], SIGN);
    u8 data[9];
    data[0] = 8; /* Burn */
    writeInteger(data + 1, amount, 8);
    Instruction instruction = { a[TOKEN].key, metas, 3, data, 9 };
    return sol_invoke_signed_c(&instruction, a, call->accountCount, 0, 0);
}

/* Version, burn token, mint recipient, amount, sender, maximum fee; fee, expiration and hook stay empty. */
INLINE void writeBody(const Call *call, u8 *body) {
    const Account *a = call->accounts;
    clearBytes(body, BODY_SIZE);
    writeBigEndian(body, readInteger(a[MESSENGER_STATE].data + STATE_BODY_VERSION, 4), 4);
    copyBytes(body + 4, a[BURN_MINT].key, 32);
    copyBytes(body + 36, call->data + BURN_RECIPIENT, 32);
    writeBigEndian(body + 92, readInteger(call->data + BURN_AMOUNT, 8), 8);
    copyBytes(body + 100, a[OWNER].key, 32);
    writeBigEndian(body + 156, readInteger(call->data + BURN_FEE_MAX, 8), 8);
}

FUNCTION u64 callTransmitter(const Call *call) {
    const Account *a = call->accounts;
    u8 data[84 + BODY_SIZE];
    writeInteger(data, SEND_MESSAGE, 8);
    copyBytes(data + 8, call->data + BURN_DOMAIN, 4);
    copyBytes(data + 12, a[REMOTE].data + REMOTE_ADDRESS, 32);
    copyBytes(data + 44, call->data + BURN_CALLER, 32);
    copyBytes(data + 76, call->data + BURN_THRESHOLD, 4);
    writeInteger(data + 80, BODY_SIZE, 4);
    writeBody(call, data + 84);
    Meta metas[6];
    setMeta(&metas[0], &a[EVENT_PAYER], WRITE | SIGN);
    setMeta(&metas[1], &a[SENDER_AUTHORITY], SIGN);
    setMeta(&metas[2], &a[TRANSMITTER_STATE], WRITE);
    setMeta(&metas[3], &a[EVENT], WRITE | SIGN);
    setMeta(&metas[4], &a[MESSENGER], READ);
    setMeta(&metas[5], &a[SYSTEM], READ);
    Name name;
    setSenderAuthority(&name);
    Slice seeds[2], signer;
    setSlice(&seeds[0], &name, 16);
    setSlice(&seeds[1], a[MESSENGER_STATE].data + STATE_AUTHORITY_BUMP, 1);
    setSlice(&signer, seeds, 2);
    Instruction instruction = { a[TRANSMITTER].key, metas, 6, data, 84 + BODY_SIZE };
    return sol_invoke_signed_c(&instruction, a, call->accountCount, &signer, 1);
}

/* Room for tag and event; mint, amount, owner, recipient, domain, remote messenger, caller, maximum fee, threshold, and an empty hook. */
FUNCTION u64 emitBurn(const Call *call) {
    const Account *a = call->accounts;
    u8 data[204];
    copyBytes(data + 16, a[BURN_MINT].key, 32);
    copyBytes(data + 48, call->data + BURN_AMOUNT, 8);
    copyBytes(data + 56, a[OWNER].key, 32);
    copyBytes(data + 88, call->data + BURN_RECIPIENT, 32);
    copyBytes(data + 120, call->data + BURN_DOMAIN, 4);
    copyBytes(data + 124, a[REMOTE].data + REMOTE_ADDRESS, 32);
    copyBytes(data + 156, call->data + BURN_CALLER, 44); /* caller, maximum fee, threshold */
    writeInteger(data + 200, 0, 4);
    Slice slice;
    setSlice(&slice, data, 204);
    return emitEvent(call, &a[EVENT_AUTHORITY], EVENT_DEPOSIT_FOR_BURN, &slice);
}

FUNCTION u64 depositForBurn(const Call *call) {
    u64 failure = checkBurnAccounts(call);
    if (!failure) failure = checkBurnTerms(call);
    if (!failure) failure = burn(call);
    if (!failure) failure = callTransmitter(call);
    return failure ? failure : emitBurn(call);
}
