import { checksumAddress, parseAddress } from "@tributary/inbox/checksum";
import type { Hub } from "@tributary/inbox/hubs";
import type { Hex } from "@tributary/inbox/terms";
import { batchSettlements, buildDeployHubCall, buildRescueCall, buildSettleCall } from "../src/contractCalls.ts";
import { inspectChain, type RpcRequester, type Holding, type ChainInspection } from "../src/inspectChain.ts";
import { defaultReceiver, NATIVE_TOKEN, planRecovery } from "../src/planRecovery.ts";
import { parseInboxes, type VerifiedInbox } from "../src/parseInboxes.ts";
import { formatDay, formatUnits } from "../src/format.ts";
import { sendTransaction } from "./sendTransaction.ts";
import { createRpcRequester, describeError, watchWallets, type BrowserWallet } from "./wallets.ts";

// A page whose only connection is the wallet. It writes all values as text.

type ConnectedWallet = { request: RpcRequester; account: Hex };

let inboxes: readonly VerifiedInbox[] = [];
let connectedWallet: ConnectedWallet | undefined;
/** The number of the latest inspection. Results of an older one are discarded. */
let latestInspection = 0;

const input = byId<HTMLTextAreaElement>("intents");
const fileInput = byId<HTMLInputElement>("file");
const tokenInput = byId<HTMLInputElement>("tokens");
const blockInput = byId<HTMLInputElement>("from-block");

input.addEventListener("input", () => loadInboxes(input.value));
fileInput.addEventListener("change", () => void loadFile());
byId("look").addEventListener("click", () => void inspect());
watchWallets(showWallets);

function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no ${id}`);
  return element as T;
}

function createElement(tag: string, text = "", className = ""): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className !== "") made.className = className;
  return made;
}

function setMessage(id: string, text: string, tone: "" | "good" | "bad" = ""): void {
  const element = byId(id);
  element.textContent = text;
  element.className = tone;
}

async function loadFile(): Promise<void> {
  const [file] = fileInput.files ?? [];
  if (file === undefined) return;
  input.value = await file.text();
  loadInboxes(input.value);
}

function loadInboxes(text: string): void {
  byId("inboxes").replaceChildren();
  inboxes = [];
  setMessage("intents-status", "");
  byId("chain-step").hidden = true;
  if (text.trim() === "") return;
  try {
    inboxes = parseInboxes(text);
  } catch (error) {
    return setMessage("intents-status", describeError(error), "bad");
  }
  const [only] = inboxes;
  if (only === undefined) return;
  setMessage(
    "intents-status",
    inboxes.length === 1
      ? "The address was recomputed from the terms."
      : `${inboxes.length} inboxes, each recomputed from its terms.`,
    "good",
  );
  if (inboxes.length === 1) byId("inboxes").replaceChildren(...renderTerms(only));
  void inspect();
}

function renderTerms({ address, terms, intentId }: VerifiedInbox): HTMLElement[] {
  const rows: [string, string][] = [
    ...(intentId === undefined ? [] : [["Intent", intentId] as [string, string]]),
    ["Inbox", checksumAddress(address)],
    ["Pays", checksumAddress(terms.payout)],
    ["In token", `${checksumAddress(terms.settleToken)} on chain ${terms.settleChainId}`],
    ["Fee", `${(terms.feeBps / 100).toFixed(2)} % to ${checksumAddress(terms.feeRecipient)}`],
    ["Recovery", terms.recovery === NATIVE_TOKEN ? "none" : checksumAddress(terms.recovery)],
    ["Everything from", formatDay(terms.recoverAfter)],
  ];
  return rows.flatMap(([name, value]) => [createElement("dt", name), createElement("dd", value)]);
}

function showWallets(wallets: readonly BrowserWallet[]): void {
  byId("wallets").replaceChildren(
    ...wallets.map((wallet) => {
      const button = createElement("button", `Connect ${wallet.name}`);
      button.addEventListener("click", () => void connect(wallet));
      return button;
    }),
  );
  if (connectedWallet === undefined)
    setMessage(
      "wallet-status",
      wallets.length > 0
        ? ""
        : "This browser has no wallet. Open the page in the browser of your wallet, from a web server: most wallets ignore local files.",
    );
}

async function connect({ name, provider }: BrowserWallet): Promise<void> {
  try {
    const request = createRpcRequester(provider);
    const accounts = await request("eth_requestAccounts", []);
    const account = parseAddress(Array.isArray(accounts) ? accounts[0] : undefined);
    if (account === undefined) return setMessage("wallet-status", "The wallet returned no account.", "bad");
    connectedWallet = { request, account };
    setMessage("wallet-status", `${name}: ${checksumAddress(account)}`, "good");
    provider.on?.("chainChanged", () => void inspect());
    provider.on?.("accountsChanged", () => void connect({ name, provider }));
    await inspect();
  } catch (error) {
    setMessage("wallet-status", describeError(error), "bad");
  }
}

async function inspect(): Promise<void> {
  if (connectedWallet === undefined || inboxes.length === 0) return;
  const { request } = connectedWallet;
  latestInspection += 1;
  const inspection = latestInspection;
  byId("chain-step").hidden = false;
  setMessage("chain-status", "Looking …");
  try {
    const tokens = tokenInput.value
      .split(/[\s,]+/)
      .filter((text) => text !== "")
      .map(parseToken);
    const fromBlock = BigInt(/^\d{1,15}$/.test(blockInput.value) ? blockInput.value : "0");
    const onProgress = (done: number, total: number) =>
      inspection === latestInspection && setMessage("chain-status", `Looking: ${done} of ${total} balances`);
    const sight = await inspectChain(request, inboxes, { tokens, fromBlock, onProgress });
    if (inspection === latestInspection) showInspection(sight, connectedWallet);
  } catch (error) {
    if (inspection === latestInspection) setMessage("chain-status", describeError(error), "bad");
  }
}

function parseToken(text: string): Hex {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`${text} is not a token address.`);
  return address;
}

function showInspection(sight: ChainInspection, wallet: ConnectedWallet): void {
  const { chainId, holdings, hub, canDeployHub, isTokenSearchComplete } = sight;
  const found =
    holdings.length === 0
      ? "holds nothing for these inboxes. Switch the network in your wallet to inspect another chain."
      : "holds:";
  setMessage("chain-status", `Chain ${chainId} ${found}`);
  const notes = [
    ...(isTokenSearchComplete
      ? []
      : ["This network refuses to search all its blocks for tokens. Name the tokens, or a later first block, below."]),
    ...(hub === "present"
      ? []
      : [
          hub === "absent" && canDeployHub
            ? "The hub is not on this chain yet. A separate transaction deploys it first."
            : "The hub cannot be deployed on this chain, so nothing can be moved here.",
        ]),
  ];
  byId("chain-notes").replaceChildren(...notes.map((note) => createElement("p", note, "note")));
  const settleable = holdings.filter((holding) => planFor(holding, sight).kind === "settle");
  const rows: HTMLElement[] = holdings.map((holding) => renderHolding(holding, sight, wallet));
  if (settleable.length > 1) rows.push(renderSettleAll(settleable, sight, wallet));
  byId("holdings").replaceChildren(...rows);
}

function planFor({ inbox, token }: Holding, { chainId, timestamp }: ChainInspection) {
  return planRecovery(inbox.terms, { chainId, timestamp, token });
}

function renderHolding(holding: Holding, sight: ChainInspection, wallet: ConnectedWallet): HTMLElement {
  const { inbox, token, units, symbol, decimals } = holding;
  const row = createElement("li");
  row.append(createElement("strong", `${formatUnits(units, decimals)} ${symbol}`));
  row.append(
    createElement(
      "small",
      `${token === NATIVE_TOKEN ? "" : `${checksumAddress(token)} `}in ${checksumAddress(inbox.address)}`,
    ),
  );
  const plan = planFor(holding, sight);
  if (plan.kind === "none")
    row.append(createElement("small", "Its terms name no recovery address: it cannot be moved here."));
  else if (plan.kind === "settle")
    row.append(createActionButton("Settle to the payout", () => sendSettle([holding], sight, wallet)));
  else if (!plan.isAllowed)
    row.append(createElement("small", `The recovery address may take it from ${formatDay(plan.allowedFromSeconds)}.`));
  else if (plan.sender !== wallet.account)
    row.append(createElement("small", `Connect the recovery address ${checksumAddress(plan.sender)} to take it out.`));
  else {
    const isPayout = rescueReceiver(inbox, sight, wallet) === inbox.terms.payout;
    const label = isPayout ? "Rescue to the payout wallet" : "Rescue to the recovery address";
    row.append(createActionButton(label, () => sendRescue(holding, sight, wallet)));
  }
  return row;
}

function renderSettleAll(holdings: readonly Holding[], sight: ChainInspection, wallet: ConnectedWallet): HTMLElement {
  const row = createElement("li");
  row.append(createActionButton(`Settle all ${holdings.length}`, () => sendSettle(holdings, sight, wallet)));
  return row;
}

function createActionButton(label: string, action: () => Promise<void>): HTMLElement {
  const button = createElement("button", label) as HTMLButtonElement;
  button.addEventListener("click", () => {
    for (const other of document.querySelectorAll<HTMLButtonElement>("#holdings button")) other.disabled = true;
    action()
      .then(inspect)
      .then(() => setMessage("act-status", "Done. The remaining balances are shown above.", "good"))
      .catch((error: unknown) => {
        setMessage("act-status", describeError(error), "bad");
        return inspect();
      });
  });
  return button;
}

async function ensureHub(
  { absentHubs }: ChainInspection,
  { request, account }: ConnectedWallet,
  hub: Hub,
): Promise<void> {
  if (!absentHubs.includes(hub)) return;
  await sendTransaction(request, account, {
    call: buildDeployHubCall(hub),
    onSent: (hash) => setMessage("act-status", `Putting the hub there: ${hash}`),
  });
}

async function sendSettle(
  holdings: readonly Holding[],
  sight: ChainInspection,
  wallet: ConnectedWallet,
): Promise<void> {
  for (const hub of new Set(holdings.map(({ inbox }) => inbox.hub))) await ensureHub(sight, wallet, hub);
  for (const batch of batchSettlements(holdings)) {
    const call = buildSettleCall(
      batch.map(({ inbox }) => inbox.terms),
      batch[0]?.inbox.hub,
    );
    await sendTransaction(wallet.request, wallet.account, {
      call,
      onSent: (hash) => setMessage("act-status", `Settling: ${hash}`),
    });
  }
}

function rescueReceiver({ terms }: VerifiedInbox, { chainId }: ChainInspection, { account }: ConnectedWallet): Hex {
  return defaultReceiver(terms, { chainId, sender: account });
}

async function sendRescue({ inbox, token }: Holding, sight: ChainInspection, wallet: ConnectedWallet): Promise<void> {
  await ensureHub(sight, wallet, inbox.hub);
  const call = buildRescueCall(inbox, token, rescueReceiver(inbox, sight, wallet));
  await sendTransaction(wallet.request, wallet.account, {
    call,
    onSent: (hash) => setMessage("act-status", `Rescuing: ${hash}`),
  });
}
