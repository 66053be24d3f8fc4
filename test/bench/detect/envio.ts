import { chmod, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { TOKEN } from "../backfillNode.ts";
import { BLOCKS, FIRST_BLOCK, LAST_BLOCK } from "./chain.ts";
import { exists, install, run, runIndexer } from "./indexerProcess.ts";
import type { Indexer, IndexerRun, IndexerContext } from "./indexer.ts";

const VERSION = "2.32.12";
const TIMEOUT_MS = 600_000;
const POSTGRES_PORT = 5_432;
/** Blocks per request. By default Envio requests all blocks at once and times out after 20 seconds. */
const RANGE_BLOCKS = 100;

/** Envio over RPC on PostgreSQL, without the web console and the GraphQL server in Docker. */
export async function prepareEnvio(context: IndexerContext): Promise<Indexer[]> {
  const folder = join(tmpdir(), `tributary-bench-envio-${VERSION}`);
  await mkdir(join(folder, "src"), { recursive: true });
  await writeProject(folder, context.rpcUrl);
  if (!(await exists(join(folder, "node_modules", "envio")))) {
    // The compiler of the generated code needs its install script.
    await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, allowScripts: { rescript: true } }));
    await install(folder, [], [`envio@${VERSION}`]);
  }
  await generate(folder);
  return [{ name: `Envio ${VERSION} over RPC`, run: (count) => measure(folder, context, count) }];
}

/** Envio's generator calls pnpm; npm installs the packages instead. */
async function generate(folder: string): Promise<void> {
  const [shims, generated] = [join(folder, "shims"), join(folder, "generated")];
  await mkdir(shims, { recursive: true });
  await writeFile(join(shims, "pnpm"), "#!/bin/sh\nexit 0\n");
  await chmod(join(shims, "pnpm"), 0o755);
  await run("node", ["node_modules/envio/bin.js", "codegen"], { folder, programs: shims });
  const needed = JSON.parse(await readFile(join(generated, "package.json"), "utf8")) as RequiredPackages;
  const packages = Object.entries(needed.dependencies).map(([name, version]) => `${name}@${version}`);
  if (!(await exists(join(folder, "node_modules", "rescript-envsafe"))))
    await install(folder, ["--legacy-peer-deps"], packages);
  await run(join(folder, "node_modules", ".bin", "rescript"), [], { folder: generated });
  const link = join(folder, "node_modules", "generated");
  await rm(link, { force: true });
  await symlink("../generated", link);
}

type RequiredPackages = { dependencies: Record<string, string> };

async function measure(folder: string, context: IndexerContext, count: number): Promise<IndexerRun> {
  const url = await context.newDatabase(`envio_${count}`);
  const generated = join(folder, "generated");
  const environment = {
    ENVIO_PG_HOST: decodeURIComponent(/host=([^&]+)/.exec(url)?.[1] ?? ""),
    ENVIO_PG_PORT: String(POSTGRES_PORT),
    ENVIO_PG_USER: "tributary",
    ENVIO_PG_DATABASE: `envio_${count}`,
    ENVIO_HASURA: "false",
    TUI_OFF: "true",
    LOG_STRATEGY: "console-raw",
    WATCHED_FILE: context.watchedFile,
  };
  const setUp = "require('./src/db/Migrations.res.js').runUpMigrations(true, true)";
  await run("node", ["-e", setUp], { folder: generated, environment });
  const measured = await runIndexer({
    command: ["node", "src/Index.res.js"],
    folder: generated,
    environment,
    startLine: "Successfully resumed indexing state!",
    endLine: "All chains are caught up to end blocks.",
    timeoutMs: TIMEOUT_MS,
  });
  await assertHasHits(url);
  return { ...measured, calls: undefined };
}

async function assertHasHits(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ hits: number }>('select count(*)::int as hits from "Hit"');
  await client.end();
  if (rows[0]?.hits !== BLOCKS) throw new Error(`it stored ${rows[0]?.hits} hits, not ${BLOCKS}`);
}

async function writeProject(folder: string, rpcUrl: string): Promise<void> {
  const config = `name: transfers
networks:
  - id: 31337
    start_block: ${FIRST_BLOCK}
    end_block: ${LAST_BLOCK}
    rpc:
      url: ${rpcUrl}
      for: sync
      initial_block_interval: ${RANGE_BLOCKS}
      interval_ceiling: ${RANGE_BLOCKS}
      acceleration_additive: 0
    contracts:
      - name: Token
        address: "${TOKEN}"
        handler: src/handler.js
        events:
          - event: Transfer(address indexed from, address indexed to, uint256 value)
`;
  const handler = `const { readFileSync } = require("node:fs");
const { Token } = require("generated");
const watched = new Set(readFileSync(process.env.WATCHED_FILE, "utf8").split("\\n"));
Token.Transfer.handler(async ({ event, context }) => {
  const inbox = event.params.to.toLowerCase();
  if (!watched.has(inbox)) return;
  context.Hit.set({ id: event.block.number + "-" + event.logIndex, inbox, value: event.params.value });
});
`;
  await writeFile(join(folder, "config.yaml"), config);
  await writeFile(join(folder, "schema.graphql"), "type Hit {\n  id: ID!\n  inbox: String!\n  value: BigInt!\n}\n");
  await writeFile(join(folder, "src", "handler.js"), handler);
}
