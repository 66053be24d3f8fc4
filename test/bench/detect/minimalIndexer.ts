import { sql } from "kysely";
import { Pool, WebSocket } from "undici";
import type { Db } from "../../../src/db/database.ts";

// The minimal indexer between a block and a row: it receives a head, reads the token's transfers by the block's hash,
// keeps those into known addresses, and writes them with the cursor in one statement. It trusts its provider and
// ignores reorgs.

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

export type MinimalIndexer = {
  inboxes: Set<string>;
  stop: () => Promise<void>;
};

export type MinimalIndexerOptions = {
  db: Db;
  rpcUrl: string;
  token: string;
  /** Called after each commit that writes rows. */
  onRecorded: () => void;
};

type Log = { topics: string[]; data: string; transactionHash: string; logIndex: string; blockNumber: string };

export async function startMinimalIndexer({
  db,
  rpcUrl,
  token,
  onRecorded,
}: MinimalIndexerOptions): Promise<MinimalIndexer> {
  await sql`create table bare_cursor (number bigint not null, hash text not null)`.execute(db.root);
  await sql`insert into bare_cursor values (0, '')`.execute(db.root);
  await sql`create table bare_movement (chain_tx text, log_index int, inbox text, units numeric(78,0), primary key (chain_tx, log_index))`.execute(
    db.root,
  );
  const inboxes = new Set<string>();
  const pool = new Pool(rpcUrl, { connections: 4 });
  const socket = new WebSocket(rpcUrl.replace(/^http/, "ws"));
  const write = async (head: { number: string; hash: string }, hits: readonly Log[]) => {
    const column = (read: (log: Log) => unknown) => JSON.stringify(hits.map(read));
    await sql`
      with moved as (update bare_cursor set number = ${BigInt(head.number)}, hash = ${head.hash} returning 1)
      insert into bare_movement select chain_tx, log_index::int, inbox, units::numeric
      from moved, rows from (
        jsonb_array_elements_text(${column((log) => log.transactionHash)}::jsonb),
        jsonb_array_elements_text(${column((log) => String(Number(log.logIndex)))}::jsonb),
        jsonb_array_elements_text(${column((log) => inboxOf(log))}::jsonb),
        jsonb_array_elements_text(${column((log) => String(BigInt(log.data)))}::jsonb)
      ) as hit (chain_tx, log_index, inbox, units)`.execute(db.root);
    if (hits.length > 0) onRecorded();
  };
  const processHead = async (head: { number: string; hash: string }) => {
    const params = [{ blockHash: head.hash, address: [token], topics: [TRANSFER] }];
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getLogs", params });
    const headers = { "content-type": "application/json" };
    const response = await pool.request({ method: "POST", path: "/", headers, body });
    const { result } = (await response.body.json()) as { result: Log[] };
    await write(
      head,
      result.filter((log) => inboxes.has(inboxOf(log))),
    );
  };
  socket.addEventListener("message", ({ data }) => {
    const { params } = JSON.parse(String(data)) as { params?: { result: { number: string; hash: string } } };
    if (params !== undefined) void processHead(params.result);
  });
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
  socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] }));
  const stop = async () => {
    socket.close();
    await pool.destroy();
  };
  return { inboxes, stop };
}

function inboxOf({ topics }: Log): string {
  return `0x${(topics[2] ?? "").slice(26)}`;
}
