import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TOKEN } from "../backfillNode.ts";
import { BLOCKS, FIRST_BLOCK, LAST_BLOCK } from "./chain.ts";
import { exists, install, runIndexer } from "./indexerProcess.ts";
import type { Indexer, IndexerRun, IndexerContext } from "./indexer.ts";

const VERSION = "0.17.7";
const VIEM_VERSION = "2.57.0";
/** Ponder requires a version that the registry lacks; the newest one works. */
const UTILS_VERSION = "0.2.18";
const TIMEOUT_MS = 600_000;
/** Ponder's rate limit of calls, and its replacement in the uncapped copy. */
const CAP = /const (INITIAL_MAX_RPS|MAX_RPS) = [\d_]+;/g;
const NO_CAP = "const $1 = 1_000_000_000;";

/** Ponder as shipped and uncapped on PostgreSQL, and uncapped on PGlite. */
export async function preparePonder(context: IndexerContext): Promise<Indexer[]> {
  const shipped = await installed();
  const uncapped = await removeCap(shipped);
  const indexer = (name: string, run: Pick<PonderRun, "folder" | "kind">): Indexer => ({
    name: `Ponder ${VERSION}, ${name}`,
    run: (count) => measure({ ...run, count, context }),
  });
  return [
    indexer("as shipped", { folder: shipped, kind: "postgres" }),
    indexer("its request cap taken out", { folder: uncapped, kind: "postgres" }),
    indexer("its request cap taken out, on PGlite", { folder: uncapped, kind: "pglite" }),
  ];
}

type PonderRun = { folder: string; kind: "postgres" | "pglite"; count: number; context: IndexerContext };

async function measure({ folder, kind, count, context }: PonderRun): Promise<IndexerRun> {
  const port = await freePort();
  const name = `ponder_${kind}_${folder.endsWith("uncapped") ? "uncapped" : "shipped"}_${count}`;
  const directory = join(folder, ".pglite");
  const databaseEnvironment: Record<string, string> =
    kind === "postgres" ? { DATABASE_URL: await context.newDatabase(name) } : { PGLITE_DIRECTORY: directory };
  // Removes cached blocks, which Ponder would not fetch again.
  await rm(directory, { recursive: true, force: true });
  let calls: number | undefined;
  const measured = await runIndexer({
    command: [
      "node",
      "node_modules/ponder/dist/esm/bin/ponder.js",
      "start",
      "--port",
      String(port),
      "--schema",
      name,
      "--log-format",
      "json",
    ],
    folder,
    environment: {
      ...databaseEnvironment,
      RPC_URL: context.rpcUrl,
      WATCHED_FILE: context.watchedFile,
      PONDER_TELEMETRY_DISABLED: "true",
    },
    startLine: "Started fetching backfill JSON-RPC data",
    endLine: "Completed backfill indexing across all chains",
    timeoutMs: TIMEOUT_MS,
    beforeEnd: async () => {
      calls = await readCallCount(port);
      const hits = await (await fetch(`http://127.0.0.1:${port}/hits`)).text();
      if (Number(hits) !== BLOCKS) throw new Error(`it stored ${hits} hits, not ${BLOCKS}`);
    },
  });
  return { ...measured, calls };
}

async function readCallCount(port: number): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const counts = [...metrics.matchAll(/^ponder_rpc_request_duration_count\{.*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

async function installed(): Promise<string> {
  const folder = join(tmpdir(), `tributary-bench-ponder-${VERSION}`);
  await mkdir(join(folder, "src", "api"), { recursive: true });
  const project = { private: true, type: "module", overrides: { "@ponder/utils": UTILS_VERSION } };
  if (!(await exists(join(folder, "node_modules", "ponder")))) {
    await writeFile(join(folder, "package.json"), JSON.stringify(project));
    await install(folder, ["--ignore-scripts"], [`ponder@${VERSION}`, `viem@${VIEM_VERSION}`, "hono@4"]);
  }
  for (const [path, text] of Object.entries(FILES)) await writeFile(join(folder, path), text);
  return folder;
}

async function removeCap(shipped: string): Promise<string> {
  const folder = `${shipped}-uncapped`;
  await rm(folder, { recursive: true, force: true });
  await cp(shipped, folder, { recursive: true, verbatimSymlinks: true });
  const file = join(folder, "node_modules", "ponder", "dist", "esm", "rpc", "index.js");
  const text = await readFile(file, "utf8");
  const changed = text.replaceAll(CAP, NO_CAP);
  if (changed === text) throw new Error("its request cap was not found");
  await writeFile(file, changed);
  return folder;
}

const FILES: Readonly<Record<string, string>> = {
  "ponder.config.ts": `import { createConfig } from "ponder";
const abi = [{ type: "event", name: "Transfer", inputs: [
  { name: "from", type: "address", indexed: true },
  { name: "to", type: "address", indexed: true },
  { name: "value", type: "uint256", indexed: false },
] }] as const;
export default createConfig({
  database: process.env.DATABASE_URL
    ? { kind: "postgres", connectionString: process.env.DATABASE_URL }
    : { kind: "pglite", directory: process.env.PGLITE_DIRECTORY },
  chains: { local: { id: 31337, rpc: process.env.RPC_URL } },
  contracts: { Token: { chain: "local", abi, address: "${TOKEN}", startBlock: ${FIRST_BLOCK}, endBlock: ${LAST_BLOCK} } },
});
`,
  "ponder.schema.ts": `import { onchainTable } from "ponder";
export const hit = onchainTable("hit", (t) => ({
  id: t.text().primaryKey(), inbox: t.hex().notNull(), value: t.bigint().notNull(), block: t.bigint().notNull(),
}));
`,
  "src/index.ts": `import { readFileSync } from "node:fs";
import { ponder } from "ponder:registry";
import { hit } from "ponder:schema";
const watched = new Set(readFileSync(process.env.WATCHED_FILE, "utf8").split("\\n"));
ponder.on("Token:Transfer", async ({ event, context }) => {
  const inbox = event.args.to.toLowerCase();
  if (!watched.has(inbox)) return;
  await context.db.insert(hit).values({ id: event.id, inbox, value: event.args.value, block: event.block.number });
});
`,
  "src/api/index.ts": `import { Hono } from "hono";
import { count } from "ponder";
import { db } from "ponder:api";
import schema from "ponder:schema";
const app = new Hono();
app.get("/hits", async (c) => c.text(String((await db.select({ hits: count() }).from(schema.hit))[0].hits)));
export default app;
`,
};

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
