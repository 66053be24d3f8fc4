import { UnsafeBurnerWalletAdapter } from "@solana/wallet-adapter-unsafe-burner";
import { VersionedTransaction } from "@solana/web3.js";

// Runs in a page, bundled: registers the burner wallet of Solana's wallet adapters as a wallet of the Wallet Standard,
// because a burner does not register itself. The key, the reading of transactions and the signing are its own.

type RegisterApi = { register(wallet: object): void };

const adapter = new UnsafeBurnerWalletAdapter();
const chains = ["solana:localnet"];

async function connect() {
  // Each connection makes a new key.
  if (adapter.publicKey === null) await adapter.connect();
  const { publicKey } = adapter;
  if (publicKey === null) throw new Error("the wallet has no key");
  return { accounts: [{ address: publicKey.toBase58(), publicKey: publicKey.toBytes(), chains, features: [] }] };
}

async function signTransaction({ transaction }: { transaction: Uint8Array }) {
  const signed = await adapter.signTransaction(VersionedTransaction.deserialize(transaction));
  return [{ signedTransaction: signed.serialize() }];
}

const wallet = {
  version: "1.0.0",
  name: adapter.name,
  icon: adapter.icon,
  chains,
  accounts: [],
  features: {
    "standard:connect": { version: "1.0.0", connect },
    "solana:signTransaction": { version: "1.0.0", supportedTransactionVersions: ["legacy", 0], signTransaction },
  },
};

const register = (api: RegisterApi) => api.register(wallet);
Object.assign(window, { burnerAddress: async () => (await connect()).accounts[0]?.address });
addEventListener("wallet-standard:app-ready", (event) => register((event as CustomEvent<RegisterApi>).detail));
dispatchEvent(new CustomEvent("wallet-standard:register-wallet", { detail: register }));
