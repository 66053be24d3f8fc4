import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { encodeFunctionData, keccak256, size } from "viem";
import { inboxAddress } from "@tributary/inbox/address";
import { hubAddress, hubSalt, implementationAddress } from "@tributary/inbox/hub";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { hubCreationCode, hubCreationCodeHash } from "@tributary/inbox/hubCode";
import { DEV_ACCOUNTS } from "../../../src/cli/dev/accounts.ts";
import { startTestChain } from "../../../test/support/chain.ts";
import type { TestChain } from "../../../test/support/chain.ts";
import { anyTerms } from "./arbitrary.ts";

const comparisons = 1_000;
let chain: TestChain;

before(async () => {
  chain = await startTestChain({ hub: { creationCode: hubCreationCode, salt: hubSalt } });
});

after(async () => {
  await chain.stop();
});

test("the hub comes to stand at the published address and creates the published implementation", async () => {
  assert.equal(chain.hub, hubAddress);
  assert.equal(keccak256(hubCreationCode), hubCreationCodeHash);
  const implementation = await chain.client.readContract({
    address: hubAddress,
    abi: hubAbi,
    functionName: "IMPLEMENTATION",
  });
  assert.equal(implementation.toLowerCase(), implementationAddress);
  assert.notEqual(await chain.client.getCode({ address: implementationAddress }), undefined);
});

test("for a thousand random terms the package and the hub agree on the address", async () => {
  const samples = fc.sample(anyTerms, { numRuns: comparisons, seed: 20_261_121 });
  const calls = samples.map((terms, id) => ({
    jsonrpc: "2.0",
    id,
    method: "eth_call",
    params: [
      { to: hubAddress, data: encodeFunctionData({ abi: hubAbi, functionName: "inboxOf", args: [terms] }) },
      "latest",
    ],
  }));
  const response = await fetch(chain.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(calls),
  });
  const answers = (await response.json()) as { id: number; result: string }[];
  const byId = new Map(answers.map(({ id, result }) => [id, `0x${result.slice(-40)}`]));
  assert.equal(byId.size, comparisons);
  for (const [id, terms] of samples.entries()) assert.equal(inboxAddress(terms), byId.get(id));
});

test("money at a computed address is paid out by the hub, less the fee", async () => {
  const [base] = fc.sample(anyTerms, 1);
  assert.ok(base !== undefined);
  const terms = { ...base, settleChainId: BigInt(chain.chainId), settleToken: chain.usdc.address, feeBps: 50 };
  await chain.mint(chain.usdc.address, inboxAddress(terms), 100_000_000n);
  const data = encodeFunctionData({ abi: hubAbi, functionName: "settle", args: [terms] });
  const [receipt] = await chain.send(DEV_ACCOUNTS.payer, [{ to: hubAddress, data }]);
  assert.equal(receipt?.status, "success");
  assert.equal(await chain.balanceOf(chain.usdc.address, terms.payout), 99_500_000n);
  assert.equal(await chain.balanceOf(chain.usdc.address, terms.feeRecipient), 500_000n);
  assert.equal(await chain.balanceOf(chain.usdc.address, inboxAddress(terms)), 0n);
  const code = await chain.client.getCode({ address: inboxAddress(terms) });
  assert.equal(code === undefined ? 0 : size(code), 45);
});
