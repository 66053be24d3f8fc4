import { fetchTransaction, parseURL } from "@solana/pay";
import { Connection, Keypair } from "@solana/web3.js";

// Runs in a page, bundled: reads a code and pays as a wallet with the SDK of Solana Pay does. Reading, checking and
// signing are its own.

export type CodePayment = { link: string; rpcUrl: string; seed: number[] };

async function payByLink({ link, rpcUrl, seed }: CodePayment): Promise<string> {
  const wallet = Keypair.fromSeed(Uint8Array.from(seed));
  const connection = new Connection(rpcUrl, "confirmed");
  const transaction = await fetchTransaction(connection, wallet.publicKey, link);
  transaction.sign(wallet);
  return connection.sendRawTransaction(transaction.serialize());
}

function readLink(code: string): string {
  const read = parseURL(code);
  if (!("link" in read)) throw new Error("the code asks for a transfer");
  return read.link.href;
}

Object.assign(window, { payByLink, readLink });
