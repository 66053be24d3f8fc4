import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { encodeBase58 } from "@tributary/inbox/solana/base58";
import { decodeKey, encodeKey, encodeSignature } from "@tributary/inbox/solana/keys";
import { accountKeysOf } from "./world.ts";
import type { World } from "./world.ts";

// The JSON-RPC methods that the commands and the recovery page use, over the runtime of the tests. A transaction is
// confirmed at once.

type Handler = (parameters: readonly unknown[]) => unknown;

const CLOCK = "SysvarC1ock11111111111111111111111111111111";
const TOKEN_OWNER = 32;

export async function startRpcServer(
  world: World,
  genesisHash: string,
): Promise<{ url: string; close(): Promise<void> }> {
  world.landed ??= [];
  const handlers = createHandlers(world, genesisHash);
  const server = createServer((request, response) => {
    void (async () => {
      // Web pages ask too.
      response.setHeader("access-control-allow-origin", "*");
      response.setHeader("access-control-allow-headers", "content-type");
      if (request.method === "OPTIONS") return void response.end();
      const { id, method, params } = JSON.parse(await text(request)) as {
        id: number;
        method: string;
        params: unknown[];
      };
      const answer = answerCall(handlers[method], params);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function answerCall(handler: Handler | undefined, parameters: readonly unknown[]): object {
  if (handler === undefined) return { error: { code: -32_601, message: "Method not found" } };
  try {
    return { result: handler(parameters) };
  } catch (error) {
    return { error: { code: -32_002, message: error instanceof Error ? error.message : String(error) } };
  }
}

function createHandlers(world: World, genesisHash: string): Readonly<Record<string, Handler>> {
  const toInfo = (data: Buffer, lamports: bigint, owner: string) => ({
    data: [data.toString("base64"), "base64"],
    lamports: Number(lamports),
    owner,
  });
  return {
    getGenesisHash: () => genesisHash,
    getLatestBlockhash: () => ({ value: { blockhash: world.svm.latestBlockhash(), lastValidBlockHeight: 1 } }),
    getAccountInfo: ([address]) => {
      if (address === CLOCK) return { value: toInfo(clockData(world), 1n, encodeKey(new Uint8Array(32))) };
      const account = world.account(address as string);
      return { value: account === undefined ? null : toInfo(account.data, account.lamports, account.owner) };
    },
    getTokenAccountsByOwner: ([owner, filter]) => {
      const program = (filter as { programId: string }).programId;
      const accounts = world.svm.getProgramAccounts(decodeKey("program", program));
      const ownerBytes = Buffer.from(decodeKey("owner", owner as string));
      return {
        value: accounts.flatMap((each) => {
          const data = Buffer.from(each.account().data());
          const isHis = data.length >= 165 && data.subarray(TOKEN_OWNER, TOKEN_OWNER + 32).equals(ownerBytes);
          return isHis
            ? [{ pubkey: encodeKey(each.address), account: toInfo(data, each.account().lamports(), program) }]
            : [];
        }),
      };
    },
    getMinimumBalanceForRentExemption: ([bytes]) => Number(world.rent(bytes as number)),
    simulateTransaction: ([transaction]) => ({
      value: world.simulateRaw(new Uint8Array(Buffer.from(transaction as string, "base64"))),
    }),
    sendTransaction: ([transaction]) => world.sendRaw(new Uint8Array(Buffer.from(transaction as string, "base64"))),
    getSignaturesForAddress: ([address]) =>
      (world.landed ?? [])
        .filter(({ transaction }) => accountKeysOf(transaction).includes(address as string))
        .map(({ transaction }) => ({ signature: encodeSignature(transaction.slice(1, 65)), err: null }))
        .toReversed(),
    getTransaction: ([signature]) => {
      const found = world.landed?.find(({ transaction }) => encodeSignature(transaction.slice(1, 65)) === signature);
      if (found === undefined) return null;
      const instructions = found.inner.map((each) => ({
        programIdIndex: each.programIdIndex(),
        accounts: [...each.accounts()],
        data: encodeBase58(each.data()),
      }));
      const message = { accountKeys: accountKeysOf(found.transaction), instructions: [] };
      return { transaction: { message }, meta: { err: null, innerInstructions: [{ index: 0, instructions }] } };
    },
    getSignatureStatuses: () => ({ value: [{ err: null, confirmationStatus: "confirmed" }] }),
  };
}

function clockData(world: World): Buffer {
  const data = Buffer.alloc(40);
  data.writeBigInt64LE(world.svm.getClock().unixTimestamp, 32);
  return data;
}
