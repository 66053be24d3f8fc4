// SPDX-License-Identifier: Apache-2.0
/* Everything that an inbox signs, except the burn (bridge.h) and the recovery of a nested account (unnest.h). */

/* Twice the highest rent of a token account. Fewer lamports are somebody's rent, more are somebody's money. */
enum { LAMPORTS_RENT_END = 4100000 };

enum { TOKEN_CLOSE_ACCOUNT = 9, TOKEN_TRANSFER_CHECKED = 12, SYSTEM_TRANSFER = 2 };

/* The only place that signs: with the inbox of these seeds under the terms of the call. */
FUNCTION u64 invokeSigned(const Call *call, const Instruction *instruction, const u8 *inboxSeeds) {
    Slice seeds[4];
    setSlice(&seeds[0], call->kindSeed, 16);
    setSlice(&seeds[1], &call->termsHash, 32);
    setSlice(&seeds[2], inboxSeeds + 1, 32);
    setSlice(&seeds[3], inboxSeeds, 1);
    Slice signer;
    setSlice(&signer, seeds, 4);
    return sol_invoke_signed_c(instruction, call->accounts, call->accountCount, &signer, 1);
}

FUNCTION u64 transfer(const Call *call, const Inbox *inbox, const Account *to, u64 amount) {
    if (amount == 0) return 0;
    Meta metas[4];
    setMeta(&metas[0], inbox->account, WRITE);
    setMeta(&metas[1], inbox->mint, READ);
    setMeta(&metas[2], to, WRITE);
    setMeta(&metas[3], inbox->pda, SIGN);
    u8 data[10];
    data[0] = TOKEN_TRANSFER_CHECKED;
    writeInteger(data + 1, amount, 8);
    data[9] = inbox->mint->data[MINT_DECIMALS];
    Instruction instruction = { call->accounts[TOKEN_PROGRAM].key, metas, 4, data, 10 };
    return invokeSigned(call, &instruction, inbox->seeds);
}

FUNCTION u64 closeAccount(const Call *call, const Inbox *inbox, const Account *to) {
    Meta metas[3];
    setMeta(&metas[0], inbox->account, WRITE);
    setMeta(&metas[1], to, WRITE);
    setMeta(&metas[2], inbox->pda, SIGN);
    u8 data = TOKEN_CLOSE_ACCOUNT;
    Instruction instruction = { call->accounts[TOKEN_PROGRAM].key, metas, 3, &data, 1 };
    return invokeSigned(call, &instruction, inbox->seeds);
}

/* Closes only for the rent recipient that signs. An account whose closing could fail, or would give away more than a rent, stays open: closing
 * never stops a settlement. */
FUNCTION u64 closeForRent(const Call *call, const Inbox *inbox) {
    const Account *rentRecipient = &call->accounts[RENT_RECIPIENT], *account = inbox->account;
    if (!rentRecipient->isSigner || !rentRecipient->isWritable) return 0;
    if (amountOf(account) != 0 || account->data[TOKEN_NATIVE] != 0 || account->data[TOKEN_CLOSER] != 0) return 0;
    if (*account->lamports >= LAMPORTS_RENT_END) return 0;
    if (account->size > TOKEN_SIZE && !doExtensionsPermit(account, CLOSING)) return 0;
    return closeAccount(call, inbox, rentRecipient);
}

/* Account 6 is the inbox. */
FUNCTION u64 transferLamports(const Call *call, const Account *to, const Account *system, u64 lamports) {
    if (!isKey(system->key, KEY_SYSTEM)) return ERROR_PROGRAM;
    if (lamports == 0) return ERROR_NOTHING;
    Meta metas[2];
    setMeta(&metas[0], &call->accounts[FIRST], WRITE | SIGN);
    setMeta(&metas[1], to, WRITE);
    u8 data[12];
    writeInteger(data, SYSTEM_TRANSFER, 4);
    writeInteger(data + 4, lamports, 8);
    Instruction instruction = { system->key, metas, 2, data, 12 };
    return invokeSigned(call, &instruction, call->inboxes);
}
