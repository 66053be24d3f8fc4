import { noKey, parseKey } from "@tributary/inbox/solana/keys";
import { findSolanaProgram } from "@tributary/inbox/solana/program";
import type { FoundBurn } from "../../src/bridge/searchBurns.ts";
import { formatDay } from "../../src/format.ts";
import type { RpcRequester } from "../../src/rpc/rpcRequester.ts";
import type { ParsedIntents } from "../../src/parseIntents.ts";
import {
  inspectSolana,
  readAccount,
  readCluster,
  readDecimals,
  requireWallet,
  type SolanaHolding,
  type SolanaInspection,
} from "../../src/solana/inspectSolana.ts";
import { requireProgram, type RecoverableInbox } from "../../src/solana/parseSolanaInboxes.ts";
import { buildSettleCalls } from "../../src/solana/planSolanaRecovery.ts";
import { planReceipt } from "../../src/solana/receiveOnSolana.ts";
import type { SignedBurn } from "../../src/bridge/attestation.ts";
import { byId, createElement, setMessage } from "../dom.ts";
import { describeError } from "../wallets.ts";
import { createHttpRequester, readRpcUrl } from "./httpRequester.ts";
import { formatRecipient, listRows, type Action, type Row } from "./rows.ts";
import { sendWithWallet } from "./sendWithWallet.ts";
import {
  connectWallet,
  findAccount,
  watchSolanaWallets,
  type StandardWallet,
  type WalletAccount,
} from "./walletStandard.ts";

// The steps of Solana: reads the cluster through an RPC URL that the person names, and sends through a wallet of the
// Wallet Standard.

type Sight = {
  readonly request: RpcRequester;
  readonly host: string;
  readonly cluster: string;
  readonly inspection: SolanaInspection;
  readonly decimals: ReadonlyMap<string, number>;
};
type Connection = { readonly wallet: StandardWallet; readonly account: WalletAccount };

export type SolanaStep = {
  /** Shows the steps if the file has inboxes on Solana, and forgets what was read for another file. */
  load(intents: ParsedIntents): void;
  inboxes(): readonly RecoverableInbox[];
  /** Receives a burn for an inbox on the cluster that was read, and settles it. Returns the last signature. */
  receive(inbox: RecoverableInbox, signed: SignedBurn): Promise<string>;
};

const rpcInput = byId<HTMLInputElement>("solana-rpc");
const programInput = byId<HTMLInputElement>("solana-program");
const receiverInput = byId<HTMLInputElement>("solana-to");
const list = byId("solana-holdings");

let intents: ParsedIntents = { onEvm: [], onSolana: [], refused: [] };
let sight: Sight | undefined;
let connection: Connection | undefined;
/** While an action runs, no other one starts. */
let isRunning = false;
/** The number of the latest inspection. Results of an older one are discarded. */
let latestInspection = 0;

/** Receives the signature of a burn. */
let onBridged: (signature: string) => void = () => {};
/** Receives what was burned on the cluster. */
let onBurned: (burns: readonly FoundBurn[]) => void = () => {};

export type SolanaEvents = { onBridged(signature: string): void; onBurned(burns: readonly FoundBurn[]): void };

export function setUpSolana(page: SolanaEvents): SolanaStep {
  onBridged = (signature) => page.onBridged(signature);
  onBurned = (burns) => page.onBurned(burns);
  byId("solana-look").addEventListener("click", () => void look());
  rpcInput.addEventListener("keydown", ({ key }) => void (key === "Enter" && look()));
  receiverInput.addEventListener("input", showRows);
  watchSolanaWallets(showWallets);
  return {
    load(loaded) {
      intents = loaded;
      sight = undefined;
      latestInspection += 1;
      byId("solana-step").hidden = loaded.onSolana.length === 0;
      for (const id of ["solana-status", "solana-act-status"]) setMessage(id, "");
      showRows();
    },
    inboxes: () => intents.onSolana,
    receive,
  };
}

async function receive(recoverable: RecoverableInbox, signed: SignedBurn): Promise<string> {
  if (sight === undefined || connection === undefined)
    throw new Error("It is paid out on Solana: show the balances there and connect a wallet, above.");
  const { request, cluster } = sight;
  const { address } = connection.account;
  const onStatus = (text: string) => setMessage("receive-status", text);
  const sender = { request, cluster, ...connection, onStatus };
  onStatus("Simulating it …");
  for (const instructions of (await planReceipt(request, recoverable, { signed, payer: address })) ?? [])
    await sendWithWallet(sender, { instructions });
  await inspect();
  const isOwn = (each: SolanaHolding) => each.recoverable === recoverable && each.isPinned;
  const holding = sight?.inspection.holdings.find(isOwn);
  if (holding === undefined) throw new Error("Somebody has received and settled it already. Nothing is left to do.");
  const signature = await sendWithWallet(sender, { instructions: buildSettleCalls([holding], address) });
  await look();
  return signature;
}

/** The terms of one inbox, for the page's first step. */
export function listSolanaTerms({ inbox }: RecoverableInbox): [name: string, value: string][] {
  const { terms } = inbox;
  const own: [string, string][] =
    terms.kind === "pay"
      ? [
          ["Pays", terms.payout],
          ["Fee", `${(terms.feeBps / 100).toFixed(2)} % to ${terms.feeAccount}`],
        ]
      : [["Bridges to", `${formatRecipient(terms.mintRecipient)} on the chain with Circle's number ${terms.domain}`]];
  return [
    ["Inbox on Solana", inbox.address],
    ["Token account", inbox.tokenAccount],
    ["Mint", terms.mint],
    ...own,
    ["Recovery", terms.recovery === noKey ? "none" : terms.recovery],
    ["Everything from", formatDay(terms.recoverAfter)],
    ["Program", inbox.program],
  ];
}

async function look(): Promise<void> {
  setMessage("solana-act-status", "");
  await inspect();
  showRows();
}

async function inspect(): Promise<void> {
  latestInspection += 1;
  const inspection = latestInspection;
  const show = (text: string, tone: "" | "bad" = "") =>
    inspection === latestInspection && setMessage("solana-status", text, tone);
  sight = undefined;
  show("Looking …");
  try {
    const found = await readSight((done, total) => show(`Looking: ${done} of ${total} inboxes`));
    if (inspection !== latestInspection) return;
    sight = found;
    onBurned(found.inspection.burned.burns);
  } catch (error) {
    show(describeError(error), "bad");
  }
}

async function readSight(onProgress: (done: number, total: number) => void): Promise<Sight> {
  const url = readRpcUrl(rpcInput.value.trim());
  const request = createHttpRequester(url, (ms) =>
    setMessage("solana-status", `${url.host} refuses requests for now: waiting ${ms / 1_000} s`),
  );
  const cluster = await readCluster(request);
  if (cluster === "") throw new Error(`${url.host} is no RPC URL of a Solana cluster.`);
  const program = readProgram(cluster);
  for (const { inbox } of intents.onSolana) requireProgram(inbox, program);
  if ((await readAccount(request, program)) === undefined)
    throw new Error(`The inbox program ${program} is not on this cluster, so no inbox is here.`);
  const inspection = await inspectSolana(request, intents.onSolana, onProgress);
  const mints = new Set([...inspection.holdings, ...inspection.nested].map(({ mint }) => mint));
  const decimals = new Map<string, number>();
  for (const mint of mints) decimals.set(mint, await readDecimals(request, mint));
  return { request, host: url.host, cluster, inspection, decimals };
}

function readProgram(cluster: string): string {
  const published = findSolanaProgram(cluster);
  const named = programInput.value.trim();
  if (named !== "" && parseKey(named) === undefined)
    throw new Error(`Inbox program: ${named} is not the base58 of 32 bytes.`);
  const program = published ?? (named === "" ? undefined : named);
  if (program === undefined)
    throw new Error(`The cluster ${cluster} has no published inbox program: name yours under "A private cluster".`);
  if (named !== "" && named !== program)
    throw new Error(`Inbox program: this cluster's published one is ${program}. Leave the field empty.`);
  return program;
}

function showWallets(wallets: readonly StandardWallet[]): void {
  byId("solana-wallets").replaceChildren(
    ...wallets.map((wallet) => {
      const button = createElement("button", `Connect ${wallet.name}`);
      button.addEventListener("click", () => void connect(wallet));
      return button;
    }),
  );
  if (connection === undefined)
    setMessage(
      "solana-wallet-status",
      wallets.length > 0
        ? ""
        : "This browser has no wallet for Solana. Open the page in the browser of your wallet, from a web server: most wallets ignore local files.",
    );
}

async function connect(wallet: StandardWallet): Promise<void> {
  try {
    use(wallet, await connectWallet(wallet));
    wallet.features["standard:events"]?.on("change", () => {
      if (connection?.wallet === wallet) use(wallet, findAccount(wallet.accounts));
    });
  } catch (error) {
    setMessage("solana-wallet-status", describeError(error), "bad");
  }
}

function use(wallet: StandardWallet, account: WalletAccount | undefined): void {
  connection = account && { wallet, account };
  if (account === undefined) setMessage("solana-wallet-status", `${wallet.name} is disconnected.`);
  else setMessage("solana-wallet-status", `${wallet.name}: ${account.address}`, "good");
  showRows();
}

function showRows(): void {
  list.replaceChildren();
  if (sight === undefined) return;
  const typed = receiverInput.value.trim();
  const receiver = typed === "" ? undefined : typed;
  if (receiver !== undefined && parseKey(receiver) === undefined)
    return setMessage("solana-status", `Receiver: ${receiver} is not the base58 of 32 bytes.`, "bad");
  const { inspection, decimals, host } = sight;
  const account = connection?.account.address;
  const rows = listRows({ inspection, decimals, account, receiver, onEvm: intents.onEvm });
  setMessage(
    "solana-status",
    rows.length === 0 ? `${host}: these inboxes hold nothing.` : `${host}: these inboxes hold:`,
  );
  list.replaceChildren(...rows.map((row) => renderRow(row)));
}

function renderRow({ title, place, notes, actions }: Row): HTMLElement {
  const row = createElement("li");
  row.append(createElement("strong", title));
  if (place !== "") row.append(createElement("small", place));
  for (const [effect, group] of Map.groupBy(actions, (action) => action.effect)) {
    const buttons = createElement("div", "", "buttons");
    buttons.append(...group.map(createButton));
    row.append(createElement("span", effect), buttons);
  }
  row.append(...notes.map((text) => createElement("small", text)));
  return row;
}

function createButton(action: Action): HTMLElement {
  const button = createElement("button", action.label) as HTMLButtonElement;
  button.disabled = isRunning;
  button.addEventListener("click", () => void run(action));
  return button;
}

async function run(action: Action): Promise<void> {
  const onStatus = (text: string) => setMessage("solana-act-status", text);
  isRunning = true;
  showRows();
  try {
    if (sight === undefined || connection === undefined) throw new Error("Connect a wallet first.");
    const { request, cluster } = sight;
    onStatus("Simulating it …");
    if (action.receiver !== undefined) await requireWallet(request, action.receiver);
    const sender = { request, cluster, ...connection, onStatus };
    let signature = "";
    for (const call of action.build()) signature = await sendWithWallet(sender, call);
    await inspect();
    setMessage("solana-act-status", `Done by ${signature}. ${action.isBridge === true ? NEXT : ABOVE}`, "good");
    if (action.isBridge === true) onBridged(signature);
  } catch (error) {
    await inspect();
    setMessage("solana-act-status", describeError(error), "bad");
  }
  isRunning = false;
  showRows();
}

const ABOVE = "The remaining balances are shown above.";
const NEXT =
  'Keep this signature. When Circle has signed it, after seconds if fast and else after about half a minute, receive it under "Receive what was bridged".';
