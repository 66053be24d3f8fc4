// The demo wallet on Solana, as a wallet of the Wallet Standard. The server of the dev world signs for it.

const CHAIN = "solana:localnet";
const VERSION = "1.0.0";

const encode = (bytes) => btoa(String.fromCharCode(...bytes));
const decode = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** `send` asks the server. `onSent` runs after each transaction. */
export async function createSolanaWallet({ name, icon, send, onSent }) {
  const { address, publicKey } = await send("solana-account");
  const chains = [CHAIN];
  const account = { address, publicKey: decode(publicKey), chains, features: ["solana:signAndSendTransaction"] };
  const sign = async ({ transaction }) => {
    const { signature } = await send("solana-send", { transaction: encode(transaction) });
    onSent();
    return { signature: decode(signature) };
  };
  return {
    version: VERSION,
    name,
    icon,
    chains,
    accounts: [account],
    features: {
      "standard:connect": { version: VERSION, connect: async () => ({ accounts: [account] }) },
      "standard:events": { version: VERSION, on: () => () => undefined },
      "solana:signAndSendTransaction": {
        version: VERSION,
        supportedTransactionVersions: ["legacy", 0],
        signAndSendTransaction: (...inputs) => Promise.all(inputs.map(sign)),
      },
    },
  };
}

/** Registers the wallet in the page, and in the checkout's frame, into which an extension would reach too. */
export function registerWallet(wallet) {
  const register = (api) => api.register(wallet);
  const answer = ({ detail }) => register(detail);
  const enter = (target) => {
    target.addEventListener("wallet-standard:app-ready", answer);
    target.dispatchEvent(new CustomEvent("wallet-standard:register-wallet", { detail: register }));
  };
  enter(window);
  addEventListener("message", ({ origin, source, data }) => {
    if (origin === location.origin && data?.type === "tributary:listening") enter(source);
  });
}

/** Pays as a wallet that has scanned the code of a Solana Pay transaction request. */
export async function payRequest(wallet, url) {
  const [account] = wallet.accounts;
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ account: account.address }) });
  const { transaction, error } = await response.json();
  if (transaction === undefined) throw new Error(error?.message ?? "no transaction");
  await wallet.features["solana:signAndSendTransaction"].signAndSendTransaction({
    account,
    transaction: decode(transaction),
    chain: CHAIN,
  });
}
