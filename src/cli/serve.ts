import type { Config, Environment } from "../config.ts";
import type { World } from "../world.ts";
import { CommandFailed, type Command, type CommandInput } from "./command.ts";
import type { Door } from "./door/open.ts";
import { openHome } from "./home.ts";
import { configFileOf } from "./operator.ts";
import { drain, endFatally, endOnUncaught, untilEnd } from "./run.ts";
import { toJson } from "./terminal.ts";

export const serve: Command = {
  name: "serve",
  summary: "Run the service as the configuration file says, until it is told to end",
  positionals: [],
  options: {
    config: { value: "FILE", summary: "the configuration file; TRIBUTARY_CONFIG when left out" },
    check: { summary: "compare the configuration with database and chains, change nothing, and end" },
  },
  examples: [
    "TRIBUTARY_DATABASE_URL=postgres://… tributary serve --config config/testnets.json",
    "tributary serve --config config/testnets.json --check",
  ],
  run: runServe,
};

async function runServe({ text, switches, asJson, terminal, environment }: CommandInput): Promise<number> {
  // Loaded one after the other, so that a mistake in the file is told before the service is even read.
  const { loadConfig } = await import("./config/file.ts");
  const config = loadConfig(configFileOf({ text, environment }), environment);
  const { openJsonLog } = await import("./logs.ts");
  const log = openJsonLog(config.logLevel);
  endOnUncaught(log);
  const ended = untilEnd();
  const { openChains, openWorld, verifyChains } = await import("../main.ts");
  const chains = openChains(config, log);
  await verifyChains(config, chains, log);
  const changesNothing = switches.has("check");
  const world = await openWorld(config, { log, chains, onFatal: endFatally(log), changesNothing });
  if (changesNothing) {
    const { pendingMigrations } = await import("../db/migrate.ts");
    const pending = await pendingMigrations(world.db);
    await world.db.close();
    return tellCheck(world, { asJson, terminal, pending });
  }
  const stop = await start(world, environment);
  log.info({ baseUrl: config.baseUrl, ...config.listen }, "ready");
  if (asJson) terminal.out(toJson({ baseUrl: config.baseUrl, docsUrl: `${config.baseUrl}/docs` }));
  await ended;
  log.info("draining");
  if (await drain(stop)) return 0;
  throw new CommandFailed("Something did not drain in time and was cut off; the next start takes it up.");
}

/** What the check has found. It has failed when a websocket serves another chain; one that does not answer is no mistake, as with a provider. */
async function tellCheck(
  { config, chains }: World,
  { asJson, terminal, pending }: Pick<CommandInput, "asJson" | "terminal"> & { pending: readonly string[] },
) {
  const { agreementInWords } = await import("./operations/agreement.ts");
  const { examineFeeds } = await import("./operations/feeds.ts");
  const websockets = await Promise.all(
    config.chains.map(async (chainConfig) => {
      const chain = chains.get(chainConfig.caip2);
      return chain === undefined ? [] : examineFeeds(chainConfig, chain);
    }),
  );
  const isRight = websockets.flat().every(({ verdict }) => verdict !== "wrong");
  if (asJson) {
    const agreements = config.chains.map((chain) => ({ chain: chain.caip2, agreement: agreementInWords(chain) }));
    terminal.out(toJson({ isRight, pendingMigrations: pending, agreements, websockets: websockets.flat() }));
    return isRight ? 0 : 1;
  }
  if (isRight) terminal.out("The configuration agrees with the database and the chains that answer.");
  if (pending.length > 0) terminal.out(`The next start brings the schema up to date: ${pending.join(", ")}.`);
  for (const chain of config.chains) terminal.out(`${chain.name}: ${agreementInWords(chain)}.`);
  for (const { what, found } of websockets.flat()) terminal.out(`${what}: ${found.replace(/\.$/, "")}.`);
  return isRight ? 0 : 1;
}

/** Opens the doors of a world, and returns what closes them and the world itself. */
async function start(world: World, environment: Environment): Promise<() => Promise<void>> {
  const { startService } = await import("../main.ts");
  try {
    const service = await startService(world, { onFatal: endFatally(world.log) });
    const door = await openDoor(world, environment);
    return async () => {
      await door?.close();
      await service.stop();
    };
  } catch (error) {
    await world.db.close();
    throw listenFailure(error, world.config.listen) ?? error;
  }
}

/** Without it the commands beside it would find no way in, but payments go on: no reason to stop. */
async function openDoor(world: World, environment: Environment): Promise<Door | undefined> {
  try {
    const { openOperatorDoor } = await import("./door/operatorDoor.ts");
    return await openOperatorDoor(world, { home: openHome(environment), kind: "serve", ready: null });
  } catch (error) {
    world.log.warn({ err: error }, "the operator's door did not open: commands need --config");
    return undefined;
  }
}

function listenFailure(error: unknown, { host, port }: Config["listen"]): CommandFailed | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE")
    return new CommandFailed(
      `Port ${port} of ${host} is taken: end who listens there, or choose another port in listen.port or PORT.`,
    );
  if (code === "EACCES" || code === "EADDRNOTAVAIL")
    return new CommandFailed(
      `${host}:${port} cannot be listened on (${code}): choose another listen.host or listen.port.`,
    );
  return undefined;
}
