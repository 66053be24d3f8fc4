// The page of the demo shop: it opens the checkout with the SDK as any shop does, and holds a wallet that announces
// itself by EIP-6963, and by the Wallet Standard on Solana.
import { mount } from "/sdk/v1.js";
import { createSolanaWallet, payRequest, registerWallet } from "/dev/shop/solanaWallet.js";

const element = (id) => document.getElementById(id);
const done = element("done");
const FOLLOW_MS = 500;

async function send(path, body) {
  const response = await fetch(`/dev/shop/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body ?? {}),
  });
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.message), { code: answer.code });
  return answer;
}

const provider = {
  request: async ({ method, params }) => {
    const { result } = await send("wallet", { method, params });
    void showBalance();
    return result;
  },
};
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%23fff'/%3E%3Cpath fill='%23f2b84b' d='M6 11h20v12H6zm13 4h7v4h-7z'/%3E%3C/svg%3E";
const name = "Demo Wallet";
const detail = Object.freeze({
  info: Object.freeze({ uuid: crypto.randomUUID(), name, icon, rdns: "dev.tributary.demo" }),
  provider: Object.freeze(provider),
});
const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
addEventListener("eip6963:requestProvider", announce);
announce();
const solanaWallet = createSolanaWallet({ name, icon, send, onSent: () => void showBalance() });
void solanaWallet.then(registerWallet);

const chosenNetwork = () => document.querySelector("input[name=network]:checked")?.value ?? "evm";

async function showBalance() {
  const { network, balance } = await send("balance", { network: chosenNetwork() });
  element("network").textContent = network;
  element("balance").textContent = balance;
}

let checkout;

async function buy(paysAtOnce) {
  const mode = document.querySelector("input[name=mode]:checked")?.value ?? "modal";
  done.textContent = "";
  element("delivery").textContent = "";
  // The shop's server creates the intent. The page needs its id alone.
  const { intentId, transfer } = await send("orders", { network: chosenNetwork() });
  checkout?.unmount();
  checkout = mount({
    intentId,
    mode,
    ...(mode === "inline" ? { target: "#checkout" } : {}),
    // One click pays: the demo wallet sends what the checkout asks for as soon as it is open.
    ...(paysAtOnce ? { onReady: () => void pay(intentId, transfer) } : {}),
    onPaid: () => void followOrder(intentId),
    onError: ({ message }) => (done.textContent = message),
  });
}

async function pay(intentId, transfer) {
  try {
    if (transfer === null) await payRequest(await solanaWallet, `/c/${intentId}/solana-pay`);
    else await provider.request({ method: "eth_sendTransaction", params: [transfer] });
  } catch (error) {
    done.textContent = `The demo wallet did not pay: ${error.message}`;
  }
}

/** A hint has come from the page: what counts is what the shop's server learns by its webhook. */
async function followOrder(intentId) {
  done.textContent = "Thank you! The payment is final.";
  for (;;) {
    const { settled, delivery } = await send("order", { intentId });
    if (settled !== null) {
      done.textContent = `Thank you! ${settled} has arrived in the shop's wallet.`;
      element("delivery").textContent =
        `The shop's webhook said so: ${delivery.type} (${delivery.eventId}), ${delivery.afterMs} ms after the change.`;
      void showBalance();
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, FOLLOW_MS));
  }
}

element("buy").addEventListener("click", () => void buy(element("at-once").checked));
element("more").addEventListener("click", () => void send("more", { network: chosenNetwork() }).then(showBalance));
for (const input of document.querySelectorAll("input[name=network]"))
  input.addEventListener("change", () => void showBalance());
const query = new URLSearchParams(location.search);
const network = document.querySelector(`input[name=network][value="${query.get("network") ?? ""}"]`);
if (network !== null) network.checked = true;
void showBalance();
const wanted = document.querySelector(`input[name=mode][value="${query.get("mode") ?? ""}"]`);
if (wanted !== null) {
  wanted.checked = true;
  // Opened by a link, the checkout waits for the payer: a load of the page pays nothing.
  if (wanted.value === "inline") void buy(false);
}
