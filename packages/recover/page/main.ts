import { checksumAddress, findAddress } from "@tributary/inbox/checksum";
import type { Hex } from "@tributary/inbox/terms";
import { deployHubCall, rescueCall, SETTLE_MAX, settleCall } from "../src/calls.ts";
import { lookAt, type Ask, type Holding, type Sight } from "../src/look.ts";
import { NATIVE, wayOut } from "../src/plan.ts";
import { readRecords, type KnownInbox } from "../src/records.ts";
import { displayDay, displayUnits } from "../src/units.ts";
import { send } from "./send.ts";
import { askThrough, reasonOf, watchWallets, type BrowserWallet } from "./wallets.ts";

// One page that asks nobody but the wallet. Whatever it shows is set as text.

type Connected = { ask: Ask; account: Hex };

let inboxes: readonly KnownInbox[] = [];
let connected: Connected | undefined;
/** Looks that were overtaken by a later one show nothing. */
let lookNumber = 0;

const input = byId<HTMLTextAreaElement>("intents");
const fileInput = byId<HTMLInputElement>("file");
const tokenInput = byId<HTMLInputElement>("tokens");
const blockInput = byId<HTMLInputElement>("from-block");

input.addEventListener("input", () => takeIntents(input.value));
fileInput.addEventListener("change", () => void readFile());
byId("look").addEventListener("click", () => void look());
watchWallets(showWallets);

function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no ${id}`);
  return element as T;
}

function element(tag: string, text = "", className = ""): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className !== "") made.className = className;
  return made;
}

function say(id: string, text: string, tone: "" | "good" | "bad" = ""): void {
  const place = byId(id);
  place.textContent = text;
  place.className = tone;
}

async function readFile(): Promise<void> {
  const [file] = fileInput.files ?? [];
  if (file === undefined) return;
  input.value = await file.text();
  takeIntents(input.value);
}

function takeIntents(text: string): void {
  byId("inboxes").replaceChildren();
  inboxes = [];
  say("intents-said", "");
  byId("chain-step").hidden = true;
  if (text.trim() === "") return;
  try {
    inboxes = readRecords(text);
  } catch (error) {
    return say("intents-said", reasonOf(error), "bad");
  }
  const [only] = inboxes;
  if (only === undefined) return;
  say(
    "intents-said",
    inboxes.length === 1
      ? "The address was recomputed from the terms."
      : `${inboxes.length} inboxes, each recomputed from its terms.`,
    "good",
  );
  if (inboxes.length === 1) byId("inboxes").replaceChildren(...factsOf(only));
  void look();
}

function factsOf({ address, terms, intentId }: KnownInbox): HTMLElement[] {
  const facts: [string, string][] = [
    ...(intentId === undefined ? [] : [["Intent", intentId] as [string, string]]),
    ["Inbox", checksumAddress(address)],
    ["Pays", checksumAddress(terms.payout)],
    ["In token", `${checksumAddress(terms.settleToken)} on chain ${terms.settleChainId}`],
    ["Fee", `${(terms.feeBps / 100).toFixed(2)} % to ${checksumAddress(terms.feeRecipient)}`],
    ["Recovery", terms.recovery === NATIVE ? "none" : checksumAddress(terms.recovery)],
    ["Everything from", displayDay(terms.recoverAfter)],
  ];
  return facts.flatMap(([name, value]) => [element("dt", name), element("dd", value)]);
}

function showWallets(wallets: readonly BrowserWallet[]): void {
  byId("wallets").replaceChildren(
    ...wallets.map((wallet) => {
      const button = element("button", `Connect ${wallet.name}`);
      button.addEventListener("click", () => void connect(wallet));
      return button;
    }),
  );
  if (connected === undefined)
    say(
      "wallet-said",
      wallets.length > 0
        ? ""
        : "No wallet is in this browser. Open the page where yours is, from a web server: most wallets stay away from files.",
    );
}

async function connect({ name, provider }: BrowserWallet): Promise<void> {
  try {
    const ask = askThrough(provider);
    const accounts = await ask("eth_requestAccounts", []);
    const account = findAddress(Array.isArray(accounts) ? accounts[0] : undefined);
    if (account === undefined) return say("wallet-said", "The wallet offered no account.", "bad");
    connected = { ask, account };
    say("wallet-said", `${name}: ${checksumAddress(account)}`, "good");
    provider.on?.("chainChanged", () => void look());
    provider.on?.("accountsChanged", () => void connect({ name, provider }));
    await look();
  } catch (error) {
    say("wallet-said", reasonOf(error), "bad");
  }
}

async function look(): Promise<void> {
  if (connected === undefined || inboxes.length === 0) return;
  const { ask } = connected;
  lookNumber += 1;
  const number = lookNumber;
  byId("chain-step").hidden = false;
  say("chain-said", "Looking …");
  try {
    const tokens = tokenInput.value
      .split(/[\s,]+/)
      .filter((text) => text !== "")
      .map(tokenOf);
    const fromBlock = BigInt(/^\d{1,15}$/.test(blockInput.value) ? blockInput.value : "0");
    const onProgress = (done: number, total: number) =>
      number === lookNumber && say("chain-said", `Looking: ${done} of ${total} balances`);
    const sight = await lookAt(ask, inboxes, { tokens, fromBlock, onProgress });
    if (number === lookNumber) showSight(sight, connected);
  } catch (error) {
    if (number === lookNumber) say("chain-said", reasonOf(error), "bad");
  }
}

function tokenOf(text: string): Hex {
  const address = findAddress(text);
  if (address === undefined) throw new Error(`${text} is no token address.`);
  return address;
}

function showSight(sight: Sight, wallet: Connected): void {
  const { chainId, holdings, hub, isDeployable, isSearched } = sight;
  const found =
    holdings.length === 0
      ? "holds nothing for these inboxes. Switch the network in your wallet to look at another."
      : "holds:";
  say("chain-said", `Chain ${chainId} ${found}`);
  const notes = [
    ...(isSearched
      ? []
      : ["This network refuses to search all its blocks for tokens. Name the tokens, or a later first block, below."]),
    ...(hub === "present"
      ? []
      : [
          hub === "absent" && isDeployable
            ? "The hub is not on this chain yet; it is put there first, as a transaction of its own."
            : "This chain cannot have the hub at its address: nothing can be moved here.",
        ]),
  ];
  byId("chain-notes").replaceChildren(...notes.map((note) => element("p", note, "note")));
  const settleable = holdings.filter((holding) => wayOf(holding, sight).kind === "settle");
  const rows: HTMLElement[] = holdings.map((holding) => rowOf(holding, sight, wallet));
  if (settleable.length > 1) rows.push(settleAllButton(settleable, sight, wallet));
  byId("holdings").replaceChildren(...rows);
}

function wayOf({ inbox, token }: Holding, { chainId, timestamp }: Sight) {
  return wayOut(inbox.terms, { chainId, timestamp, token });
}

function rowOf(holding: Holding, sight: Sight, wallet: Connected): HTMLElement {
  const { inbox, token, units, symbol, decimals } = holding;
  const row = element("li");
  row.append(element("strong", `${displayUnits(units, decimals)} ${symbol}`));
  row.append(
    element("small", `${token === NATIVE ? "" : `${checksumAddress(token)} `}in ${checksumAddress(inbox.address)}`),
  );
  const way = wayOf(holding, sight);
  if (way.kind === "none") row.append(element("small", "Its terms name no recovery address: it cannot be moved here."));
  else if (way.kind === "settle") row.append(actButton("Settle to the payout", () => settle([holding], sight, wallet)));
  else if (!way.isDue)
    row.append(element("small", `The recovery address may take it from ${displayDay(way.fromSeconds)}.`));
  else if (way.by !== wallet.account)
    row.append(element("small", `Connect the recovery address ${checksumAddress(way.by)} to take it out.`));
  else row.append(actButton("Rescue to the payout wallet", () => rescue(holding, sight, wallet)));
  return row;
}

function settleAllButton(holdings: readonly Holding[], sight: Sight, wallet: Connected): HTMLElement {
  const row = element("li");
  row.append(actButton(`Settle all ${holdings.length}`, () => settle(holdings, sight, wallet)));
  return row;
}

function actButton(label: string, act: () => Promise<void>): HTMLElement {
  const button = element("button", label) as HTMLButtonElement;
  button.addEventListener("click", () => {
    for (const other of document.querySelectorAll<HTMLButtonElement>("#holdings button")) other.disabled = true;
    act()
      .then(look)
      .then(() => say("act-said", "Done. What is left is shown above.", "good"))
      .catch((error: unknown) => {
        say("act-said", reasonOf(error), "bad");
        return look();
      });
  });
  return button;
}

async function provideHub({ hub }: Sight, { ask, account }: Connected): Promise<void> {
  if (hub === "present") return;
  await send(ask, account, {
    call: deployHubCall(),
    onSent: (hash) => say("act-said", `Putting the hub there: ${hash}`),
  });
}

async function settle(holdings: readonly Holding[], sight: Sight, wallet: Connected): Promise<void> {
  await provideHub(sight, wallet);
  for (let start = 0; start < holdings.length; start += SETTLE_MAX) {
    const call = settleCall(holdings.slice(start, start + SETTLE_MAX).map(({ inbox }) => inbox.terms));
    await send(wallet.ask, wallet.account, { call, onSent: (hash) => say("act-said", `Settling: ${hash}`) });
  }
}

async function rescue({ inbox, token }: Holding, sight: Sight, wallet: Connected): Promise<void> {
  await provideHub(sight, wallet);
  const to = inbox.terms.payout === NATIVE ? wallet.account : inbox.terms.payout;
  const call = rescueCall(inbox.terms, token, to);
  await send(wallet.ask, wallet.account, { call, onSent: (hash) => say("act-said", `Rescuing: ${hash}`) });
}
