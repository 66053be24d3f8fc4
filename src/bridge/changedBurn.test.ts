import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { AWAY, newChainTx, newId, USDC, useCrossingStations } from "../../test/support/crossingStations.ts";
import { thoroughDatabase } from "../../test/support/database.ts";
import { trackCrossings } from "./trackCrossings.ts";

describe("a burn that a reorganisation changes while the bridge's service is asked", () => {
  const stations = useCrossingStations(thoroughDatabase);
  const { create, work, burn, pay, record } = stations;

  test("gets no proof of its former amount", async () => {
    const intent = await create();
    await pay(intent, AWAY, 20n * USDC);
    const burnTx = await burn(intent, { amountUnits: 20n * USDC });
    await work();
    await trackCrossings(stations.world, {
      fees: () => Promise.reject(new Error("nobody asks for fees")),
      renew: async () => "refused",
      close: async () => {},
      track: async ({ burns }) => {
        // Another payment came before the burn, which takes both now.
        await record(intent, [
          { chain: AWAY, chainTx: newChainTx(), amountUnits: 5n * USDC, block: 150n, fork: "b" },
          {
            chain: AWAY,
            chainTx: burnTx,
            direction: "out",
            amountUnits: 25n * USDC,
            block: 200n,
            fork: "b",
            crossing: { crossingName: "cctp-v2/0", feeUnits: 0n },
          },
        ]);
        await work();
        const proof = { message: "0x20", attestation: "0x", mint: `cctp-v2/1/0x${newId()}`, expiresAtBlock: undefined };
        return burns.map(() => ({ kind: "proven", proofs: [proof] }));
      },
    });
    const crossings = await stations.db.root.selectFrom("crossing").select(["status", "units", "message"]).execute();
    deepEqual(crossings, [{ status: "burned", units: 25n * USDC, message: null }]);
  });
});
