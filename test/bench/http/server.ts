import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { enableWasmKeccak } from "@tributary/inbox/wasmKeccak";
import pg from "pg";
import { buildCatalog } from "../../../src/catalog/catalog.ts";
import { openDatabase } from "../../../src/db/database.ts";
import { buildServer } from "../../../src/http/server.ts";
import { createWake } from "../../../src/kernel/wake.ts";
import { stationWorld } from "../../support/stationWorld.ts";
import { freshValues, type Statement } from "./statements.ts";

// One of the two compared servers in its own process. It sends its port and serves until the parent disconnects.

export type Served =
  | { kind: "ours"; databaseUrl: string }
  | {
      kind: "bare";
      databaseUrl: string;
      create: Statement;
      places: number[];
      get: Statement;
      list: Statement;
      /** The account of each intent and of each key, which the service reads from the key. */
      owners: [intentIdOrAuthorization: string, accountId: string][];
    };

const CONNECTIONS = 10;

process.once("message", (served: Served) => {
  void (served.kind === "ours" ? startOwnServer(served.databaseUrl) : startMinimalServer(served)).then((port) =>
    process.send?.(port),
  );
});
process.once("disconnect", () => process.exit());

async function startOwnServer(databaseUrl: string): Promise<number> {
  // The service also does this at startup.
  await enableWasmKeccak();
  const db = await openDatabase({ url: databaseUrl, allowUnsafeFsync: true });
  const station = stationWorld(db);
  const world = {
    ...station,
    catalog: buildCatalog(station.config),
    wake: createWake(station.clock),
    chains: new Map(),
  };
  const server = await buildServer(world);
  await server.listen({ host: "127.0.0.1", port: 0 });
  return (server.server.address() as AddressInfo).port;
}

/** The minimum between a socket and the statement: no checks, keys, limits or record, and raw columns. */
async function startMinimalServer(served: Extract<Served, { kind: "bare" }>): Promise<number> {
  const { databaseUrl, create, places, get, list, owners } = served;
  const types = { getTypeParser: () => parseRawResult };
  const pool = new pg.Pool({ connectionString: databaseUrl, max: CONNECTIONS, types });
  const ownerOf = new Map(owners);
  const answer = async (request: IncomingMessage): Promise<[status: number, body: unknown]> => {
    if (request.method === "POST") {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      JSON.parse(body || "{}");
      const { rows } = await pool.query({
        name: "create",
        text: create.text,
        values: freshValues(create.values, places),
      });
      return [201, rows[0]];
    }
    const id = request.url?.split("/")[4] ?? "";
    if (id === "") {
      const values = [ownerOf.get(request.headers.authorization ?? ""), ...list.values.slice(1)];
      const { rows } = await pool.query({ name: "list", text: list.text, values });
      return [200, rows];
    }
    const { rows } = await pool.query({ name: "get", text: get.text, values: [id, ownerOf.get(id)] });
    return [rows.length === 1 ? 200 : 404, rows[0]];
  };
  const server = createServer((request, response) => {
    void answer(request).then(([status, body]) => {
      const text = JSON.stringify(body ?? null);
      response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
      response.end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

function parseRawResult(text: string): string {
  return text;
}
