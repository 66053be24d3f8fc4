import { deepEqual } from "node:assert/strict";
import { after, before, test } from "node:test";
import { numberToHex, padHex, stringToHex, concatHex } from "viem";
import { startTestChain, type TestChain } from "../../test/support/chain.ts";
import { TEST_CHAIN_CONFIG } from "../../test/support/stationWorld.ts";
import { openTestChain } from "../../test/support/watcher.ts";
import { compareSymbols } from "./verifyChain.ts";

let chain: TestChain;
before(async () => {
  chain = await startTestChain();
});
after(() => chain.stop());

const compare = (symbol: string, address: string = chain.usdc.address) => {
  const [token] = TEST_CHAIN_CONFIG.tokens;
  if (token === undefined) throw new Error("the chain has no token");
  const config = { ...TEST_CHAIN_CONFIG, name: "Local", tokens: [{ ...token, symbol, address }] };
  return compareSymbols(config, openTestChain(chain));
};

test("a token with the configured symbol is right", async () => {
  deepEqual(await compare("USDC"), []);
});

test("a token that calls itself differently is named", async () => {
  deepEqual(await compare("EURC"), [
    `Local: the token ${chain.usdc.address} calls itself "USDC", and EURC is configured.`,
  ]);
});

test("symbols of one word and with a sign are read, and a contract without one is not compared", async () => {
  const address = `0x${"5e".repeat(20)}` as const;
  const answer = async (text: string) => {
    const word = padHex(stringToHex(text), { dir: "right", size: 32 });
    await chain.client.setCode({ address, bytecode: concatHex(["0x7f", word, "0x5f5260205ff3"]) });
  };
  await answer("MKR");
  deepEqual(await compare("MKR", address), []);
  await answer("USD₮0");
  deepEqual(await compare("USDT0", address), []);
  await answer("a\u202eb");
  deepEqual(await compare("USDT0", address), [], "text that an operator could not read is no symbol");
  await chain.client.setCode({ address, bytecode: concatHex([numberToHex(0x5f5ffd, { size: 3 })]) });
  deepEqual(await compare("USDT0", address), []);
});
