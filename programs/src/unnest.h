// SPDX-License-Identifier: Apache-2.0
/* unnest: returns tokens that were sent to the associated token account of an inbox's token account. The associated token program checks every
 * address, so anyone may call it.
 */
enum {
    UNNEST_ACCOUNT = FIRST, /* the inbox's token account, which owns the nested one */
    UNNEST_INBOX,
    UNNEST_NESTED,
    UNNEST_NESTED_MINT,
    UNNEST_TO, /* the inbox's associated token account of the nested mint */
    UNNEST_MINT,
    UNNEST_PROGRAM,
    UNNEST_ACCOUNTS
};
enum { ASSOCIATED_RECOVER_NESTED = 2 };

FUNCTION u64 unnest(const Call *call) {
    const Account *accounts = call->accounts;
    if (call->accountCount != UNNEST_ACCOUNTS || call->inboxCount != 1) return ERROR_ACCOUNTS;
    if (accounts[UNNEST_INBOX].isSigner) return ERROR_PDA;
    if (!isKey(accounts[UNNEST_PROGRAM].key, KEY_ASSOCIATED_TOKEN)) return ERROR_PROGRAM;
    Meta metas[7];
    setMeta(&metas[0], &accounts[UNNEST_NESTED], WRITE);
    setMeta(&metas[1], &accounts[UNNEST_NESTED_MINT], READ);
    setMeta(&metas[2], &accounts[UNNEST_TO], WRITE);
    setMeta(&metas[3], &accounts[UNNEST_ACCOUNT], READ);
    setMeta(&metas[4], &accounts[UNNEST_MINT], READ);
    setMeta(&metas[5], &accounts[UNNEST_INBOX], WRITE | SIGN);
    setMeta(&metas[6], &accounts[TOKEN_PROGRAM], READ);
    u8 data = ASSOCIATED_RECOVER_NESTED;
    Instruction instruction = { accounts[UNNEST_PROGRAM].key, metas, 7, &data, 1 };
    return invokeSigned(call, &instruction, call->inboxes);
}
