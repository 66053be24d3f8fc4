// SPDX-License-Identifier: Apache-2.0
/* The inbox program: it signs for addresses whose seeds are their terms. It has no owner, no state and no allocation.
 *
 * The caller states the terms. The runtime derives the address from them and refuses the signature for any other address.
 * docs/ describes each instruction.
 */
#include "runtime.h"
#include "call.h"
#include "token.h"
#include "sign.h"
#include "settle.h"
#include "bridge.h"
#include "rescue.h"
#include "lamports.h"
#include "unnest.h"

u64 entrypoint(const u8 *input) {
    Call call;
    u64 failure = readInput(input, &call);
    if (!failure) failure = readTerms(&call);
    if (failure) return failure;
    u8 tag = call.data[DATA_TAG];
    if (tag == TAG_SETTLE) return settle(&call);
    if (tag == TAG_BRIDGE) return bridge(&call);
    if (tag == TAG_RESCUE) return rescue(&call);
    if (tag == TAG_RESCUE_LAMPORTS) return rescueLamports(&call);
    if (tag == TAG_RECLAIM) return reclaim(&call);
    if (tag == TAG_UNNEST) return unnest(&call);
    return ERROR_DATA;
}
