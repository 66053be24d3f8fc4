import { cctpV2AdapterCreationCode, cctpV2AdapterSalt } from "@tributary/inbox/cctpV2Adapter";
import { concat, encodeFunctionData, keccak256, numberToHex, pad, stringToHex, type Hex } from "viem";
import { findNetwork, type NetworkToken } from "../../src/config/networks/network.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { deploymentCall } from "../../src/dev/chains/contracts.ts";
import { fiatTokenAbi } from "../../src/dev/chains/tokens.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";

// A local chain with a network's id, and at the catalogue's addresses what stands there on the real one: the issuer's
// token code, contracts that answer as the bridge's do, hub and adapter.

const IMPLEMENTATION_SLOT = keccak256(stringToHex("org.zeppelinos.proxy.implementation"));
/** Returns the word on the stack, whatever is called. */
const RETURN_WORD = "60005260206000f3";

export type DressedChain = TestChain & {
  /** Sets the token's code at an address and names it. */
  setToken(token: NetworkToken): Promise<void>;
  /** Sets code that answers every call with this word. */
  setAnswer(address: string, word: Hex): Promise<void>;
};

export async function startDressedChain(caip2: string): Promise<DressedChain> {
  const network = findNetwork(caip2);
  if (network?.cctp === undefined) throw new Error(`${caip2} has no bridge in the catalogue`);
  const chain = await startTestChain({ chainId: network.chainId });
  const dressed = { ...chain, ...dressing(chain) };
  for (const token of network.tokens) await dressed.setToken(token);
  const { messenger, transmitter, domain } = network.cctp;
  await dressed.setAnswer(transmitter, numberToHex(domain));
  await dressed.setAnswer(messenger, transmitter as Hex);
  await chain.send(DEV_ACCOUNTS.issuer, [
    deploymentCall({ creationCode: cctpV2AdapterCreationCode, salt: cctpV2AdapterSalt }),
  ]);
  return dressed;
}

function dressing(chain: TestChain): Pick<DressedChain, "setToken" | "setAnswer"> {
  const { client, usdc } = chain;
  return {
    async setToken({ address, symbol, decimals }) {
      const implementation = await client.getStorageAt({ address: usdc.address, slot: IMPLEMENTATION_SLOT });
      const bytecode = await client.getCode({ address: `0x${implementation?.slice(-40)}` });
      await client.setCode({ address: address as Hex, bytecode: bytecode ?? "0x" });
      const issuer = DEV_ACCOUNTS.issuer.address;
      const data = encodeFunctionData({
        abi: fiatTokenAbi,
        functionName: "initialize",
        args: [symbol, symbol, "USD", decimals, issuer, issuer, issuer, issuer],
      });
      await chain.send(DEV_ACCOUNTS.issuer, [{ to: address as Hex, data }]);
    },
    async setAnswer(address, word) {
      const bytecode = concat(["0x7f", pad(word, { size: 32 }), `0x${RETURN_WORD}`]);
      await client.setCode({ address: address as Hex, bytecode });
    },
  };
}
