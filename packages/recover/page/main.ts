import type { CctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import { checksumAddress, parseAddress } from "@tributary/inbox/checksum";
import type { Hub } from "@tributary/inbox/hubs";
import { zeroBytes32, type Hex } from "@tributary/inbox/terms";
import { parseQuantity } from "../src/abi.ts";
import { parseBridges } from "../src/bridge/parseBridges.ts";
import { planBridge, type BridgePlan, type ProvenRoute } from "../src/bridge/planBridge.ts";
import { batchSettlements, buildDeployHubCall, buildRescueCall, buildSettleCall } from "../src/contractCalls.ts";
import { inspectChain, type Holding, type ChainInspection } from "../src/inspectChain.ts";
import type { RpcRequester } from "../src/rpc/rpcRequester.ts";
import { defaultFeeCeiling, formatGwei, GasPriceTooHigh, parseGwei } from "../src/gasPrice.ts";
import {
  defaultReceiver,
  NATIVE_TOKEN,
  planRecovery,
  planSettleTokenRescue,
  type RecoveryPlan,
} from "../src/planRecovery.ts";
import type { VerifiedInbox } from "../src/parseInboxes.ts";
import { parseIntents, type ParsedIntents } from "../src/parseIntents.ts";
import { formatDay, formatUnits } from "../src/format.ts";
import { describeRoute, sendBridge } from "./bridge.ts";
import { setUpBurned } from "./burned.ts";
import { byId, createElement, setMessage } from "./dom.ts";
import { setUpReceiving } from "./receive.ts";
import { sendTransaction, type PageSender } from "./sendTransaction.ts";
import { setUpSolana } from "./solana/solanaStep.ts";
import { showTerms } from "./terms.ts";
import { createRpcRequester, describeError, watchWallets, type BrowserWallet } from "./wallets.ts";

// A page whose only connections are the wallet and, on request, an RPC URL of Solana and Circle's attestation service.
// It writes all values as text.

const DONE = "Done. The remaining balances are shown above.";

type ConnectedWallet = { request: RpcRequester; account: Hex };

let inboxes: readonly VerifiedInbox[] = [];
let connectedWallet: ConnectedWallet | undefined;
/** The number of the latest inspection. Results of an older one are discarded. */
let latestInspection = 0;

const input = byId<HTMLTextAreaElement>("intents");
const fileInput = byId<HTMLInputElement>("file");
const tokenInput = byId<HTMLInputElement>("tokens");
const blockInput = byId<HTMLInputElement>("from-block");
const bridgesInput = byId<HTMLTextAreaElement>("bridges");
const maxFeeInput = byId<HTMLInputElement>("max-fee");
const receiverInput = byId<HTMLInputElement>("rescue-to");

input.addEventListener("input", () => loadInboxes(input.value));
fileInput.addEventListener("change", () => void loadFile());
byId("look").addEventListener("click", () => void inspect());
receiverInput.addEventListener("change", () => void inspect());
setUpReceiving({
  inboxes: () => inboxes,
  bridges: readBridges,
  sender: async () => {
    if (connectedWallet === undefined) throw new Error("Connect your wallet first.");
    const { request } = connectedWallet;
    return toSender(connectedWallet, parseQuantity(await request("eth_chainId", []), "its id"));
  },
  onReceived: inspect,
  onSolana: () => solanaStep,
});
const burned = setUpBurned({
  inboxes: () => inboxes,
  bridges: readBridges,
  fetch(txHash) {
    byId<HTMLInputElement>("burn-tx").value = txHash;
    byId("fetch").click();
  },
});
const solanaStep = setUpSolana({
  onBurned: (burns) => burned.show("Solana", burns),
  onBridged: (signature) => {
    byId<HTMLInputElement>("burn-tx").value = signature;
  },
});
watchWallets(showWallets);

async function loadFile(): Promise<void> {
  const [file] = fileInput.files ?? [];
  if (file === undefined) return;
  input.value = await file.text();
  loadInboxes(input.value);
}

function loadInboxes(text: string): void {
  byId("inboxes").replaceChildren();
  setMessage("intents-status", "");
  let intents: ParsedIntents = { onEvm: [], onSolana: [], refused: [] };
  try {
    if (text.trim() !== "") intents = parseIntents(text);
  } catch (error) {
    setMessage("intents-status", describeError(error), "bad");
  }
  const { onEvm, onSolana } = intents;
  inboxes = onEvm;
  latestInspection += 1;
  byId("wallet-title").textContent = onSolana.length === 0 ? "Your wallet" : "Your wallet on EVM chains";
  byId("wallet-step").hidden = onEvm.length === 0 && onSolana.length > 0;
  byId("chain-step").hidden = true;
  const isBridged = onSolana.some(({ inbox }) => inbox.terms.kind === "hop");
  byId("receive-step").hidden =
    onEvm.length === 0 || (!isBridged && onEvm.every(({ terms }) => terms.routesRoot === zeroBytes32));
  burned.clear();
  solanaStep.load(intents);
  showTerms(intents);
  void inspect();
}

/** Circle's contracts on chains that this page does not know. */
function readBridges(): CctpV2Chain[] {
  if (bridgesInput.value.trim() === "") return [];
  try {
    return parseBridges(bridgesInput.value);
  } catch (error) {
    throw new Error(`Circle's contracts: ${describeError(error)}`);
  }
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
    const request = createRpcRequester(provider, (ms) =>
      setMessage("chain-status", `Your wallet's node refuses requests for now: waiting ${ms / 1_000} s`),
    );
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
    const sight = await inspectChain(request, inboxes, { tokens, fromBlock, bridges: readBridges(), onProgress });
    if (inspection !== latestInspection) return;
    // A wallet that changed its network meanwhile answered for two chains.
    if (parseQuantity(await request("eth_chainId", []), "its id") !== sight.chainId) return await inspect();
    showInspection(sight, connectedWallet);
    burned.show(String(sight.chainId), sight.burned.burns);
    await burned.compare(request, { chainId: sight.chainId, fromBlock });
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
  const { chainId, holdings, hub, canDeployHub, isTokenSearchComplete, skippedBalances } = sight;
  const found =
    holdings.length === 0
      ? "holds nothing for these inboxes. Switch the network in your wallet to inspect another chain."
      : "holds:";
  setMessage("chain-status", `Chain ${chainId} ${found}`);
  maxFeeInput.placeholder = formatGwei(defaultFeeCeiling(chainId));
  const notes = [
    ...(isTokenSearchComplete
      ? []
      : [
          skippedBalances === 0
            ? "This network refuses to search all its blocks for tokens. Name the tokens, or a later first block, below."
            : `Incomplete: ${skippedBalances} balances of tokens in the logs stayed unread. Name the tokens that you miss below.`,
        ]),
    ...(sight.burned.isComplete
      ? []
      : ["This network refuses to search all its blocks for burns, so some may be missing from the list below."]),
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
  const bridgePlan = planBridge(inbox, { chainId: sight.chainId, token }, readBridges());
  if (bridgePlan.kind === "bridge") row.append(...renderBridges(bridgePlan.routes, holding, { sight, wallet }));
  if (bridgePlan.kind === "refused" || bridgePlan.kind === "unlisted")
    row.append(createElement("small", describeUnusable(bridgePlan)));
  row.append(renderPlan(holding, sight, wallet));
  return row;
}

/** A button for each route that takes so much, the cheap one first; else the least that one takes. */
function renderBridges(
  routes: readonly ProvenRoute[],
  holding: Holding,
  context: { sight: ChainInspection; wallet: ConnectedWallet },
): HTMLElement[] {
  const { units, decimals } = holding;
  const usable = routes.filter(({ route }) => route.minAmount <= units);
  if (usable.length > 0)
    return usable
      .toSorted((one) => (one.speed === "standard" ? -1 : 1))
      .map((route) => createActionButton(describeRoute(route, holding), () => bridge(holding, route, context)));
  const least = routes.reduce((low, { route }) => (route.minAmount < low ? route.minAmount : low), ANY_AMOUNT);
  return [
    createElement(
      "small",
      `The bridge takes at least ${formatUnits(least, decimals)}: it leaves with the next deposit.`,
    ),
  ];
}

/** Above every minimum. */
const ANY_AMOUNT = 2n ** 256n;

function describeUnusable(plan: BridgePlan): string {
  if (plan.kind === "unlisted")
    return "It may have a route to its payout: paste the whole intent, with inboxTerms.routes.";
  const isUnknown = plan.kind === "refused" && ["wrong_chain", "wrong_domain"].includes(plan.reason);
  return isUnknown
    ? "This page does not know Circle's contracts on one of its chains: paste them below to bridge it."
    : "Its route may lead elsewhere, so it is not bridged.";
}

/** What settling or rescuing can do with a holding. */
function renderPlan(holding: Holding, sight: ChainInspection, wallet: ConnectedWallet): HTMLElement {
  const { inbox } = holding;
  const plan = planFor(holding, sight);
  if (plan.kind === "none")
    return createElement("small", "Its terms name no recovery address: it cannot be rescued here.");
  if (plan.kind !== "settle") return renderRescue(plan, holding, { sight, wallet });
  const settle = createActionButton("Settle to the payout", () => sendSettle([holding], sight, wallet));
  const fallback = planSettleTokenRescue(inbox.terms, sight.timestamp);
  if (fallback.kind !== "rescue" || !fallback.isAllowed) return settle;
  const both = createElement("div", "", "choices");
  const why = "If the issuer of the token blocks the payout wallet, rescue it to another one: name that one below.";
  both.append(settle, createElement("small", why), renderRescue(fallback, holding, { sight, wallet }));
  return both;
}

function renderRescue(
  plan: RecoveryPlan & { kind: "rescue" },
  holding: Holding,
  { sight, wallet }: { sight: ChainInspection; wallet: ConnectedWallet },
): HTMLElement {
  if (!plan.isAllowed)
    return createElement("small", `The recovery address may take it from ${formatDay(plan.allowedFromSeconds)}.`);
  if (plan.sender !== wallet.account)
    return createElement("small", `Connect the recovery address ${checksumAddress(plan.sender)} to take it out.`);
  const { terms } = holding.inbox;
  const isPayout = defaultReceiver(terms, { ...sight, sender: wallet.account, token: holding.token }) === terms.payout;
  const label = isPayout ? "Rescue to the payout wallet" : "Rescue to the recovery address";
  const isNamed = receiverInput.value.trim() !== "";
  return createActionButton(isNamed ? "Rescue to the wallet below" : label, () => sendRescue(holding, sight, wallet));
}

function renderSettleAll(holdings: readonly Holding[], sight: ChainInspection, wallet: ConnectedWallet): HTMLElement {
  const row = createElement("li");
  row.append(createActionButton(`Settle all ${holdings.length}`, () => sendSettle(holdings, sight, wallet)));
  return row;
}

/** `action` returns its message. */
function createActionButton(label: string, action: () => Promise<string>): HTMLElement {
  const button = createElement("button", label) as HTMLButtonElement;
  button.addEventListener("click", () => {
    for (const other of document.querySelectorAll<HTMLButtonElement>("#holdings button")) other.disabled = true;
    action()
      .then(async (message) => {
        await inspect();
        setMessage("act-status", message, "good");
      })
      .catch((error: unknown) => {
        const advice = error instanceof GasPriceTooHigh ? " Wait, or raise the highest gas price below." : "";
        setMessage("act-status", `${describeError(error)}${advice}`, "bad");
        return inspect();
      });
  });
  return button;
}

function toSender({ request, account }: ConnectedWallet, chainId: bigint): PageSender {
  const typed = maxFeeInput.value.trim();
  const feeCeiling = typed === "" ? defaultFeeCeiling(chainId) : parseGwei(typed);
  if (feeCeiling === undefined) throw new Error(`${typed} is not a gas price in gwei.`);
  return { request, account, chainId, feeCeiling };
}

async function ensureHub(sight: ChainInspection, wallet: ConnectedWallet, hub: Hub): Promise<void> {
  if (!sight.absentHubs.includes(hub)) return;
  await sendTransaction(toSender(wallet, sight.chainId), buildDeployHubCall(hub), (hash) =>
    setMessage("act-status", `Putting the hub there: ${hash}`),
  );
}

async function bridge(
  holding: Holding,
  route: ProvenRoute,
  { sight, wallet }: { sight: ChainInspection; wallet: ConnectedWallet },
): Promise<string> {
  await ensureHub(sight, wallet, holding.inbox.hub);
  return sendBridge(holding, route, toSender(wallet, sight.chainId));
}

async function sendSettle(
  holdings: readonly Holding[],
  sight: ChainInspection,
  wallet: ConnectedWallet,
): Promise<string> {
  for (const hub of new Set(holdings.map(({ inbox }) => inbox.hub))) await ensureHub(sight, wallet, hub);
  for (const batch of batchSettlements(holdings)) {
    const call = buildSettleCall(
      batch.map(({ inbox }) => inbox.terms),
      batch[0]?.inbox.hub,
    );
    await sendTransaction(toSender(wallet, sight.chainId), call, (hash) =>
      setMessage("act-status", `Settling: ${hash}`),
    );
  }
  return DONE;
}

/** Throws an Error for a receiver that is no wallet. */
function readReceiver(): Hex | undefined {
  const typed = receiverInput.value.trim();
  if (typed === "") return undefined;
  const address = parseAddress(typed);
  if (address === undefined) throw new Error(`${typed} is not an address. Nothing was sent.`);
  if (inboxes.some((inbox) => inbox.address === address || inbox.hub.address === address))
    throw new Error(`${typed} is an inbox or a hub, not a wallet. Nothing was sent.`);
  return address;
}

async function sendRescue({ inbox, token }: Holding, sight: ChainInspection, wallet: ConnectedWallet): Promise<string> {
  const { chainId } = sight;
  const to = readReceiver() ?? defaultReceiver(inbox.terms, { chainId, sender: wallet.account, token });
  await ensureHub(sight, wallet, inbox.hub);
  const call = buildRescueCall(inbox, token, to);
  await sendTransaction(toSender(wallet, chainId), call, (hash) =>
    setMessage("act-status", `Rescuing to ${checksumAddress(to)}: ${hash}`),
  );
  return DONE;
}
