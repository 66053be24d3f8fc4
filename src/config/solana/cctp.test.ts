import assert from "node:assert/strict";
import { test } from "node:test";
import { token2022Program, tokenProgram } from "@tributary/inbox/solana/keys";
import { rejectUnbridgeableMint } from "./cctp.ts";

const DEVNET = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
const USDC = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU";
const OTHER = "HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr";
const token = {
  symbol: "USDC",
  slug: "usdc",
  decimals: 6,
  minimumUnits: 1n,
  isOrigin: true,
  isRail: true,
  tokenProgram,
};

test("the bridge carries one mint of a cluster, Circle's own, of the older token program", () => {
  const reject = (cluster: string, ...tokens: object[]) =>
    rejectUnbridgeableMint(
      tokens.map((change) => ({ ...token, address: USDC, bridge: "cctp-v2" as const, ...change })),
      { cluster, path: "chains[1]" },
    );
  reject(DEVNET, {});
  reject("private", { address: OTHER });
  reject(DEVNET, {}, { address: OTHER, bridge: undefined });
  assert.throws(
    () => reject(DEVNET, {}, { address: OTHER }),
    /chains\[1\]\.tokens\[1\]\.bridge: .* one token of a chain/,
  );
  assert.throws(() => reject(DEVNET, { address: OTHER }), /only Circle's USDC, here 4zMM/);
  assert.throws(() => reject("private", { tokenProgram: token2022Program }), /no token of Token-2022/);
});
