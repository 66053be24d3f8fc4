// SPDX-License-Identifier: Apache-2.0
/* What Anchor does for both programs: checks of accounts, new accounts, and events. */

#define DEPOSIT_FOR_BURN WORD(215, 60, 61, 46, 114, 55, 128, 176)
#define HANDLE_FINALIZED WORD(186, 252, 239, 70, 86, 180, 110, 95)
#define HANDLE_UNFINALIZED WORD(200, 169, 175, 20, 200, 58, 182, 61)
#define SEND_MESSAGE WORD(57, 40, 34, 178, 189, 10, 65, 26)
#define RECEIVE_MESSAGE WORD(38, 144, 127, 225, 31, 225, 238, 25)
#define RECLAIM_EVENT WORD(94, 198, 180, 159, 131, 236, 15, 174)
#define EMIT_EVENT WORD(0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d)
#define EVENT_DEPOSIT_FOR_BURN WORD(144, 252, 145, 146, 6, 74, 167, 235)
#define EVENT_MINT_AND_WITHDRAW WORD(75, 67, 229, 70, 162, 126, 0, 71)
#define EVENT_MESSAGE_RECEIVED WORD(231, 68, 47, 77, 173, 241, 157, 166)
#define TOKEN_MESSENGER WORD(162, 4, 242, 52, 147, 243, 221, 96)
#define REMOTE_TOKEN_MESSENGER WORD(105, 115, 174, 34, 95, 233, 138, 252)
#define TOKEN_MINTER WORD(122, 133, 84, 63, 57, 159, 171, 206)
#define TOKEN_PAIR WORD(17, 214, 45, 176, 229, 149, 197, 71)
#define LOCAL_TOKEN WORD(159, 131, 58, 170, 193, 84, 128, 182)
#define MESSAGE_TRANSMITTER WORD(71, 40, 180, 142, 19, 203, 35, 252)
#define MESSAGE_SENT WORD(131, 100, 133, 56, 166, 225, 151, 60)
#define USED_NONCE WORD(212, 222, 157, 252, 130, 71, 179, 238)

enum {
    ERROR_UNKNOWN_INSTRUCTION = 101,
    ERROR_NOT_DESERIALIZED = 102,
    ERROR_HAS_ONE = 2001,
    ERROR_EVENT_SIGNER = 2002,
    ERROR_RAW = 2003,
    ERROR_SEEDS = 2006,
    ERROR_DISCRIMINATOR_MISSING = 3001,
    ERROR_DISCRIMINATOR = 3002,
    ERROR_SHORT_ACCOUNT = 3003,
    ERROR_NOT_ENOUGH_ACCOUNTS = 3005,
    ERROR_OWNER = 3007,
    ERROR_PROGRAM = 3008,
    ERROR_NOT_SIGNER = 3010,
    ERROR_NOT_INITIALIZED = 3012,
    ERROR_NOT_ASSOCIATED = 3014,
    ERROR_PAYER = 4101
};

enum { BODY_SIZE = 228, HEADER_SIZE = 148, MESSAGE_SIZE = HEADER_SIZE + BODY_SIZE, EVENT_HEADER = 52 };
enum { TOKEN_ACCOUNT_SIZE = 165, TOKEN_ACCOUNT_OWNER = 32, FINALIZED = 2000 };

FUNCTION u64 checkState(const Account *account, const Key *owner, u64 discriminator, u64 sizeMin) {
    if (isKey(account->owner, KEY_SYSTEM) && *account->lamports == 0) return ERROR_NOT_INITIALIZED;
    if (!isSameKey(account->owner, owner)) return ERROR_OWNER;
    if (account->size < 8) return ERROR_DISCRIMINATOR_MISSING;
    if (readWord(account->data) != discriminator) return ERROR_DISCRIMINATOR;
    return account->size < sizeMin ? ERROR_SHORT_ACCOUNT : 0;
}

FUNCTION u64 checkTokenAccount(const Account *account) {
    Key token;
    setKey(&token, KEY_TOKEN);
    if (isKey(account->owner, KEY_SYSTEM) && *account->lamports == 0) return ERROR_NOT_INITIALIZED;
    if (!isSameKey(account->owner, &token)) return ERROR_OWNER;
    return account->size == TOKEN_ACCOUNT_SIZE ? 0 : ERROR_SHORT_ACCOUNT;
}

/* With the highest bump. */
FUNCTION int isDerived(const Account *account, const Key *program, const Slice *seeds, u64 count) {
    Key derived;
    u8 bump = 0;
    return sol_try_find_program_address(seeds, count, program, &derived, &bump) == 0 && isSameKey(&derived, account->key);
}

INLINE void setSenderAuthority(Name *name) {
    setName(name, WORD('s', 'e', 'n', 'd', 'e', 'r', '_', 'a'), WORD('u', 't', 'h', 'o', 'r', 'i', 't', 'y'), 0);
}

/* An account that Anchor creates: one that holds lamports already only gets what is missing. */
typedef struct {
    const Account *payer, *account, *system;
    u64 size;
    /* Undefined where the account signs itself. */
    const Slice *signer;
} NewAccount;

FUNCTION u64 callSystem(const Call *call, const NewAccount *made, const Slice *data, u64 metaCount) {
    Meta metas[2];
    setMeta(&metas[0], metaCount == 2 ? made->payer : made->account, WRITE | SIGN);
    setMeta(&metas[1], made->account, WRITE | SIGN);
    if (metaCount == 2 && readInteger(data->at, 4) == 2) setMeta(&metas[1], made->account, WRITE);
    Instruction instruction = { made->system->key, metas, metaCount, data->at, data->size };
    return sol_invoke_signed_c(&instruction, call->accounts, call->accountCount, made->signer, made->signer ? 1 : 0);
}

FUNCTION u64 createState(const Call *call, const NewAccount *made, u64 discriminator) {
    u64 rent = rentOf(made->size), held = *made->account->lamports, failure = 0;
    u8 data[52];
    Slice slice;
    if (held == 0) {
        writeInteger(data, 0, 4); /* CreateAccount */
        writeInteger(data + 4, rent, 8);
        writeInteger(data + 12, made->size, 8);
        copyBytes(data + 20, call->self, 32);
        setSlice(&slice, data, 52);
        failure = callSystem(call, made, &slice, 2);
    } else {
        if (isSameKey(made->payer->key, made->account->key)) return ERROR_PAYER;
        writeInteger(data, 2, 4); /* Transfer */
        writeInteger(data + 4, rent > held ? rent - held : 0, 8);
        setSlice(&slice, data, 12);
        if (rent > held) failure = callSystem(call, made, &slice, 2);
        writeInteger(data, 8, 4); /* Allocate */
        writeInteger(data + 4, made->size, 8);
        if (!failure) failure = callSystem(call, made, &slice, 1);
        writeInteger(data, 1, 4); /* Assign */
        copyBytes(data + 4, call->self, 32);
        setSlice(&slice, data, 36);
        if (!failure) failure = callSystem(call, made, &slice, 1);
    }
    if (!failure) writeInteger((u8 *)made->account->data, discriminator, 8);
    return failure;
}

INLINE void setEventAuthority(Name *name) {
    setName(name, WORD('_', '_', 'e', 'v', 'e', 'n', 't', '_'), WORD('a', 'u', 't', 'h', 'o', 'r', 'i', 't'), 'y');
}

/* The program itself is not checked where it stands. The call of itself fails if it is not among the accounts at all. */
FUNCTION u64 checkEventAuthority(const Call *call, const Account *authority) {
    Name name;
    setEventAuthority(&name);
    Slice seed;
    setSlice(&seed, &name, 17);
    return isDerived(authority, call->self, &seed, 1) ? 0 : ERROR_SEEDS;
}

/* The program emits an event by calling itself with the signature of its event authority. `data` begins with room for 16 bytes. */
FUNCTION u64 emitEvent(const Call *call, const Account *authority, u64 event, const Slice *data) {
    Name name;
    setEventAuthority(&name);
    Key key;
    u8 bump = 0;
    Slice seeds[2], signer;
    setSlice(&seeds[0], &name, 17);
    setSlice(&seeds[1], &bump, 1);
    setSlice(&signer, seeds, 2);
    sol_try_find_program_address(seeds, 1, call->self, &key, &bump);
    writeInteger((u8 *)data->at, EMIT_EVENT, 8);
    writeInteger((u8 *)data->at + 8, event, 8);
    Meta meta;
    setMeta(&meta, authority, SIGN);
    Instruction instruction = { call->self, &meta, 1, data->at, data->size };
    return sol_invoke_signed_c(&instruction, call->accounts, call->accountCount, &signer, 1);
}

FUNCTION u64 checkEvent(const Call *call) {
    if (call->accountCount == 0) return ERROR_NOT_ENOUGH_ACCOUNTS;
    if (!call->accounts[0].isSigner) return ERROR_EVENT_SIGNER;
    Name name;
    setEventAuthority(&name);
    Slice seed;
    setSlice(&seed, &name, 17);
    return isDerived(&call->accounts[0], call->self, &seed, 1) ? 0 : ERROR_SEEDS;
}
