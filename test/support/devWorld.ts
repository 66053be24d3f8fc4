import assert from "node:assert/strict";
import { after, before } from "node:test";
import { chooseFreePort } from "./freePort.ts";
import { startDevProcess, temporaryFolder, type DevProcess } from "./cli.ts";

// A dev world takes six processor seconds to start, so a test process has one. It ends after the last test. Each test
// uses accounts and intents of its own, and leaves the others as they were.

/** The EVM chains of a dev world. */
export function evmChains({ ready }: DevProcess): DevProcess["ready"]["chains"] {
  return ready.chains.filter(({ caip2 }) => caip2.startsWith("eip155:"));
}

/** The Solana of a dev world. */
export function solanaOf({ ready }: DevProcess): DevProcess["ready"]["chains"][number] {
  const chain = ready.chains.find(({ caip2 }) => caip2.startsWith("solana:"));
  if (chain === undefined) throw new Error("the dev world has no Solana");
  return chain;
}

/** What a create says for a payout on a dev world's Solana. */
export function solanaPayout(dev: DevProcess) {
  return {
    payoutNamespace: "solana" as const,
    payoutChainReference: solanaOf(dev).caip2.slice("solana:".length),
    payoutWallet: dev.ready.solana.payoutWallet,
  };
}

export type DevWorldFixture = { readonly dev: DevProcess; folder: string; variables: Readonly<Record<string, string>> };

const home = temporaryFolder();
const variables = { TRIBUTARY_HOME: home.path };
let started: Promise<DevProcess> | undefined;

after(async () => {
  const dev = await started?.catch(() => undefined);
  dev?.child.kill("SIGTERM");
  await dev?.ended;
  home.remove();
  if (dev !== undefined) assert.equal(dev.child.exitCode, 0, `the dev world did not stop in order: ${dev.err()}`);
});

async function startWorld(): Promise<DevProcess> {
  return startDevProcess([], { ...variables, PORT: String(await chooseFreePort()) });
}

/** Starts the dev world of this process before the tests of a `describe`. Its folder is also theirs. */
export function useDevWorld(): DevWorldFixture {
  let dev: DevProcess | undefined;
  before(async () => {
    dev = await (started ??= startWorld());
  });
  return {
    folder: home.path,
    variables,
    get dev() {
      if (dev === undefined) throw new Error("the dev world starts before the first test");
      return dev;
    },
  };
}
