import assert from "node:assert/strict";
import { rmSync, utimesSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { request } from "undici";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { parseIntents } from "@tributary/recover/parseIntents";
import { writeRunFile } from "../../src/operator/control/home.ts";
import { renderCli, spawnCli } from "../support/cli.ts";
import { solanaOf, useDevWorld } from "../support/devWorld.ts";
import { onlyDeep } from "../support/runNumber.ts";

const WALLET = "0x00000000000000000000000000000000000f00d5";

describe("accounts, lists and the status", () => {
  const world = useDevWorld();
  const run = (...words: string[]) => renderCli(words, world.variables);
  async function json<T>(...words: string[]): Promise<T> {
    const { code, out, err } = await run(...words, "--json");
    assert.equal(code, 0, err);
    return JSON.parse(out) as T;
  }
  type Account = { accountId: string; feeBps: number; origins: string[] | null; payout: { wallet: string } };

  test("accounts update changes every field, warns of a changed payout and leaves an event", async () => {
    const { accountId } = await json<Account>("accounts", "create", "Shop", "--chain", "dev-one", "--wallet", WALLET);
    const unchanged = await run("accounts", "update", accountId, "--fee-bps", "30", "--name", "Harbor Books");
    assert.deepEqual([unchanged.code, unchanged.err], [0, ""]);
    const wallet = DEV_ACCOUNTS.payoutSecond.address;
    const changed = await run("accounts", "update", accountId, "--wallet", wallet);
    assert.match(changed.err, /^warning: new intents of this account are paid to 0x\w+ on eip155:\d+, before to 0x/);
    const shown = await json<Account & { name: string }>("accounts", "show", accountId);
    assert.deepEqual([shown.name, shown.feeBps, shown.payout.wallet.toLowerCase()], ["Harbor Books", 30, wallet]);
    let events: { type: string; data: { previous: object } }[] = [];
    while (events.length < 2) events = await json("events", "list", "--account", accountId);
    assert.deepEqual(
      events.map(({ type, data }) => [type, Object.keys(data.previous)]),
      [
        ["account.updated", ["name", "feeBps"]],
        ["account.updated", ["payout"]],
      ],
    );
  });

  test("accounts show has the URL of notices, which a refused change leaves, and how many endpoints there are", async () => {
    type Details = { notifyUrl: string | null; webhookEndpoints: object; lastEventSequence: number };
    const create = ["accounts", "create", "Shop", "--chain", "dev-one", "--wallet", WALLET, "--fee-bps", "7"];
    const { accountId } = await json<Account>(...create);
    const update = (...words: string[]) => run("accounts", "update", accountId, ...words);
    assert.match(
      (await update("--notify-url", "http://127.0.0.1:9/one")).out,
      /signed with\s+whsec_\S+ \(shown once\)/,
    );
    const refused = await update("--notify-url", "http://127.0.0.1:9/two", "--fee-bps", "5", "--recovery", "nobody");
    assert.notEqual(refused.code, 0);
    assert.notEqual((await update("--notify-url", "ftp://127.0.0.1/", "--fee-bps", "5")).code, 0);
    await json("webhooks", "create", accountId, "http://127.0.0.1:9/hooks");
    const shown = await json<Details & Account>("accounts", "show", accountId);
    assert.deepEqual(
      [shown.notifyUrl, shown.webhookEndpoints, shown.lastEventSequence, shown.feeBps],
      ["http://127.0.0.1:9/one", { enabled: 1, disabled: 0 }, 0, 7],
    );
  });

  test("a payout wallet that is a contract, without a recovery key, is warned about, by doctor too", async () => {
    const contract = "0x00000000000000000000000000000000000c0de5";
    const [chain] = world.dev.ready.chains;
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "anvil_setCode", params: [contract, "0x00"] });
    const headers = { "content-type": "application/json" };
    await fetch(chain?.rpcUrl ?? "", { method: "POST", headers, body });
    const destination = ["--chain", "dev-one", "--wallet", contract];
    const created = await run("accounts", "create", "Safe Books", ...destination);
    assert.match(created.err, /^warning: Its payout wallet 0x\w+ is a contract, and it has no recovery key/m);
    const accountId = /acct_\w+/.exec(created.out)?.[0] ?? assert.fail(created.out);
    assert.match((await run("doctor")).out, new RegExp(`recovery: ${accountId} .*is a contract`));
    const named = await run("accounts", "update", accountId, "--recovery", WALLET);
    assert.deepEqual([named.code, named.err], [0, ""]);
  });

  test("D42 --solana-recovery names the recovery key on Solana, and none removes it", async () => {
    const key = "B8UwBUUnKwCyKuGMbFKWaG7exYdDk2ozZrPg72NyVbfj";
    type Recovery = Account & { solanaRecovery: string | null };
    const destination = ["--chain", "dev-one", "--wallet", WALLET];
    const created = await json<Recovery>("accounts", "create", "Shop", ...destination, "--solana-recovery", key);
    assert.equal(created.solanaRecovery, key);
    const update = ["accounts", "update", created.accountId, "--solana-recovery"];
    assert.equal((await json<Recovery>(...update, "none")).solanaRecovery, null);
    const refused = await run(...update, WALLET);
    assert.equal(refused.code, 2);
    assert.match(refused.err, /--solana-recovery must be a Solana wallet/);
  });

  test("D53 accounts update names a default on Solana, and keys create --default binds a key to it", async () => {
    const { accountId } = await json<Account>("accounts", "create", "Shop", "--chain", "dev-one", "--wallet", WALLET);
    const { caip2 } = solanaOf(world.dev);
    const { payoutWallet } = world.dev.ready.solana;
    const bind = ["keys", "create", accountId, "--default"];
    const early = await run(...bind, "solana");
    assert.equal(early.code, 2);
    assert.match(early.err, /no default destination on Solana: name one by accounts update/);
    const update = ["accounts", "update", accountId];
    const refusals: [words: string[], message: RegExp][] = [
      [[...update, "--solana-chain", caip2], /needs both --solana-chain and --solana-wallet/],
      [[...update, "--solana-wallet", payoutWallet], /needs both --solana-chain and --solana-wallet/],
      [[...update, "--solana-chain", "dev-one", "--solana-wallet", payoutWallet], /is not a cluster of Solana/],
      [[...update, "--solana-chain", caip2, "--solana-wallet", WALLET], /wallet must be a Solana wallet/],
      [[...bind, "dev-one"], /--default dev-one is unknown/],
    ];
    for (const [words, message] of refusals) {
      const refused = await run(...words);
      assert.notEqual(refused.code, 0, words.join(" "));
      assert.match(refused.err, message);
    }
    const updated = await json<Account>(...update, "--solana-chain", caip2, "--solana-wallet", payoutWallet);
    assert.equal(updated.payout.wallet.toLowerCase(), WALLET, "the account's own default stays");
    const payoutOf = async (apiKey: string) => {
      const { body } = await request(`${world.dev.ready.baseUrl}/api/v1/intents`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${apiKey}`,
          "service-version": "2026-11-01",
          "content-type": "application/json",
        },
        body: JSON.stringify({ priceUnits: 5 }),
      });
      return ((await body.json()) as { payout: { wallet: string } }).payout.wallet.toLowerCase();
    };
    const bound = await json<{ apiKey: string }>(...bind, "solana");
    const own = await json<{ apiKey: string }>("keys", "create", accountId);
    assert.equal(await payoutOf(bound.apiKey), payoutWallet.toLowerCase());
    assert.equal(await payoutOf(own.apiKey), WALLET);
  });

  test("D53 accounts update names a default on an EVM chain beside one on Solana, shows and removes it", async () => {
    const { caip2 } = solanaOf(world.dev);
    const { payoutWallet } = world.dev.ready.solana;
    const own = ["--chain", caip2, "--wallet", payoutWallet, "--currency", "USDC"];
    const { accountId } = await json<Account>("accounts", "create", "Shop", ...own);
    const update = ["accounts", "update", accountId];
    const refusals: [words: string[], message: RegExp][] = [
      [["keys", "create", accountId, "--default", "evm"], /name one by accounts update --evm-chain --evm-wallet/],
      [[...update, "--evm-chain", "dev-one"], /needs both --evm-chain and --evm-wallet/],
      [[...update, "--evm-chain", caip2, "--evm-wallet", WALLET], /is not an EVM chain/],
      [[...update, "--solana-chain", caip2, "--solana-wallet", payoutWallet], /--solana-wallet none/],
    ];
    for (const [words, message] of refusals) {
      const refused = await run(...words);
      assert.notEqual(refused.code, 0, words.join(" "));
      assert.match(refused.err, message);
    }
    type Other = Account & { evmPayout: { chain: string; wallet: string } | null };
    const updated = await json<Other>(...update, "--evm-chain", "dev-one", "--evm-wallet", WALLET);
    assert.equal(updated.evmPayout?.wallet.toLowerCase(), WALLET);
    assert.match((await run("accounts", "show", accountId)).out, /other payout +on eip155:900001 to 0x/);
    const { keyId } = await json<{ keyId: string }>("keys", "create", accountId, "--default", "evm");
    const keys = await json<{ keyId: string; default: string | null }[]>("keys", "list", accountId);
    assert.deepEqual(
      keys.map((key) => [key.keyId, key.default]),
      [[keyId, "evm"]],
    );
    assert.equal((await json<Other>(...update, "--evm-wallet", "none")).evmPayout, null);
  });

  test("accounts update --origins restricts the origins of an account's intents", async () => {
    const [account] = world.dev.ready.accounts;
    assert.ok(account);
    const { accountId, apiKey } = account;
    const call = async (method: "GET" | "POST", path: string, body?: object) => {
      const { statusCode, body: answer } = await request(`${world.dev.ready.baseUrl}/api/v1/intents${path}`, {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          "service-version": "2026-11-01",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { statusCode, value: (await answer.json()) as Record<string, unknown> };
    };
    const { value } = await call("POST", "", { priceUnits: 5 });
    const origins = async () =>
      (
        (await call("GET", `/${String(value["intentId"])}/origins`)).value["origins"] as {
          shortName: string;
          token: { symbol: string };
        }[]
      ).map(({ shortName, token }) => `${shortName}:${token.symbol.toLowerCase()}`);
    const all = await origins();
    assert.ok(all.length > 1);
    const updated = await json<Account>("accounts", "update", accountId, "--origins", "dev-one:usdc");
    assert.equal(updated.origins?.length, 1);
    // Processes notice a change within a second; this one runs the command itself.
    assert.deepEqual(await origins(), ["dev-one:usdc"]);
    const refused = await call("POST", `/${String(value["intentId"])}/source-inbox`, { chainId: 900_002 });
    assert.deepEqual(
      [refused.statusCode, (refused.value["error"] as { code: string }).code],
      [400, "unsupported_origin"],
    );
    const wrong = await run("accounts", "update", accountId, "--origins", "dev-one:usd");
    assert.deepEqual([wrong.code, wrong.out], [2, ""]);
    assert.match(wrong.err, /^error: --origins must be one or more of dev-one:usdc/);
    await json("accounts", "update", accountId, "--origins", "none");
    assert.deepEqual(await origins(), all);
  });

  test("usage errors exit with 2 and name the option", async () => {
    const { accountId } = await json<Account>("accounts", "create", "Other", "--chain", "dev-one", "--wallet", WALLET);
    const cases: [words: string[], message: RegExp][] = [
      [["accounts", "update", accountId], /^error: Name what to change: --name, /],
      [["accounts", "update", accountId, "--fee-bps", "much"], /^error: --fee-bps must be a whole number/],
      [["accounts", "update", accountId, "--wallet", "0x12"], /^error: --wallet must be /],
      [
        ["accounts", "create", "X", "--chain", "dev-one", "--wallet", WALLET, "--currency", "EUR"],
        /^error: --currency /,
      ],
      [["intents", "list", "--limit", "0"], /^error: --limit must be/],
      [["intents", "list", "--status", "paid"], /^error: --status must be/],
      [["keys", "create", accountId, "--expires-in-days", "x"], /^error: --expires-in-days must be/],
    ];
    for (const [words, message] of cases) {
      const { code, err } = await run(...words);
      assert.match(err, message);
      assert.equal(code, 2, words.join(" "));
    }
  });

  test("a payout wallet cannot be the gas account of this service", async () => {
    const words = ["accounts", "create", "X", "--chain", "dev-one", "--wallet", DEV_ACCOUNTS.operator.address];
    const { code, err } = await run(...words);
    assert.equal(code, 2);
    assert.match(err, /^error: --wallet must be the merchant's own wallet, not the account from which/);
  });

  test("every list turns pages with a cursor", async () => {
    const lists = [
      ["accounts", "list"],
      ["keys", "list"],
    ];
    for (const words of lists) {
      const idOf = (row: Record<string, string>) => row["keyId"] ?? row["accountId"];
      const all = (await json<Record<string, string>[]>(...words, "--limit", "1000")).map(idOf);
      const seen: unknown[] = [];
      for (let cursor: string | undefined; ;) {
        const page = await run(
          ...words,
          "--limit",
          "2",
          "--json",
          ...(cursor === undefined ? [] : ["--cursor", cursor]),
        );
        seen.push(...(JSON.parse(page.out) as Record<string, string>[]).map(idOf));
        cursor = /--cursor (\w+)/.exec(page.err)?.[1];
        if (cursor === undefined) break;
      }
      assert.deepEqual(seen, all);
    }
  });

  test("events list turns to earlier pages with a cursor, of one account and of all", async () => {
    const [account] = world.dev.ready.accounts;
    assert.ok(account);
    for (const filter of [[], ["--account", account.accountId]]) {
      const idsOf = (events: { id: string }[]) => events.map(({ id }) => id);
      // An event is listed once it has its sequence, a moment after its commit.
      let all: string[] = [];
      while (all.length < 2) all = idsOf(await json<{ id: string }[]>("events", "list", "--limit", "1000", ...filter));
      const seen: string[] = [];
      for (let cursor: string | undefined; ;) {
        const turned = cursor === undefined ? [] : ["--cursor", cursor];
        const page = await run("events", "list", "--limit", "2", "--json", ...filter, ...turned);
        seen.unshift(...idsOf(JSON.parse(page.out) as { id: string }[]));
        cursor = /^Earlier events: --cursor (evt_\w+)$/m.exec(page.err)?.[1];
        if (cursor === undefined) break;
      }
      // Events may have been added after the first list.
      assert.deepEqual(
        seen.filter((id) => all.includes(id)),
        all,
      );
      assert.equal(new Set(seen).size, seen.length);
    }
    const wrong = await run("events", "list", "--cursor", "evt_1");
    assert.deepEqual([wrong.code, wrong.out], [2, ""]);
    assert.match(wrong.err, /^error: --cursor must be the cursor that the page before ends with, not evt_1\.$/m);
  });

  test("status --watch refreshes until it is interrupted", { skip: onlyDeep }, async () => {
    const child = spawnCli(["status", "--watch", "--json"], world.variables);
    assert.ok(child.stdout);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    for (const _refresh of ["first", "second"]) {
      const { value } = await lines.next();
      const { chains, baseUrl } = JSON.parse(String(value)) as { chains: unknown[]; baseUrl: string };
      assert.deepEqual([chains.length, baseUrl], [3, world.dev.ready.baseUrl]);
    }
    child.kill("SIGINT");
    const [code] = await once(child, "exit");
    assert.equal(code, 0);
  });

  test("of several services a reading command names the one that answers, and a writing one asks which", async () => {
    const socketPath = join(world.folder, "other.sock");
    const other = createServer().listen(socketPath);
    await once(other, "listening");
    const baseUrl = "https://pay.example";
    const here = world.dev.ready.baseUrl;
    // An older one, so that the world of this test answers.
    writeRunFile(world.folder, "serve", { pid: process.pid, socketPath, token: "t", baseUrl, ready: null });
    utimesSync(join(world.folder, `serve-${process.pid}.json`), 1, 1);
    const { code, out, err } = await run("accounts", "list", "--json");
    assert.deepEqual([code, JSON.parse(out).length > 0], [0, true]);
    assert.equal(err, `The service at ${here} answers, the newest. --service chooses another: ${baseUrl}.\n`);
    const [{ accountId = "" } = {}] = JSON.parse(out) as { accountId?: string }[];
    for (const words of [
      ["keys", "create", accountId],
      ["pay", "pi_x"],
    ]) {
      const refused = await run(...words);
      assert.equal(refused.code, 1, words.join(" "));
      assert.match(
        refused.err,
        /Several services run.*name one in --service\. There are .*, https:\/\/pay\.example\.\n$/,
      );
    }
    const made = await run("keys", "create", accountId, "--service", here);
    assert.deepEqual([made.code, made.err.includes("Several")], [0, false], made.err);
    const nowhere = await run("accounts", "list", "--service", "https://away.example");
    assert.match(nowhere.err, /No service of this user runs at https:\/\/away\.example\./);
    rmSync(join(world.folder, `serve-${process.pid}.json`));
    other.close();
    await once(other, "close");
    assert.equal((await run("accounts", "list")).err, "");
    assert.match(
      (await run("intents", "show", `pi_${"0".repeat(26)}`)).err,
      new RegExp(`No such intent at ${here}\\.`),
    );
  });

  test("intents archive frees an intent, and its list shows amounts with symbols", async () => {
    const [intent] = await json<{ intentId: string }[]>("intents", "list", "--limit", "1");
    assert.ok(intent);
    const archived = await json<{ status: string }>("intents", "archive", intent.intentId);
    assert.equal(archived.status, "archived");
    assert.match((await run("intents", "list")).out, /0 of 0\.000005 USDC/);
  });

  test("intents export prints terms from which every inbox is recomputed, with routes", async () => {
    const { code, out, err } = await run("intents", "export");
    assert.deepEqual([code, /^\d+ intents\. Keep them away from this service/.test(err)], [0, true], err);
    const listed = await json<{ intentId: string; inboxAddress: string }[]>("intents", "list", "--limit", "1000");
    const exported = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { intentId: string });
    assert.deepEqual(
      exported.map(({ intentId }) => intentId),
      listed.map(({ intentId }) => intentId).toReversed(),
    );
    const { onEvm, refused } = parseIntents(out);
    const evm = listed.filter(({ inboxAddress }) => inboxAddress.startsWith("0x"));
    assert.deepEqual([onEvm.length, refused], [evm.length, []]);
    assert.ok(onEvm.every(({ routes }) => routes !== undefined));
  });

  test("status shows each chain and no alarm", async () => {
    const { code, out } = await run("status");
    assert.match(out, /CHAIN +HEAD +SCANNED +SEEN/);
    assert.match(out, /^Dev Chain One +[\d,]+/m);
    assert.equal(code, /no alarm/.test(out) ? 0 : 1);
  });
});
