// SPDX-License-Identifier: Apache-2.0
/* Messages and attestations, as MessageTransmitterV2 reads them. */

#define sol_keccak256 ((u64(*)(const Slice *, u64, u8 *))(u64)SYSCALL_KECCAK256)
#define sol_secp256k1_recover ((u64(*)(const u8 *, u64, const u8 *, u8 *))(u64)SYSCALL_SECP256K1_RECOVER)

/* The state of the transmitter: the limit of a body follows the attesters. */
enum {
    STATE_PAUSED = 136,
    STATE_DOMAIN = 137,
    STATE_VERSION = 141,
    STATE_SIGNATURES = 145,
    STATE_ATTESTER_COUNT = 149,
    STATE_ATTESTERS = 153,
    TRANSMITTER_STATE_SIZE = 193
};
/* A message. */
enum {
    MESSAGE_SOURCE = 4,
    MESSAGE_DESTINATION = 8,
    MESSAGE_NONCE = 12,
    MESSAGE_SENDER = 44,
    MESSAGE_RECIPIENT = 76,
    MESSAGE_CALLER = 108,
    MESSAGE_THRESHOLD = 140,
    MESSAGE_EXECUTED = 144
};
enum { SIGNATURE_SIZE = 65 };

enum {
    TRANSMITTER_PAUSED = 6001,
    TRANSMITTER_BODY_LIMIT = 6013,
    TRANSMITTER_CALLER = 6014,
    TRANSMITTER_RECIPIENT = 6015,
    TRANSMITTER_SOURCE_DOMAIN = 6017,
    TRANSMITTER_DESTINATION_DOMAIN = 6018,
    TRANSMITTER_VERSION = 6019,
    TRANSMITTER_RECIPIENT_PROGRAM = 6021,
    TRANSMITTER_MALFORMED = 6025,
    TRANSMITTER_ORDER = 6026,
    TRANSMITTER_SIGNATURE = 6027,
    TRANSMITTER_LENGTH = 6028,
    TRANSMITTER_RECOVERY_ID = 6029,
    TRANSMITTER_HIGH_S = 6030,
    TRANSMITTER_OTHER_MESSAGE = 6032,
    TRANSMITTER_WINDOW = 6033,
    TRANSMITTER_LOCAL_DOMAIN = 6034
};

typedef struct {
    const u8 *at;
    u64 size;
} Bytes;

/* A vector of bytes in an instruction's data. */
FUNCTION int readVector(const Call *call, u64 *offset, Bytes *bytes) {
    if (*offset + 4 > call->dataSize) return 0;
    bytes->size = readInteger(call->data + *offset, 4);
    bytes->at = call->data + *offset + 4;
    *offset += 4 + bytes->size;
    return *offset <= call->dataSize;
}

FUNCTION u64 checkMessage(const u8 *state, const Bytes *message) {
    if (message->size < HEADER_SIZE) return TRANSMITTER_MALFORMED;
    return readBigEndian(message->at, 4) == readInteger(state + STATE_VERSION, 4) ? 0 : TRANSMITTER_VERSION;
}

/* Above half of the curve's order: the other signature of the same message. */
INLINE int isHighS(const u8 *s) {
    u64 a = readBigEndian(s, 8), b = readBigEndian(s + 8, 8), c = readBigEndian(s + 16, 8), d = readBigEndian(s + 24, 8);
    if (a != 0x7ffffffffffffffful) return a > 0x7ffffffffffffffful;
    if (b != ~0ul) return 0;
    if (c != 0x5d576e7357a4501dul) return c > 0x5d576e7357a4501dul;
    return d > 0xdfe92f46681b20a0ul;
}

FUNCTION u64 recoverAttester(const u8 *hash, const u8 *signature, u8 *attester) {
    u8 id = signature[SIGNATURE_SIZE - 1], key[64];
    if (id < 27 || id > 30) return TRANSMITTER_RECOVERY_ID;
    if (isHighS(signature + 32)) return TRANSMITTER_HIGH_S;
    if (sol_secp256k1_recover(hash, id - 27, signature, key)) return TRANSMITTER_SIGNATURE;
    Slice slice;
    setSlice(&slice, key, 64);
    sol_keccak256(&slice, 1, attester);
    clearBytes(attester, 12);
    return 0;
}

FUNCTION int isAbove(const u8 *one, const u8 *other) {
    for (int i = 0; i < 32; i++)
        if (one[i] != other[i]) return one[i] > other[i];
    return 0;
}

FUNCTION int isAttester(const u8 *state, const u8 *key) {
    u64 count = readInteger(state + STATE_ATTESTER_COUNT, 4);
    for (u64 i = 0; i < count; i++) {
        const u8 *known = state + STATE_ATTESTERS + 32 * i;
        if (!isAbove(known, key) && !isAbove(key, known)) return 1;
    }
    return 0;
}

/* As many signatures as the state asks for, in the order of the attesters' addresses. */
FUNCTION u64 checkAttestation(const u8 *state, const Bytes *message, const Bytes *attestation) {
    u64 count = readInteger(state + STATE_SIGNATURES, 4);
    if (attestation->size != SIGNATURE_SIZE * count) return TRANSMITTER_LENGTH;
    u8 hash[32], last[32], attester[32];
    Slice slice;
    setSlice(&slice, message->at, message->size);
    sol_keccak256(&slice, 1, hash);
    clearBytes(last, 32);
    for (u64 i = 0; i < count; i++) {
        u64 failure = recoverAttester(hash, attestation->at + SIGNATURE_SIZE * i, attester);
        if (failure) return failure;
        if (!isAbove(attester, last)) return TRANSMITTER_ORDER;
        if (!isAttester(state, attester)) return TRANSMITTER_SIGNATURE;
        copyBytes(last, attester, 32);
    }
    return 0;
}

/* The fields of the header that the source chain wrote, and the length. The body is not among them. */
FUNCTION void hashSource(const Bytes *message, u8 *hash) {
    u8 size[8];
    writeBigEndian(size, message->size, 8);
    Slice slices[3];
    setSlice(&slices[0], message->at, MESSAGE_NONCE);
    setSlice(&slices[1], message->at + MESSAGE_SENDER, MESSAGE_EXECUTED - MESSAGE_SENDER);
    setSlice(&slices[2], size, 8);
    sol_keccak256(slices, 3, hash);
}
