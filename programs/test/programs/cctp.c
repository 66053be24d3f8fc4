// SPDX-License-Identifier: Apache-2.0
/* A double of Circle's two programs, TokenMessengerMinterV2 and MessageTransmitterV2, as far as a burn goes.
 *
 * One program, loaded at both addresses. Discriminators, order of accounts, account layouts, message bytes and checks follow the published
 * sources; the compiled programs are not available here.
 */
#include "support.h"

#define DEPOSIT_FOR_BURN WORD(215, 60, 61, 46, 114, 55, 128, 176)
#define SEND_MESSAGE WORD(57, 40, 34, 178, 189, 10, 65, 26)
#define EMIT_EVENT WORD(0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d)
#define TOKEN_MESSENGER WORD(162, 4, 242, 52, 147, 243, 221, 96)
#define REMOTE_TOKEN_MESSENGER WORD(105, 115, 174, 34, 95, 233, 138, 252)
#define TOKEN_MINTER WORD(122, 133, 84, 63, 57, 159, 171, 206)
#define LOCAL_TOKEN WORD(159, 131, 58, 170, 193, 84, 128, 182)
#define MESSAGE_TRANSMITTER WORD(71, 40, 180, 142, 19, 203, 35, 252)
#define MESSAGE_SENT WORD(131, 100, 133, 56, 166, 225, 151, 60)

enum {
    ERROR_SIGNER = 6000,
    ERROR_ACCOUNT,
    ERROR_DENYLISTED,
    ERROR_DOMAIN,
    ERROR_AMOUNT,
    ERROR_RECIPIENT,
    ERROR_FEE_MAX,
    ERROR_FEE_MIN,
    ERROR_PAUSED,
    ERROR_LIMIT,
    ERROR_BODY,
    ERROR_DATA
};

enum { BODY_SIZE = 228, MESSAGE_SIZE = 148 + BODY_SIZE, EVENT_SIZE = 52 + MESSAGE_SIZE };

INLINE int isState(const Account *account, const Key *owner, u64 discriminator, u64 sizeMin) {
    return account->size >= sizeMin && isSameKey(account->owner, owner) && readWord(account->data) == discriminator;
}

FUNCTION int isDerived(const Account *account, const Key *program, const Slice *seeds, u64 count) {
    Key derived;
    u8 bump = 0;
    return sol_try_find_program_address(seeds, count, program, &derived, &bump) == 0 && isSameKey(&derived, account->key);
}

INLINE void setSenderAuthority(Name *name) {
    setName(name, WORD('s', 'e', 'n', 'd', 'e', 'r', '_', 'a'), WORD('u', 't', 'h', 'o', 'r', 'i', 't', 'y'), 0);
}

#include "messenger.h"
#include "transmitter.h"

u64 entrypoint(u8 *input) {
    Call call;
    if (!readInput(input, &call) || call.dataSize < 8) return ERROR_DATA;
    u64 discriminator = readWord(call.data);
    if (discriminator == DEPOSIT_FOR_BURN) return depositForBurn(&call);
    if (discriminator == SEND_MESSAGE) return sendMessage(&call);
    if (discriminator == EMIT_EVENT) return call.accountCount > 0 && call.accounts[0].isSigner ? 0 : ERROR_SIGNER;
    return ERROR_DATA;
}
