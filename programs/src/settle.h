// SPDX-License-Identifier: Apache-2.0
/* settle: pays the whole balance of each inbox to the payout wallet, less the fee.
 *
 * Accounts from 6 on: payout token account, then of each inbox its token account and itself. Option: the bump of the payout token account.
 */
enum { SETTLE_PAYOUT = FIRST, SETTLE_INBOXES, SETTLE_PER_INBOX = 2 };

/* Whether an account is the payout wallet's associated token account. Its hash decides alone: only the associated token program can create an
 * account at such an address, and it takes one bump. */
FUNCTION int isPayoutAssociated(const Call *call, const Account *account) {
    Key program, marker;
    setKey(&program, KEY_ASSOCIATED_TOKEN);
    setKey(&marker, WORD('P', 'r', 'o', 'g', 'r', 'a', 'm', 'D'), WORD('e', 'r', 'i', 'v', 'e', 'd', 'A', 'd'),
           WORD('d', 'r', 'e', 's', 's', 0, 0, 0), 0);
    Slice seeds[6];
    setSlice(&seeds[0], call->accounts[PAYEE].key, 32);
    setSlice(&seeds[1], call->accounts[TOKEN_PROGRAM].key, 32);
    setSlice(&seeds[2], call->accounts[MINT].key, 32);
    setSlice(&seeds[3], call->data + DATA_OPTION, 1);
    setSlice(&seeds[4], &program, 32);
    setSlice(&seeds[5], &marker, 21);
    Key hash;
    sol_sha256(seeds, 6, (u8 *)&hash);
    return isSameKey(&hash, account->key);
}

/* The wallet may name another token account of its own by signing, for example after it lost its associated one. */
FUNCTION u64 checkPayout(const Call *call) {
    const Account *payout = &call->accounts[SETTLE_PAYOUT], *wallet = &call->accounts[PAYEE];
    u64 state = stateOf(payout, &call->accounts[MINT], &call->accounts[TOKEN_PROGRAM]);
    if (state != STATE_INITIALIZED || !isSameKey(tokenOwnerOf(payout), wallet->key)) return ERROR_PAYOUT;
    return wallet->isSigner || isPayoutAssociated(call, payout) ? 0 : ERROR_PAYOUT;
}

INLINE u64 settleInbox(const Call *call, const Inbox *inbox) {
    u64 failure = checkInbox(call, inbox);
    if (failure) return failure;
    u64 amount = amountOf(inbox->account), fee = feeOf(call, inbox->mint, amount);
    failure = transfer(call, inbox, &call->accounts[SETTLE_PAYOUT], amount - fee);
    if (!failure) failure = transfer(call, inbox, &call->accounts[AGENT], fee);
    return failure ? failure : closeForRent(call, inbox);
}

FUNCTION u64 settle(const Call *call) {
    if (call->kind != KIND_PAY) return ERROR_KIND;
    if (call->accountCount != SETTLE_INBOXES + SETTLE_PER_INBOX * call->inboxCount) return ERROR_ACCOUNTS;
    if (readInteger(call->data + PAY_FEE_BPS, 2) > FEE_BPS_MAX) return ERROR_FEE_BPS;
    u64 failure = checkPayout(call);
    for (u64 i = 0; i < call->inboxCount && !failure; i++) {
        const Account *account = &call->accounts[SETTLE_INBOXES + SETTLE_PER_INBOX * i];
        Inbox inbox = { call->inboxes + INBOX_SIZE * i, account, account + 1, &call->accounts[MINT] };
        failure = settleInbox(call, &inbox);
    }
    return failure;
}
