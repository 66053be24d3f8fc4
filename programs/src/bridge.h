// SPDX-License-Identifier: Apache-2.0
/* bridge: burns the balance of one inbox by Circle's deposit_for_burn, for the pinned recipient on the pinned domain.
 *
 * Option: bit 0 is the route. The messenger is pinned, and its owner can upgrade it. So it is checked afterwards that it used the inbox's
 * signature for the burn alone, and beforehand that nothing else of the inbox is in its reach. An upgraded messenger may need more accounts:
 * up to FURTHER_MAX go on to it. The other bits of the option say how many of its 18 known accounts stand behind them.
 */
enum {
    BRIDGE_ACCOUNT = FIRST,
    BRIDGE_INBOX,
    BRIDGE_EVENT_PAYER,
    BRIDGE_SENDER_AUTHORITY,
    BRIDGE_DENYLIST,
    BRIDGE_TRANSMITTER_STATE,
    BRIDGE_MESSENGER_STATE,
    BRIDGE_REMOTE_MESSENGER,
    BRIDGE_MINTER,
    BRIDGE_LOCAL_TOKEN,
    BRIDGE_EVENT,
    BRIDGE_TRANSMITTER,
    BRIDGE_SYSTEM,
    BRIDGE_EVENT_AUTHORITY,
    BRIDGE_ACCOUNTS /* the first further account */
};
enum { FURTHER_MAX = 8 };

/* In the issuer's account of a token: its mint, and the largest amount of one burn. */
enum { LOCAL_TOKEN_MINT = 40, LOCAL_TOKEN_LIMIT = 72, LOCAL_TOKEN_SIZE_MIN = 80 };

/* A route: maximum fee in millionths of the amount, u32, and finality threshold, u32. Without a threshold there is no such route. */
enum { ROUTES = 2, ROUTE_SIZE = 8, ROUTE_THRESHOLD = 4, FEE_PPM_MAX = 100000, PPM = 1000000 };

enum { BURN_METAS = 18, BURN_SIZE = 96 };

INLINE u64 knownBehind(const Call *call) { return call->data[DATA_OPTION] / ROUTES; }

INLINE const u8 *routeOf(const Call *call) {
    if (knownBehind(call) > (call->accountCount > BRIDGE_ACCOUNTS ? BURN_METAS : 0)) return 0;
    const u8 *route = call->data + HOP_ROUTES + ROUTE_SIZE * (call->data[DATA_OPTION] % ROUTES);
    return readInteger(route, 4) > FEE_PPM_MAX || readInteger(route + ROUTE_THRESHOLD, 4) == 0 ? 0 : route;
}

/* Discriminator, amount u64, domain u32, mint recipient, destination caller, maximum fee u64, finality threshold u32. */
INLINE void writeBurn(const Call *call, u8 *data, u64 amount, const u8 *route) {
    u64 feePpm = readInteger(route, 4);
    u64 feeMax = amount / PPM * feePpm + (amount % PPM * feePpm + PPM - 1) / PPM;
    const Key *recipient = call->accounts[PAYEE].key;
    *(u64 *)data = WORD(215, 60, 61, 46, 114, 55, 128, 176);
    *(u64 *)(data + 8) = amount;
    writeInteger(data + 16, readInteger(call->data + HOP_DOMAIN, 4), 4);
    for (int i = 0; i < 4; i++) writeInteger(data + 20 + 8 * i, recipient->word[i], 8);
    for (int i = 0; i < 4; i++) writeInteger(data + 52 + 8 * i, 0, 8); /* any caller may receive the message */
    writeInteger(data + 84, feeMax, 8);
    writeInteger(data + 92, readInteger(route + ROUTE_THRESHOLD, 4), 4);
}

INLINE u64 bitOf(u64 index) { return 1ul << index; }

/* What the messenger may write beside the token account and its mint: a bit for each account. Further accounts are never writable if they could be
 * the inbox's. */
INLINE u64 findWritable(const Call *call) {
    const Account *accounts = call->accounts;
    u64 bits = bitOf(BRIDGE_EVENT_PAYER) | bitOf(BRIDGE_TRANSMITTER_STATE) | bitOf(BRIDGE_LOCAL_TOKEN) | bitOf(BRIDGE_EVENT);
    for (u64 i = BRIDGE_ACCOUNTS; i < call->accountCount; i++) {
        int isHeld = isTokenProgram(accounts[i].owner) || isSameKey(accounts[i].key, accounts[BRIDGE_INBOX].key);
        if (accounts[i].isWritable && !isHeld) bits |= bitOf(i);
    }
    return bits;
}

/* Puts the further accounts among the known ones. None of them signs. */
INLINE void insertFurther(const Call *call, Meta *metas, u64 writable) {
    u64 more = call->accountCount - BRIDGE_ACCOUNTS, at = BURN_METAS - knownBehind(call);
    for (u64 i = BURN_METAS; i > at && more > 0; i--) {
        metas[i - 1 + more].key = metas[i - 1].key;
        metas[i - 1 + more].flags = metas[i - 1].flags;
    }
    for (u64 i = 0; i < more; i++) {
        u64 index = BRIDGE_ACCOUNTS + i;
        setMeta(&metas[at + i], &call->accounts[index], writable & bitOf(index) ? WRITE : READ);
    }
}

typedef struct {
    u64 amount;
    const u8 *route;
    u64 writable;
} Burn;

FUNCTION u64 depositForBurn(const Call *call, const Burn *burn) {
    const Account *accounts = call->accounts;
    Meta metas[BURN_METAS + FURTHER_MAX];
    setMeta(&metas[0], &accounts[BRIDGE_INBOX], SIGN);
    setMeta(&metas[1], &accounts[BRIDGE_EVENT_PAYER], WRITE | SIGN);
    setMeta(&metas[2], &accounts[BRIDGE_SENDER_AUTHORITY], READ);
    setMeta(&metas[3], &accounts[BRIDGE_ACCOUNT], WRITE);
    setMeta(&metas[4], &accounts[BRIDGE_DENYLIST], READ);
    setMeta(&metas[5], &accounts[BRIDGE_TRANSMITTER_STATE], WRITE);
    setMeta(&metas[6], &accounts[BRIDGE_MESSENGER_STATE], READ);
    setMeta(&metas[7], &accounts[BRIDGE_REMOTE_MESSENGER], READ);
    setMeta(&metas[8], &accounts[BRIDGE_MINTER], READ);
    setMeta(&metas[9], &accounts[BRIDGE_LOCAL_TOKEN], WRITE);
    setMeta(&metas[10], &accounts[MINT], WRITE);
    setMeta(&metas[11], &accounts[BRIDGE_EVENT], WRITE | SIGN);
    setMeta(&metas[12], &accounts[BRIDGE_TRANSMITTER], READ);
    setMeta(&metas[13], &accounts[AGENT], READ);
    setMeta(&metas[14], &accounts[TOKEN_PROGRAM], READ);
    setMeta(&metas[15], &accounts[BRIDGE_SYSTEM], READ);
    setMeta(&metas[16], &accounts[BRIDGE_EVENT_AUTHORITY], READ);
    setMeta(&metas[17], &accounts[AGENT], READ);
    insertFurther(call, metas, burn->writable);
    u8 data[BURN_SIZE] __attribute__((aligned(8)));
    writeBurn(call, data, burn->amount, burn->route);
    u64 metaCount = BURN_METAS + call->accountCount - BRIDGE_ACCOUNTS;
    Instruction instruction = { accounts[AGENT].key, metas, metaCount, data, BURN_SIZE };
    return invokeSigned(call, &instruction, call->inboxes);
}

/* The inbox's signature must reach neither its lamports nor other token accounts of it. Event payer and event sign themselves: otherwise the
 * inbox would pay for the event, or become it. The limit is that of the mint: the caller says in which place the messenger reads its own. */
INLINE u64 checkBridgeAccounts(const Call *call) {
    const Account *accounts = call->accounts, *local = &accounts[BRIDGE_LOCAL_TOKEN];
    if (!accounts[BRIDGE_EVENT_PAYER].isSigner || !accounts[BRIDGE_EVENT].isSigner) return ERROR_SIGNER;
    if (!isSameKey(local->owner, accounts[AGENT].key) || local->size < LOCAL_TOKEN_SIZE_MIN) return ERROR_PROGRAM;
    if (!isSameKey((const Key *)(local->data + LOCAL_TOKEN_MINT), accounts[MINT].key)) return ERROR_PROGRAM;
    if (isSameKey(accounts[BRIDGE_TRANSMITTER_STATE].key, accounts[BRIDGE_INBOX].key)) return ERROR_PROGRAM;
    if (isTokenProgram(accounts[BRIDGE_TRANSMITTER_STATE].owner)) return ERROR_PROGRAM;
    if (isTokenProgram(accounts[BRIDGE_EVENT].owner)) return ERROR_PROGRAM;
    return isTokenProgram(accounts[BRIDGE_EVENT_PAYER].owner) ? ERROR_PROGRAM : 0;
}

/* What the token account is: its balance, its lamports, its length, and the hash of all its data but the balance. */
typedef struct {
    u64 units, lamports, size;
    Key rest;
} Held;

FUNCTION void readHeld(const Account *account, Held *held) {
    held->units = amountOf(account);
    held->lamports = *account->lamports;
    held->size = account->size;
    Slice parts[2];
    setSlice(&parts[0], account->data, TOKEN_AMOUNT);
    setSlice(&parts[1], account->data + TOKEN_DELEGATE, held->size - TOKEN_DELEGATE);
    sol_sha256(parts, 2, (u8 *)&held->rest);
}

/* After the burn: nothing but the amount is gone, and nobody has a hold on later deposits. Owner, delegate, close authority and the extensions of
 * Token-2022 are as before, so that nobody can take or refuse them. */
FUNCTION int isOnlyBurned(const Account *account, const Held *before, u64 amount) {
    if (account->size != before->size) return 0;
    Held held;
    readHeld(account, &held);
    if (held.units != before->units - amount || held.lamports < before->lamports) return 0;
    return isSameKey(&held.rest, &before->rest);
}

/* With the inbox's signature the messenger could create the token account to which later deposits go, and delegate it. */
INLINE int hasOpenedAccount(const Call *call, u64 writable) {
    for (u64 i = FIRST; i < call->accountCount; i++)
        if (writable & bitOf(i) && isTokenProgram(call->accounts[i].owner)) return 1;
    return 0;
}

FUNCTION u64 bridge(const Call *call) {
    const Account *accounts = call->accounts;
    if (call->kind != KIND_HOP) return ERROR_KIND;
    if (call->accountCount < BRIDGE_ACCOUNTS || call->inboxCount != 1) return ERROR_ACCOUNTS;
    if (call->accountCount > BRIDGE_ACCOUNTS + FURTHER_MAX) return ERROR_ACCOUNTS;
    Burn burn = { 0, routeOf(call), findWritable(call) };
    if (!burn.route) return ERROR_ROUTE;
    Inbox inbox = { call->inboxes, &accounts[BRIDGE_ACCOUNT], &accounts[BRIDGE_INBOX], &accounts[MINT] };
    u64 failure = checkInbox(call, &inbox);
    if (failure) return failure;
    Held before;
    readHeld(inbox.account, &before);
    if (before.units == 0) return closeForRent(call, &inbox);
    failure = checkBridgeAccounts(call);
    if (failure) return failure;
    u64 limit = readWord(accounts[BRIDGE_LOCAL_TOKEN].data + LOCAL_TOKEN_LIMIT);
    burn.amount = before.units < limit ? before.units : limit;
    if (burn.amount == 0 || burn.amount < readInteger(call->data + HOP_MIN_AMOUNT, 8)) return ERROR_MINIMUM;
    failure = depositForBurn(call, &burn);
    if (failure) return failure;
    if (!isOnlyBurned(inbox.account, &before, burn.amount) || hasOpenedAccount(call, burn.writable)) return ERROR_LEFT;
    return closeForRent(call, &inbox);
}
