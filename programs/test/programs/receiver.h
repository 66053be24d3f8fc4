// SPDX-License-Identifier: Apache-2.0
/* receive_message of MessageTransmitterV2. The data: discriminator, message, attestation. What follows its nine accounts goes to the receiver. */

enum {
    RECEIVE_PAYER,
    RECEIVE_CALLER,
    RECEIVE_AUTHORITY,
    RECEIVE_STATE,
    RECEIVE_NONCE,
    RECEIVE_RECEIVER,
    RECEIVE_SYSTEM,
    RECEIVE_EVENT_AUTHORITY,
    RECEIVE_PROGRAM,
    RECEIVE_ACCOUNTS
};
enum { NONCE_SIZE = 9, RECEIVED_BODY_MAX = 600 };

/* An account of its own for each number: a second receipt cannot create it. */
FUNCTION u64 useNonce(const Call *call, const u8 *message) {
    const Account *a = call->accounts;
    Name name;
    setName(&name, WORD('u', 's', 'e', 'd', '_', 'n', 'o', 'n'), WORD('c', 'e', 0, 0, 0, 0, 0, 0), 0);
    Key key;
    u8 bump = 0;
    Slice seeds[3], signer;
    setSlice(&seeds[0], &name, 10);
    setSlice(&seeds[1], message + MESSAGE_NONCE, 32);
    setSlice(&seeds[2], &bump, 1);
    setSlice(&signer, seeds, 3);
    if (sol_try_find_program_address(seeds, 2, call->self, &key, &bump)) return ERROR_SEEDS;
    if (!isSameKey(&key, a[RECEIVE_NONCE].key)) return ERROR_SEEDS;
    NewAccount made = { &a[RECEIVE_PAYER], &a[RECEIVE_NONCE], &a[RECEIVE_SYSTEM], NONCE_SIZE, &signer };
    u64 failure = createState(call, &made, USED_NONCE);
    if (!failure) *(volatile u8 *)(a[RECEIVE_NONCE].data + 8) = 1;
    return failure;
}

FUNCTION u64 checkReceive(const Call *call, const Bytes *message) {
    const Account *a = call->accounts;
    if (call->accountCount < RECEIVE_ACCOUNTS) return ERROR_NOT_ENOUGH_ACCOUNTS;
    if (!a[RECEIVE_PAYER].isSigner || !a[RECEIVE_CALLER].isSigner) return ERROR_NOT_SIGNER;
    u64 failure = checkState(&a[RECEIVE_STATE], call->self, MESSAGE_TRANSMITTER, TRANSMITTER_STATE_SIZE);
    if (failure) return failure;
    if (!isKey(a[RECEIVE_SYSTEM].key, KEY_SYSTEM)) return ERROR_PROGRAM;
    if (message->size < MESSAGE_SENDER) return ERROR_NOT_DESERIALIZED;
    failure = useNonce(call, message->at);
    if (failure) return failure;
    if (!isReceiveAuthority(&a[RECEIVE_AUTHORITY], call->self, a[RECEIVE_RECEIVER].key)) return ERROR_SEEDS;
    if (!a[RECEIVE_RECEIVER].isExecutable || isSameKey(a[RECEIVE_RECEIVER].key, call->self)) return ERROR_RAW;
    return checkEventAuthority(call, &a[RECEIVE_EVENT_AUTHORITY]);
}

FUNCTION u64 checkDestination(const Call *call, const u8 *state, const u8 *message) {
    const Account *a = call->accounts;
    if (readBigEndian(message + MESSAGE_DESTINATION, 4) != readInteger(state + STATE_DOMAIN, 4)) return TRANSMITTER_DESTINATION_DOMAIN;
    const u8 *caller = message + MESSAGE_CALLER, *own = (const u8 *)a[RECEIVE_CALLER].key;
    if (!isZero(caller) && (isAbove(caller, own) || isAbove(own, caller))) return TRANSMITTER_CALLER;
    const u8 *recipient = message + MESSAGE_RECIPIENT, *receiver = (const u8 *)a[RECEIVE_RECEIVER].key;
    return isAbove(recipient, receiver) || isAbove(receiver, recipient) ? TRANSMITTER_RECIPIENT_PROGRAM : 0;
}

FUNCTION u64 callReceiver(const Call *call, const Bytes *message) {
    const Account *a = call->accounts;
    u64 bodySize = message->size - HEADER_SIZE, more = call->accountCount - RECEIVE_ACCOUNTS;
    u8 data[HANDLE_BODY + 4 + RECEIVED_BODY_MAX + 1], bump = 0;
    u64 executed = readBigEndian(message->at + MESSAGE_EXECUTED, 4);
    if (bodySize > RECEIVED_BODY_MAX) return ERROR_NOT_DESERIALIZED;
    Name name;
    setReceiveAuthority(&name);
    Key key;
    Slice seeds[3], signer;
    setSlice(&seeds[0], &name, 29);
    setSlice(&seeds[1], a[RECEIVE_RECEIVER].key, 32);
    setSlice(&seeds[2], &bump, 1);
    setSlice(&signer, seeds, 3);
    sol_try_find_program_address(seeds, 2, call->self, &key, &bump);
    writeInteger(data, executed < FINALIZED ? HANDLE_UNFINALIZED : HANDLE_FINALIZED, 8);
    writeInteger(data + HANDLE_DOMAIN, readBigEndian(message->at + MESSAGE_SOURCE, 4), 4);
    copyBytes(data + HANDLE_SENDER, message->at + MESSAGE_SENDER, 32);
    writeInteger(data + HANDLE_EXECUTED, executed, 4);
    writeInteger(data + HANDLE_BODY, bodySize, 4);
    for (u64 i = 0; i < bodySize; i++) *(volatile u8 *)(data + HANDLE_BODY + 4 + i) = message->at[HEADER_SIZE + i];
    data[HANDLE_BODY + 4 + bodySize] = bump;
    Meta metas[ACCOUNTS_MAX];
    setMeta(&metas[0], &a[RECEIVE_AUTHORITY], SIGN);
    for (u64 i = 0; i < more; i++) {
        const Account *account = &a[RECEIVE_ACCOUNTS + i];
        setMeta(&metas[1 + i], account, (u64)account->isWritable | (u64)account->isSigner << 8);
    }
    Instruction instruction = { a[RECEIVE_RECEIVER].key, metas, 1 + more, data, HANDLE_BODY + 5 + bodySize };
    return sol_invoke_signed_c(&instruction, a, call->accountCount, &signer, 1);
}

/* Room for tag and event; caller, source, number, sender, executed threshold, body. */
FUNCTION u64 emitReceived(const Call *call, const Bytes *message) {
    u64 bodySize = message->size - HEADER_SIZE;
    u8 data[124 + RECEIVED_BODY_MAX];
    copyBytes(data + 16, call->accounts[RECEIVE_CALLER].key, 32);
    writeInteger(data + 48, readBigEndian(message->at + MESSAGE_SOURCE, 4), 4);
    copyBytes(data + 52, message->at + MESSAGE_NONCE, 64); /* number, sender */
    writeInteger(data + 116, readBigEndian(message->at + MESSAGE_EXECUTED, 4), 4);
    writeInteger(data + 120, bodySize, 4);
    for (u64 i = 0; i < bodySize; i++) *(volatile u8 *)(data + 124 + i) = message->at[HEADER_SIZE + i];
    Slice slice;
    setSlice(&slice, data, 124 + bodySize);
    return emitEvent(call, &call->accounts[RECEIVE_EVENT_AUTHORITY], EVENT_MESSAGE_RECEIVED, &slice);
}

FUNCTION u64 receiveMessage(const Call *call) {
    const u8 *state = call->accounts[RECEIVE_STATE].data;
    u64 offset = 8;
    Bytes message, attestation;
    if (!readVector(call, &offset, &message) || !readVector(call, &offset, &attestation)) return ERROR_NOT_DESERIALIZED;
    u64 failure = checkReceive(call, &message);
    if (failure) return failure;
    if (state[STATE_PAUSED] != 0) return TRANSMITTER_PAUSED;
    failure = checkMessage(state, &message);
    if (!failure) failure = checkAttestation(state, &message, &attestation);
    if (!failure) failure = checkDestination(call, state, message.at);
    if (!failure) failure = callReceiver(call, &message);
    return failure ? failure : emitReceived(call, &message);
}
