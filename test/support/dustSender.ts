import { concatHex, numberToHex, pad, type Hex } from "viem";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import type { TestChain } from "./chain.ts";

/** Transfers one unit of a token `count` times to an address. Calldata: token, recipient and count, as words. */
const DUST_CODE = concatHex([
  "0x63a9059cbb60e01b5f52", // memory: the selector of transfer(address,uint256)
  "0x602035600452", // the recipient
  "0x6001602452", // one unit
  "0x604035", // the stack holds the transfers that are left
  "0x5b80156030575f5f60445f5f5f355af15060019003601856", // while some are left: call the token
  "0x5b00",
]);
const ADDRESS = `0x${"d5".repeat(20)}` as const;
const GAS_A_TRANSFER = 40_000n;
const GAS_A_TRANSACTION = 200_000n;
/** Its receipt has a megabyte and a half. */
const TRANSFERS_A_TRANSACTION = 2_500;
const BLOCK_GAS = 2_000_000_000n;
const UNITS = 10n ** 12n;

export type DustSender = {
  /** Makes this many transfers of one unit, in as few transactions as their receipts allow. */
  send(inbox: Hex, transfers: number): Promise<void>;
};

export async function openDustSender(chain: TestChain): Promise<DustSender> {
  const { client, usdc } = chain;
  await client.setBlockGasLimit({ gasLimit: BLOCK_GAS });
  await client.setCode({ address: ADDRESS, bytecode: DUST_CODE });
  await chain.mint(usdc.address, ADDRESS, UNITS);
  return {
    async send(inbox, transfers) {
      const before = await chain.balanceOf(usdc.address, inbox);
      const full = Math.floor(transfers / TRANSFERS_A_TRANSACTION);
      const counts = [...Array<number>(full).fill(TRANSFERS_A_TRANSACTION), transfers % TRANSFERS_A_TRANSACTION];
      await chain.send(
        DEV_ACCOUNTS.stranger,
        counts.filter((count) => count > 0).map((count) => callOf(usdc.address, inbox, count)),
      );
      const sent = (await chain.balanceOf(usdc.address, inbox)) - before;
      if (sent !== BigInt(transfers)) throw new Error(`${sent} of ${transfers} transfers were made`);
    },
  };
}

function callOf(token: Hex, inbox: Hex, count: number): { to: Hex; data: Hex; gasLimit: bigint } {
  const words = [token, inbox, numberToHex(count)].map((word) => pad(word, { size: 32 }));
  return { to: ADDRESS, data: concatHex(words), gasLimit: BigInt(count) * GAS_A_TRANSFER + GAS_A_TRANSACTION };
}
