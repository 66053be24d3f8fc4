// SPDX-License-Identifier: Apache-2.0
/* rescue: the recovery key withdraws another mint at once, and the pinned one from recoverAfter on, less the fee of kind `pay`.
 *
 * Accounts from 6 on: token account, inbox, destination, mint of the token account, and optionally a receiver of lamports, which closes it.
 */
enum { RESCUE_ACCOUNT = FIRST, RESCUE_INBOX, RESCUE_DESTINATION, RESCUE_MINT, RESCUE_LAMPORTS_TO, RESCUE_CLOSING };

FUNCTION u64 rescue(const Call *call) {
    const Account *accounts = call->accounts;
    u64 isClosing = call->accountCount == RESCUE_CLOSING;
    if ((!isClosing && call->accountCount != RESCUE_LAMPORTS_TO) || call->inboxCount != 1) return ERROR_ACCOUNTS;
    Inbox inbox = { call->inboxes, &accounts[RESCUE_ACCOUNT], &accounts[RESCUE_INBOX], &accounts[RESCUE_MINT] };
    u64 failure = checkRecovery(call);
    if (!failure) failure = checkInbox(call, &inbox);
    if (failure) return failure;
    int isPinned = isSameKey(inbox.mint->key, accounts[MINT].key);
    if (isPinned && !isRecoverable(call)) return ERROR_EARLY;
    u64 amount = amountOf(inbox.account), fee = isPinned ? feeOf(call, inbox.mint, amount) : 0;
    failure = transfer(call, &inbox, &accounts[RESCUE_DESTINATION], amount - fee);
    if (!failure) failure = transfer(call, &inbox, &accounts[AGENT], fee);
    return failure || !isClosing ? failure : closeAccount(call, &inbox, &accounts[RESCUE_LAMPORTS_TO]);
}
