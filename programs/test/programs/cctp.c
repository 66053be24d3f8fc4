// SPDX-License-Identifier: Apache-2.0
/* A double of Circle's two programs, TokenMessengerMinterV2 and MessageTransmitterV2: burns, receipts, and the return of an event's rent.
 *
 * One program, loaded at both addresses. Discriminators, order of accounts, layouts, messages, checks and error numbers follow the published
 * sources (docs/circle.md); the compiled programs are not available here.
 */
#include "support.h"
#include "anchor.h"
#include "attestation.h"
#include "messenger.h"
#include "minter.h"
#include "transmitter.h"
#include "receiver.h"

INLINE u64 asTransmitter(Call *call, u64 discriminator) {
    if (discriminator == SEND_MESSAGE) return sendMessage(call);
    if (discriminator == RECEIVE_MESSAGE) return receiveMessage(call);
    if (discriminator == RECLAIM_EVENT) return reclaimEvent(call);
    return ERROR_UNKNOWN_INSTRUCTION;
}

INLINE u64 asMessenger(Call *call, u64 discriminator) {
    if (discriminator == DEPOSIT_FOR_BURN) return depositForBurn(call);
    if (discriminator == HANDLE_FINALIZED || discriminator == HANDLE_UNFINALIZED) return handleReceived(call, discriminator);
    return ERROR_UNKNOWN_INSTRUCTION;
}

u64 entrypoint(u8 *input) {
    Call call;
    if (!readInput(input, &call) || call.dataSize < 8) return ERROR_UNKNOWN_INSTRUCTION;
    u64 discriminator = readInteger(call.data, 8);
    if (discriminator == EMIT_EVENT) return checkEvent(&call);
    return isKey(call.self, KEY_TRANSMITTER) ? asTransmitter(&call, discriminator) : asMessenger(&call, discriminator);
}
