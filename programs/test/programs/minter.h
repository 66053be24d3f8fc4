// SPDX-License-Identifier: Apache-2.0
/* handle_receive_finalized_message and handle_receive_unfinalized_message of TokenMessengerMinterV2. The data: discriminator, remote domain,
 * sender, executed threshold, body, bump of the authority. */

enum {
    HANDLE_AUTHORITY,
    HANDLE_STATE,
    HANDLE_REMOTE,
    HANDLE_MINTER,
    HANDLE_LOCAL,
    HANDLE_PAIR,
    HANDLE_FEE_ACCOUNT,
    HANDLE_RECIPIENT,
    HANDLE_CUSTODY,
    HANDLE_TOKEN,
    HANDLE_EVENT_AUTHORITY,
    HANDLE_PROGRAM,
    HANDLE_ACCOUNTS
};
enum { HANDLE_DOMAIN = 8, HANDLE_SENDER = 12, HANDLE_EXECUTED = 44, HANDLE_BODY = 48 };
enum { BODY_TOKEN = 4, BODY_RECIPIENT = 36, BODY_AMOUNT = 68, BODY_FEE_MAX = 132, BODY_FEE = 164, BODY_EXPIRATION = 196 };
enum { PAIR_LOCAL = 44, PAIR_SIZE = 77, UNFINALIZED_MIN = 500, WORD_PADDING = 24 };

/* ASCII digits; returns how many. */
FUNCTION u64 writeDecimal(u8 *to, u64 value) {
    u64 count = 1;
    for (u64 rest = value; rest >= 10; rest /= 10) count++;
    for (u64 i = count; i > 0; i--, value /= 10) *(volatile u8 *)(to + i - 1) = '0' + value % 10;
    return count;
}

INLINE int isTokenPair(const Call *call, const u8 *body) {
    Name name;
    setName(&name, WORD('t', 'o', 'k', 'e', 'n', '_', 'p', 'a'), WORD('i', 'r', 0, 0, 0, 0, 0, 0), 0);
    u8 digits[10];
    Slice seeds[3];
    setSlice(&seeds[0], &name, 10);
    setSlice(&seeds[1], digits, writeDecimal(digits, readInteger(call->data + HANDLE_DOMAIN, 4)));
    setSlice(&seeds[2], body + BODY_TOKEN, 32);
    return isDerived(&call->accounts[HANDLE_PAIR], call->self, seeds, 3);
}

INLINE int isCustody(const Call *call, const u8 *mint) {
    Name name;
    setName(&name, WORD('c', 'u', 's', 't', 'o', 'd', 'y', 0), 0, 0);
    Slice seeds[2];
    setSlice(&seeds[0], &name, 7);
    setSlice(&seeds[1], mint, 32);
    return isDerived(&call->accounts[HANDLE_CUSTODY], call->self, seeds, 2);
}

INLINE int isFeeAccount(const Call *call, const u8 *mint) {
    Key program, token;
    setKey(&program, KEY_ASSOCIATED_TOKEN);
    setKey(&token, KEY_TOKEN);
    Slice seeds[3];
    setSlice(&seeds[0], call->accounts[HANDLE_STATE].data + STATE_FEE_RECIPIENT, 32);
    setSlice(&seeds[1], &token, 32);
    setSlice(&seeds[2], mint, 32);
    return isDerived(&call->accounts[HANDLE_FEE_ACCOUNT], &program, seeds, 3);
}

INLINE void setReceiveAuthority(Name *name) {
    setName(name, WORD('m', 'e', 's', 's', 'a', 'g', 'e', '_'), WORD('t', 'r', 'a', 'n', 's', 'm', 'i', 't'),
            WORD('t', 'e', 'r', '_', 'a', 'u', 't', 'h'));
    name->word[3] = WORD('o', 'r', 'i', 't', 'y', 0, 0, 0);
}

FUNCTION int isReceiveAuthority(const Account *account, const Key *transmitter, const Key *receiver) {
    Name name;
    setReceiveAuthority(&name);
    Slice seeds[2];
    setSlice(&seeds[0], &name, 29);
    setSlice(&seeds[1], receiver, 32);
    return isDerived(account, transmitter, seeds, 2);
}

FUNCTION u64 checkHandleTypes(const Call *call) {
    const Account *a = call->accounts;
    if (call->accountCount < HANDLE_ACCOUNTS) return ERROR_NOT_ENOUGH_ACCOUNTS;
    if (!a[HANDLE_AUTHORITY].isSigner) return ERROR_NOT_SIGNER;
    u64 failure = checkState(&a[HANDLE_STATE], call->self, TOKEN_MESSENGER, MESSENGER_STATE_SIZE);
    if (!failure) failure = checkState(&a[HANDLE_REMOTE], call->self, REMOTE_TOKEN_MESSENGER, REMOTE_SIZE);
    if (!failure) failure = checkState(&a[HANDLE_MINTER], call->self, TOKEN_MINTER, MINTER_SIZE);
    if (!failure) failure = checkState(&a[HANDLE_LOCAL], call->self, LOCAL_TOKEN, LOCAL_SIZE);
    if (!failure) failure = checkState(&a[HANDLE_PAIR], call->self, TOKEN_PAIR, PAIR_SIZE);
    if (!failure) failure = checkTokenAccount(&a[HANDLE_FEE_ACCOUNT]);
    if (!failure) failure = checkTokenAccount(&a[HANDLE_RECIPIENT]);
    if (!failure) failure = checkTokenAccount(&a[HANDLE_CUSTODY]);
    if (failure) return failure;
    return isKey(a[HANDLE_TOKEN].key, KEY_TOKEN) ? 0 : ERROR_PROGRAM;
}

INLINE int hasMint(const Account *account, const u8 *mint) { return isSameKey((const Key *)account->data, (const Key *)mint); }

FUNCTION u64 checkHandle(const Call *call, const Bytes *body) {
    const Account *a = call->accounts;
    const u8 *mint = a[HANDLE_LOCAL].data + LOCAL_MINT;
    Key transmitter;
    setKey(&transmitter, KEY_TRANSMITTER);
    u64 failure = checkHandleTypes(call);
    if (failure) return failure;
    if (!isReceiveAuthority(&a[HANDLE_AUTHORITY], &transmitter, call->self)) return ERROR_SEEDS;
    if (readInteger(call->data + HANDLE_DOMAIN, 4) != readInteger(a[HANDLE_REMOTE].data + REMOTE_DOMAIN, 4)) return MESSENGER_DOMAIN;
    if (!isLocalToken(call, &a[HANDLE_LOCAL], (const Key *)mint)) return ERROR_SEEDS;
    if (body->size < BODY_SIZE) return MESSENGER_MALFORMED;
    if (readBigEndian(body->at, 4) != readInteger(a[HANDLE_STATE].data + STATE_BODY_VERSION, 4)) return MESSENGER_BODY_VERSION;
    if (!isTokenPair(call, body->at)) return ERROR_SEEDS;
    for (int i = 0; i < 32; i++)
        if (a[HANDLE_PAIR].data[PAIR_LOCAL + i] != ((const u8 *)a[HANDLE_LOCAL].key)[i]) return MESSENGER_TOKEN_PAIR;
    if (!isFeeAccount(call, mint)) return ERROR_NOT_ASSOCIATED;
    if (!hasMint(&a[HANDLE_RECIPIENT], mint) || !hasMint(&a[HANDLE_CUSTODY], mint)) return ERROR_RAW;
    if (!isCustody(call, mint)) return ERROR_SEEDS;
    return checkEventAuthority(call, &a[HANDLE_EVENT_AUTHORITY]);
}

/* A number of 32 bytes, of which eight are used. */
INLINE u64 readUnits(const u8 *word) { return readBigEndian(word + WORD_PADDING, 8); }
INLINE int isShort(const u8 *word) { return (readBigEndian(word, 8) | readBigEndian(word + 8, 8) | readBigEndian(word + 16, 8)) == 0; }

FUNCTION u64 checkReceipt(const Call *call, const u8 *body) {
    const Account *a = call->accounts;
    for (int i = 0; i < 32; i++)
        if (call->data[HANDLE_SENDER + i] != a[HANDLE_REMOTE].data[REMOTE_ADDRESS + i]) return MESSENGER_SENDER;
    if (!isShort(body + BODY_AMOUNT) || !isShort(body + BODY_FEE) || !isShort(body + BODY_EXPIRATION)) return MESSENGER_MALFORMED;
    if (!isShort(body + BODY_FEE_MAX)) return MESSENGER_MALFORMED;
    u64 expiration = readUnits(body + BODY_EXPIRATION), fee = readUnits(body + BODY_FEE);
    Clock clock;
    sol_get_clock_sysvar(&clock);
    if (expiration != 0 && expiration <= clock.slot) return MESSENGER_EXPIRED;
    if (fee >= readUnits(body + BODY_AMOUNT)) return MESSENGER_FEE_ABOVE_AMOUNT;
    if (fee > readUnits(body + BODY_FEE_MAX)) return MESSENGER_FEE_ABOVE_MAX;
    for (int i = 0; i < 32; i++)
        if (body[BODY_RECIPIENT + i] != ((const u8 *)a[HANDLE_RECIPIENT].key)[i]) return MESSENGER_RECIPIENT;
    return a[HANDLE_MINTER].data[MINTER_PAUSED] != 0 ? MINTER_IS_PAUSED : 0;
}

/* From the custody, which the minter owns. */
FUNCTION u64 payOut(const Call *call, u64 to, u64 units) {
    const Account *a = call->accounts;
    Name name;
    setName(&name, WORD('t', 'o', 'k', 'e', 'n', '_', 'm', 'i'), WORD('n', 't', 'e', 'r', 0, 0, 0, 0), 0);
    Slice seeds[2], signer;
    setSlice(&seeds[0], &name, 12);
    setSlice(&seeds[1], a[HANDLE_MINTER].data + MINTER_BUMP, 1);
    setSlice(&signer, seeds, 2);
    Meta metas[3];
    setMeta(&metas[0], &a[HANDLE_CUSTODY], WRITE);
    setMeta(&metas[1], &a[to], WRITE);
    setMeta(&metas[2], &a[HANDLE_MINTER], SIGN);
    u8 data[9];
    data[0] = 3; /* Transfer */
    writeInteger(data + 1, units, 8);
    Instruction instruction = { a[HANDLE_TOKEN].key, metas, 3, data, 9 };
    u8 *received = (u8 *)a[HANDLE_LOCAL].data + LOCAL_AMOUNT_RECEIVED;
    writeInteger(received, readInteger(received, 8) + units, 8);
    return sol_invoke_signed_c(&instruction, a, call->accountCount, &signer, 1);
}

/* Room for tag and event; recipient, amount, mint, fee. */
FUNCTION u64 emitMint(const Call *call, const u8 *body) {
    const Account *a = call->accounts;
    u64 fee = readUnits(body + BODY_FEE);
    u8 data[96];
    copyBytes(data + 16, body + BODY_RECIPIENT, 32);
    writeInteger(data + 48, readUnits(body + BODY_AMOUNT) - fee, 8);
    copyBytes(data + 56, a[HANDLE_LOCAL].data + LOCAL_MINT, 32);
    writeInteger(data + 88, fee, 8);
    Slice slice;
    setSlice(&slice, data, 96);
    return emitEvent(call, &a[HANDLE_EVENT_AUTHORITY], EVENT_MINT_AND_WITHDRAW, &slice);
}

FUNCTION u64 handleReceived(const Call *call, u64 discriminator) {
    u64 offset = HANDLE_BODY;
    Bytes body;
    if (!readVector(call, &offset, &body)) return ERROR_NOT_DESERIALIZED;
    u64 failure = checkHandle(call, &body);
    if (failure) return failure;
    if (discriminator == HANDLE_UNFINALIZED && readInteger(call->data + HANDLE_EXECUTED, 4) < UNFINALIZED_MIN)
        return MESSENGER_THRESHOLD;
    failure = checkReceipt(call, body.at);
    if (failure) return failure;
    u8 *count = (u8 *)call->accounts[HANDLE_LOCAL].data + LOCAL_MESSAGES_RECEIVED;
    writeInteger(count, readInteger(count, 8) + 1, 8);
    u64 fee = readUnits(body.at + BODY_FEE);
    if (fee > 0) failure = payOut(call, HANDLE_FEE_ACCOUNT, fee);
    if (!failure) failure = payOut(call, HANDLE_RECIPIENT, readUnits(body.at + BODY_AMOUNT) - fee);
    return failure ? failure : emitMint(call, body.at);
}
