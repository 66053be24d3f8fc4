import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { cctpV2Chains, solanaCctpDomain } from "@tributary/inbox/cctpV2Chains";
import { buildCctpV2Routes } from "@tributary/inbox/cctpV2Routes";
import { computeRoutesRoot } from "@tributary/inbox/routes";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { decodeKey, encodeKey } from "@tributary/inbox/solana/keys";
import { solanaTermsFromWire, type SolanaInboxTerms } from "@tributary/inbox/solana/wire";
import { routesToWire, type InboxTerms } from "@tributary/inbox/wire";
import { programDataAddress } from "../../src/chain/solana/inboxProgram.ts";
import { LOCAL_INBOX_PROGRAM } from "../../packages/local-solana/src/fixtures.ts";
import type { LocalSolana } from "../../packages/local-solana/src/startLocalSolana.ts";
import { runCli, temporaryFolder } from "../support/cli.ts";
import { createLocalIntent, openLocalSolanaApi } from "../support/localSolanaApi.ts";
import { startTestSolana } from "../support/solana.ts";
import { SOLANA_WALLET } from "../support/solanaConfig.ts";
import { drawBytes } from "../support/drawBytes.ts";

// A merchant checks what the API returned, with nothing but the file; and with an RPC URL the program too.

const AUTHORITY_TAG = 12;
const EVM_WALLET = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

type Answer = {
  intentId: string;
  inboxAddress: string;
  tokenAccount: string;
  inboxTerms: InboxTerms & { solana: SolanaInboxTerms & { kind: "pay" } };
};

describe("verify on Solana", () => {
  const folder = temporaryFolder();
  const file = join(folder.path, "intent.json");
  let solana: LocalSolana;
  let intent: Answer;

  before(async () => {
    solana = await startTestSolana();
    const api = await openLocalSolanaApi(solana);
    intent = (await createLocalIntent(await api.openMerchant(), solana)) as Answer;
    writeFileSync(file, JSON.stringify(intent));
  });
  after(() => folder.remove());

  const own = ["--payout", SOLANA_WALLET, "--program", LOCAL_INBOX_PROGRAM];
  const verify = (...args: string[]) => runCli(["verify", file, ...own, ...args]);

  test("an inbox of the merchant's wallet passes without a network, and shows the token account", async () => {
    const run = await verify();
    assert.equal(run.code, 0, run.out + run.err);
    for (const part of [intent.intentId, intent.inboxAddress, intent.tokenAccount, `pays only ${SOLANA_WALLET}`])
      assert.ok(run.out.includes(part), run.out);
    const json = await verify("--json");
    const { intentId, inboxAddress, tokenAccount } = intent;
    assert.deepEqual(JSON.parse(json.out), [{ intentId, inboxAddress, tokenAccount, ok: true, reason: null }]);
  });

  test("any other expectation fails by its name, with the exit code of EVM chains", async () => {
    const other = encodeKey(drawBytes(32));
    for (const [args, reason] of [
      [["--payout", other, "--program", LOCAL_INBOX_PROGRAM], "wrong_payout"],
      [["--payout", EVM_WALLET, "--program", LOCAL_INBOX_PROGRAM], "wrong_payout"],
      [["--payout", SOLANA_WALLET, "--program", other], "wrong_program"],
      [[...own, "--inbox", other], "wrong_address"],
      [[...own, "--token", other], "wrong_token"],
    ] as const) {
      const run = await runCli(["verify", file, ...args]);
      assert.equal(run.code, 1, run.out + run.err);
      assert.match(run.out, new RegExp(`\\(${reason}\\)`));
    }
  });

  test("a fee above the agreed one, and a recovery key of somebody else, fail", async () => {
    const changed = (terms: Partial<Answer["inboxTerms"]["solana"]>) => {
      const wire = { ...intent.inboxTerms.solana, ...terms };
      const { address, tokenAccount } = computeSolanaInbox(solanaTermsFromWire(wire), wire);
      const path = join(folder.path, "changed.json");
      const inboxTerms = { ...intent.inboxTerms, solana: wire };
      writeFileSync(path, JSON.stringify({ ...intent, inboxAddress: address, tokenAccount, inboxTerms }));
      return path;
    };
    const dear = await runCli(["verify", changed({ feeBps: 80 }), ...own, "--fee-bps-max", "50"]);
    assert.match(dear.out, /\(fee_too_high\)/);
    const foreign = changed({ recovery: encodeKey(drawBytes(32)) });
    assert.match((await runCli(["verify", foreign, ...own])).out, /\(wrong_recovery\)/);
  });

  test("terms that do not give the stated address are refused as on EVM chains", async () => {
    const path = join(folder.path, "forged.json");
    writeFileSync(path, JSON.stringify({ ...intent, inboxAddress: SOLANA_WALLET }));
    const run = await runCli(["verify", path, ...own]);
    assert.notEqual(run.code, 0);
    assert.match(run.err, /its terms determine the inbox/);
  });

  test("a cluster without a published program needs --program", async () => {
    const run = await runCli(["verify", file, "--payout", SOLANA_WALLET]);
    assert.notEqual(run.code, 0);
    assert.match(run.err, /name yours with --program/);
  });

  test("with an RPC URL the program must have this release's code, on the same cluster, and no authority", async () => {
    const right = await verify("--rpc", solana.url);
    assert.equal(right.code, 0, right.out + right.err);
    assert.match(right.out, /nobody can change it/);
    const published = ["--chain", "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1", "--rpc", solana.url];
    assert.match((await verify(...published)).out, /\(wrong_chain\)/);
    const codeAccount = programDataAddress(LOCAL_INBOX_PROGRAM);
    const stored = solana.control.account(codeAccount);
    assert.ok(stored);
    const data = new Uint8Array(stored.data);
    data[AUTHORITY_TAG] = 1;
    solana.control.setAccount(codeAccount, { ...stored, data });
    solana.control.confirm();
    const changeable = await verify("--rpc", solana.url);
    assert.equal(changeable.code, 1);
    assert.match(changeable.out, /\(wrong_program\)/);
  });

  test("an inbox on EVM chains whose routes lead to the inbox on Solana passes with it", async () => {
    const recipient = `0x${Buffer.from(decodeKey("account", intent.tokenAccount)).toString("hex")}` as const;
    const bridging = (to: `0x${string}`) => {
      const settle = { chainId: 0n, domain: solanaCctpDomain, recipient: to };
      const routes = buildCctpV2Routes({ settle, origins: cctpV2Chains.slice(0, 2) });
      const inboxTerms = { ...intent.inboxTerms, routesRoot: computeRoutesRoot(routes), routes: routesToWire(routes) };
      const path = join(folder.path, "bridging.json");
      writeFileSync(path, JSON.stringify({ ...intent, inboxTerms }));
      return path;
    };
    const right = await runCli(["verify", bridging(recipient), ...own]);
    assert.equal(right.code, 0, right.out + right.err);
    assert.match(right.out, /0x[0-9a-fA-F]{40} pays only [1-9A-HJ-NP-Za-km-z]+ on Solana/);
    const diverted = await runCli(["verify", bridging(`0x${"5b".repeat(32)}`), ...own]);
    assert.equal(diverted.code, 1);
    assert.match(diverted.out, /\(wrong_routes\)/);
  });
});
