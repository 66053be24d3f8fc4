// SPDX-License-Identifier: Apache-2.0
/* The lamports of an inbox itself. What is below LAMPORTS_RENT_END is the operator's rent, and the rest is a payer's SOL.
 *
 * rescueLamports: account 6 is the inbox, 7 the receiver, 8 the system program. reclaim: account 6 is the inbox, 7 the system program.
 */
enum { RESCUE_TO = FIRST + 1, RESCUE_SYSTEM, RESCUE_LAMPORTS_ACCOUNTS };
enum { RECLAIM_SYSTEM = FIRST + 1, RECLAIM_ACCOUNTS };

/* The highest rent of an account without data: with it a wallet sees an inbox as an account that exists. */
enum { LAMPORTS_PRIMED = 890880 };

FUNCTION u64 rescueLamports(const Call *call) {
    const Account *inbox = &call->accounts[FIRST];
    if (call->accountCount != RESCUE_LAMPORTS_ACCOUNTS || call->inboxCount != 1) return ERROR_ACCOUNTS;
    if (inbox->isSigner) return ERROR_PDA;
    u64 failure = checkRecovery(call), lamports = *inbox->lamports;
    if (failure) return failure;
    if (!isRecoverable(call)) lamports = lamports < LAMPORTS_RENT_END ? 0 : lamports - LAMPORTS_PRIMED;
    return transferLamports(call, &call->accounts[RESCUE_TO], &call->accounts[RESCUE_SYSTEM], lamports);
}

/* All or nothing: a share at a time would drain a payer's SOL by repeated calls. */
FUNCTION u64 reclaim(const Call *call) {
    const Account *inbox = &call->accounts[FIRST], *rentRecipient = &call->accounts[RENT_RECIPIENT];
    if (call->accountCount != RECLAIM_ACCOUNTS || call->inboxCount != 1) return ERROR_ACCOUNTS;
    if (inbox->isSigner) return ERROR_PDA;
    if (!rentRecipient->isSigner) return ERROR_RENT;
    if (*inbox->lamports >= LAMPORTS_RENT_END) return ERROR_EXCESS;
    return transferLamports(call, rentRecipient, &call->accounts[RECLAIM_SYSTEM], *inbox->lamports);
}
