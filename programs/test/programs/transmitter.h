// SPDX-License-Identifier: Apache-2.0
/* send_message and reclaim_event_account of MessageTransmitterV2. The data of the first: discriminator, domain, recipient, destination caller, finality threshold, body. */

enum { SEND_PAYER, SEND_AUTHORITY, SEND_STATE, SEND_EVENT, SEND_PROGRAM, SEND_SYSTEM, SEND_ACCOUNTS };
enum { SEND_DOMAIN = 8, SEND_RECIPIENT = 12, SEND_THRESHOLD = 76, SEND_BODY = 84 };
/* The account that holds a message: discriminator, who paid, when, the message as a vector. */
enum { EVENT_PAID_BY = 8, EVENT_AT = 40, EVENT_LENGTH = 48 };
enum { RECLAIM_PAYEE, RECLAIM_STATE, RECLAIM_EVENT_ACCOUNT, RECLAIM_ACCOUNTS };
enum { RECLAIM_AFTER = 5 * 86400 };

INLINE u64 bodyMaxOf(const u8 *state) {
    return readInteger(state + STATE_ATTESTERS + 32 * readInteger(state + STATE_ATTESTER_COUNT, 4), 8);
}

INLINE void writeMessage(const Call *call, u8 *message) {
    const Account *a = call->accounts;
    const u8 *state = a[SEND_STATE].data, *data = call->data;
    writeBigEndian(message, readInteger(state + STATE_VERSION, 4), 4);
    writeBigEndian(message + 4, readInteger(state + STATE_DOMAIN, 4), 4);
    writeBigEndian(message + 8, readInteger(data + SEND_DOMAIN, 4), 4);
    copyBytes(message + 44, a[SEND_PROGRAM].key, 32);
    copyBytes(message + 76, data + SEND_RECIPIENT, 64); /* recipient, destination caller */
    writeBigEndian(message + 140, readInteger(data + SEND_THRESHOLD, 4), 4);
    copyBytes(message + 148, data + SEND_BODY, BODY_SIZE);
}

FUNCTION u64 checkSend(const Call *call) {
    const Account *a = call->accounts;
    const u8 *state = a[SEND_STATE].data;
    if (call->accountCount < SEND_ACCOUNTS) return ERROR_NOT_ENOUGH_ACCOUNTS;
    if (call->dataSize != SEND_BODY + BODY_SIZE) return ERROR_NOT_DESERIALIZED;
    if (!a[SEND_PAYER].isSigner || !a[SEND_AUTHORITY].isSigner) return ERROR_NOT_SIGNER;
    u64 failure = checkState(&a[SEND_STATE], call->self, MESSAGE_TRANSMITTER, TRANSMITTER_STATE_SIZE);
    if (failure) return failure;
    if (!a[SEND_EVENT].isSigner) return ERROR_NOT_SIGNER;
    if (!isKey(a[SEND_SYSTEM].key, KEY_SYSTEM)) return ERROR_PROGRAM;
    if (!isSenderAuthority(&a[SEND_AUTHORITY], a[SEND_PROGRAM].key)) return ERROR_SEEDS;
    if (!a[SEND_PROGRAM].isExecutable) return ERROR_RAW;
    if (state[STATE_PAUSED] != 0) return TRANSMITTER_PAUSED;
    if (readInteger(call->data + SEND_DOMAIN, 4) == readInteger(state + STATE_DOMAIN, 4)) return TRANSMITTER_LOCAL_DOMAIN;
    if (bodyMaxOf(state) < BODY_SIZE) return TRANSMITTER_BODY_LIMIT;
    return isZero(call->data + SEND_RECIPIENT) ? TRANSMITTER_RECIPIENT : 0;
}

FUNCTION u64 sendMessage(const Call *call) {
    const Account *a = call->accounts;
    u64 failure = checkSend(call);
    NewAccount made = { &a[SEND_PAYER], &a[SEND_EVENT], &a[SEND_SYSTEM], EVENT_HEADER + MESSAGE_SIZE, 0 };
    if (!failure) failure = createState(call, &made, MESSAGE_SENT);
    if (failure) return failure;
    Clock clock;
    sol_get_clock_sysvar(&clock);
    u8 *event = (u8 *)a[SEND_EVENT].data;
    copyBytes(event + EVENT_PAID_BY, a[SEND_PAYER].key, 32);
    writeInteger(event + EVENT_AT, (u64)clock.unixTime, 8);
    writeInteger(event + EVENT_LENGTH, MESSAGE_SIZE, 4);
    writeMessage(call, event + EVENT_HEADER);
    return 0;
}

/* Everything of the account goes to the one who paid for it. */
INLINE void closeEvent(const Account *event, const Account *payee) {
    *(u64 *)payee->lamports += *event->lamports;
    *(u64 *)event->lamports = 0;
    *(u64 *)(event->data - 8) = 0;
    clearBytes((u8 *)event->owner, 32);
}

/* The message in the account and the attested one agree in what the source chain wrote into the header. */
FUNCTION u64 checkReclaim(const Account *event, const u8 *state, const Bytes *attested) {
    Bytes stored = { event->data + EVENT_HEADER, readInteger(event->data + EVENT_LENGTH, 4) };
    u64 failure = checkMessage(state, &stored);
    if (!failure) failure = checkMessage(state, attested);
    if (failure) return failure;
    Key one, other;
    hashSource(&stored, (u8 *)&one);
    hashSource(attested, (u8 *)&other);
    return isSameKey(&one, &other) ? 0 : TRANSMITTER_OTHER_MESSAGE;
}

FUNCTION u64 reclaimEvent(const Call *call) {
    const Account *a = call->accounts, *event = &a[RECLAIM_EVENT_ACCOUNT];
    const u8 *state = a[RECLAIM_STATE].data;
    u64 offset = 8;
    Bytes attestation, attested;
    if (call->accountCount < RECLAIM_ACCOUNTS) return ERROR_NOT_ENOUGH_ACCOUNTS;
    if (!readVector(call, &offset, &attestation) || !readVector(call, &offset, &attested)) return ERROR_NOT_DESERIALIZED;
    if (!a[RECLAIM_PAYEE].isSigner) return ERROR_NOT_SIGNER;
    u64 failure = checkState(&a[RECLAIM_STATE], call->self, MESSAGE_TRANSMITTER, TRANSMITTER_STATE_SIZE);
    if (!failure) failure = checkState(event, call->self, MESSAGE_SENT, EVENT_HEADER);
    if (failure) return failure;
    if (!isSameKey((const Key *)(event->data + EVENT_PAID_BY), a[RECLAIM_PAYEE].key)) return ERROR_RAW;
    if (state[STATE_PAUSED] != 0) return TRANSMITTER_PAUSED;
    Clock clock;
    sol_get_clock_sysvar(&clock);
    if (clock.unixTime < (long)readInteger(event->data + EVENT_AT, 8) + RECLAIM_AFTER) return TRANSMITTER_WINDOW;
    failure = checkReclaim(event, state, &attested);
    if (!failure) failure = checkAttestation(state, &attested, &attestation);
    if (failure) return failure;
    if (readBigEndian(attested.at + MESSAGE_SOURCE, 4) != readInteger(state + STATE_DOMAIN, 4)) return TRANSMITTER_SOURCE_DOMAIN;
    closeEvent(event, &a[RECLAIM_PAYEE]);
    return 0;
}
