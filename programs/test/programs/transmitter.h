// SPDX-License-Identifier: Apache-2.0
/* send_message of MessageTransmitterV2. The data: discriminator, domain, recipient, destination caller, finality threshold, body. */

enum { SEND_PAYER, SEND_AUTHORITY, SEND_STATE, SEND_EVENT, SEND_PROGRAM, SEND_SYSTEM, SEND_ACCOUNTS };
enum { SEND_DOMAIN = 8, SEND_RECIPIENT = 12, SEND_THRESHOLD = 76, SEND_BODY = 84 };
enum { SENDER_PAUSED = 136, SENDER_DOMAIN = 137, SENDER_VERSION = 141, SENDER_BODY_MAX = 185 };

/* The account that holds the message: paid and signed by others than the sender. */
FUNCTION u64 createEvent(const Call *call) {
    const Account *a = call->accounts;
    Meta metas[2];
    setMeta(&metas[0], &a[SEND_PAYER], WRITE | SIGN);
    setMeta(&metas[1], &a[SEND_EVENT], WRITE | SIGN);
    u8 data[52];
    writeInteger(data, 0, 4); /* CreateAccount */
    writeInteger(data + 4, rentOf(EVENT_SIZE), 8);
    writeInteger(data + 12, EVENT_SIZE, 8);
    copyBytes(data + 20, call->self, 32);
    Instruction instruction = { a[SEND_SYSTEM].key, metas, 2, data, 52 };
    return sol_invoke_signed_c(&instruction, a, call->accountCount, 0, 0);
}

INLINE void writeMessage(const Call *call, u8 *message) {
    const Account *a = call->accounts;
    const u8 *state = a[SEND_STATE].data, *data = call->data;
    writeBigEndian(message, readInteger(state + SENDER_VERSION, 4), 4);
    writeBigEndian(message + 4, readInteger(state + SENDER_DOMAIN, 4), 4);
    writeBigEndian(message + 8, readInteger(data + SEND_DOMAIN, 4), 4);
    copyBytes(message + 44, a[SEND_PROGRAM].key, 32);
    copyBytes(message + 76, data + SEND_RECIPIENT, 64); /* recipient, destination caller */
    writeBigEndian(message + 140, readInteger(data + SEND_THRESHOLD, 4), 4);
    copyBytes(message + 148, data + SEND_BODY, BODY_SIZE);
}

FUNCTION u64 checkSend(const Call *call) {
    const Account *a = call->accounts;
    const u8 *state = a[SEND_STATE].data;
    if (call->accountCount != SEND_ACCOUNTS || call->dataSize != SEND_BODY + BODY_SIZE) return ERROR_DATA;
    if (!isState(&a[SEND_STATE], call->self, MESSAGE_TRANSMITTER, TRANSMITTER_STATE_SIZE)) return ERROR_ACCOUNT;
    if (!a[SEND_PROGRAM].isExecutable) return ERROR_ACCOUNT;
    if (!a[SEND_PAYER].isSigner || !a[SEND_AUTHORITY].isSigner || !a[SEND_EVENT].isSigner) return ERROR_SIGNER;
    Name name;
    setSenderAuthority(&name);
    Slice seed;
    setSlice(&seed, &name, 16);
    if (!isDerived(&a[SEND_AUTHORITY], a[SEND_PROGRAM].key, &seed, 1)) return ERROR_ACCOUNT;
    if (state[SENDER_PAUSED] != 0) return ERROR_PAUSED;
    if (readInteger(call->data + SEND_DOMAIN, 4) == readInteger(state + SENDER_DOMAIN, 4)) return ERROR_DOMAIN;
    if (readInteger(state + SENDER_BODY_MAX, 8) < BODY_SIZE) return ERROR_BODY;
    return isZero(call->data + SEND_RECIPIENT) ? ERROR_RECIPIENT : 0;
}

FUNCTION u64 sendMessage(const Call *call) {
    u64 failure = checkSend(call);
    if (!failure) failure = createEvent(call);
    if (failure) return failure;
    Clock clock;
    sol_get_clock_sysvar(&clock);
    u8 *event = (u8 *)call->accounts[SEND_EVENT].data;
    writeInteger(event, MESSAGE_SENT, 8);
    copyBytes(event + 8, call->accounts[SEND_PAYER].key, 32);
    writeInteger(event + 40, (u64)clock.unixTime, 8);
    writeInteger(event + 48, MESSAGE_SIZE, 4);
    writeMessage(call, event + 52);
    return 0;
}
