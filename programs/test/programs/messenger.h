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
enum { STATE_BODY_VERSION = 104, STATE_AUTHORITY_BUMP = 108, STATE_FEE_MIN = 173, STATE_SIZE = 177 };
enum { REMOTE_DOMAIN = 8, REMOTE_ADDRESS = 12, REMOTE_SIZE = 44 };
enum { MINTER_PAUSED = 72, MINTER_SIZE = 74 };
enum { LOCAL_LIMIT = 72, LOCAL_MESSAGES_SENT = 80, LOCAL_AMOUNT_SENT = 96, LOCAL_SIZE = 130 };
enum { TRANSMITTER_STATE_SIZE = 193, TOKEN_ACCOUNT_SIZE = 165, FEE_MIN_SCALE = 10000000 };

INLINE int isLocalToken(const Call *call) {
    const Account *a = call->accounts;
    Name name;
    setName(&name, WORD('l', 'o', 'c', 'a', 'l', '_', 't', 'o'), WORD('k', 'e', 'n', 0, 0, 0, 0, 0), 0);
    Slice seeds[2];
    setSlice(&seeds[0], &name, 11);
    setSlice(&seeds[1], a[BURN_MINT].key, 32);
    return isState(&a[LOCAL], call->self, LOCAL_TOKEN, LOCAL_SIZE) && isDerived(&a[LOCAL], call->self, seeds, 2);
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

FUNCTION u64 checkBurnAccounts(const Call *call) {
    const Account *a = call->accounts;
    if (call->accountCount < BURN_ACCOUNTS || call->dataSize != BURN_SIZE) return ERROR_DATA;
    if (!a[OWNER].isSigner || !a[EVENT_PAYER].isSigner || !a[EVENT].isSigner) return ERROR_SIGNER;
    if (!isSameKey(a[MESSENGER].key, call->self) || !isSameKey(a[PROGRAM].key, call->self)) return ERROR_ACCOUNT;
    if (!isKey(a[TRANSMITTER].key, KEY_TRANSMITTER) || !isKey(a[SYSTEM].key, KEY_SYSTEM)) return ERROR_ACCOUNT;
    if (!isKey(a[TOKEN].key, KEY_TOKEN)) return ERROR_ACCOUNT;
    if (!isState(&a[TRANSMITTER_STATE], a[TRANSMITTER].key, MESSAGE_TRANSMITTER, TRANSMITTER_STATE_SIZE)) return ERROR_ACCOUNT;
    if (!isState(&a[MESSENGER_STATE], call->self, TOKEN_MESSENGER, STATE_SIZE)) return ERROR_ACCOUNT;
    if (!isState(&a[REMOTE], call->self, REMOTE_TOKEN_MESSENGER, REMOTE_SIZE)) return ERROR_ACCOUNT;
    if (!isState(&a[MINTER], call->self, TOKEN_MINTER, MINTER_SIZE)) return ERROR_ACCOUNT;
    if (a[BURN_ACCOUNT].size != TOKEN_ACCOUNT_SIZE || !isSameKey(a[BURN_ACCOUNT].owner, a[TOKEN].key)) return ERROR_ACCOUNT;
    if (!isSameKey((const Key *)a[BURN_ACCOUNT].data, a[BURN_MINT].key)) return ERROR_ACCOUNT;
    if (!isSameKey((const Key *)(a[BURN_ACCOUNT].data + 32), a[OWNER].key)) return ERROR_ACCOUNT;
    if (!isLocalToken(call) || !isDenylistEntry(call)) return ERROR_ACCOUNT;
    return a[DENYLIST].size ? ERROR_DENYLISTED : 0;
}

FUNCTION u64 checkBurnTerms(const Call *call) {
    const Account *a = call->accounts;
    u64 amount = readInteger(call->data + BURN_AMOUNT, 8), feeMax = readInteger(call->data + BURN_FEE_MAX, 8);
    u64 feeMin = readInteger(a[MESSENGER_STATE].data + STATE_FEE_MIN, 4);
    if (readInteger(call->data + BURN_DOMAIN, 4) != readInteger(a[REMOTE].data + REMOTE_DOMAIN, 4)) return ERROR_DOMAIN;
    if (amount == 0) return ERROR_AMOUNT;
    if (isZero(call->data + BURN_RECIPIENT)) return ERROR_RECIPIENT;
    if (feeMax >= amount) return ERROR_FEE_MAX;
    u64 least = amount / FEE_MIN_SCALE * feeMin + amount % FEE_MIN_SCALE * feeMin / FEE_MIN_SCALE;
    if (feeMin != 0 && feeMax < (least ? least : 1)) return ERROR_FEE_MIN;
    if (a[MINTER].data[MINTER_PAUSED] != 0) return ERROR_PAUSED;
    return amount > readInteger(a[LOCAL].data + LOCAL_LIMIT, 8) ? ERROR_LIMIT : 0;
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

/* The program emits its event by calling itself with the signature of its event authority. */
FUNCTION u64 emitEvent(const Call *call) {
    const Account *a = call->accounts;
    Name name;
    setName(&name, WORD('_', '_', 'e', 'v', 'e', 'n', 't', '_'), WORD('a', 'u', 't', 'h', 'o', 'r', 'i', 't'), 'y');
    Key authority;
    u8 bump = 0;
    Slice seeds[2], signer;
    setSlice(&seeds[0], &name, 17);
    setSlice(&seeds[1], &bump, 1);
    setSlice(&signer, seeds, 2);
    u64 failure = sol_try_find_program_address(seeds, 1, call->self, &authority, &bump);
    if (failure || !isSameKey(&authority, a[EVENT_AUTHORITY].key)) return ERROR_ACCOUNT;
    u8 data[8 + BURN_SIZE];
    writeInteger(data, EMIT_EVENT, 8);
    copyBytes(data + 8, call->data, BURN_SIZE);
    Meta meta;
    setMeta(&meta, &a[EVENT_AUTHORITY], SIGN);
    Instruction instruction = { call->self, &meta, 1, data, 8 + BURN_SIZE };
    return sol_invoke_signed_c(&instruction, a, call->accountCount, &signer, 1);
}

FUNCTION u64 depositForBurn(const Call *call) {
    u64 failure = checkBurnAccounts(call);
    if (!failure) failure = checkBurnTerms(call);
    if (!failure) failure = burn(call);
    if (!failure) failure = callTransmitter(call);
    return failure ? failure : emitEvent(call);
}
