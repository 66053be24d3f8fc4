import type { Config, ProcessEnvironment } from "../../config/config.ts";
import type { World } from "../../world.ts";
import type { Command, CommandInput } from "../command.ts";
import { CommandError } from "../../operator/errors.ts";
import type { ControlServer } from "../../operator/control/controlServer.ts";
import { openHome } from "../../operator/control/home.ts";
import { resolveConfigFile } from "../operatorClient.ts";
import { drain, exitOnFatal, exitOnUncaught, waitForShutdown } from "../../operator/process/shutdown.ts";
import { toJson } from "../../operator/process/terminal.ts";

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

async function runServe({ values, flags, asJson, terminal, environment }: CommandInput): Promise<number> {
  // Loaded one after the other, so that a mistake in the file is told before the service is even read.
  const { loadConfig } = await import("../../config/loadConfig.ts");
  const config = loadConfig(resolveConfigFile({ values, environment }), environment);
  const { openJsonLog } = await import("../../operator/process/logs.ts");
  const log = openJsonLog(config.logLevel);
  exitOnUncaught(log);
  const shutdownSignal = waitForShutdown();
  const { openChains, openWorld, verifyChains } = await import("../../main.ts");
  const chains = openChains(config, log);
  await verifyChains(config, chains, log);
  const isReadOnly = flags.has("check");
  const world = await openWorld(config, { log, chains, onFatal: exitOnFatal(log), readOnly: isReadOnly });
  if (isReadOnly) {
    const { pendingMigrations } = await import("../../db/migrate.ts");
    const pending = await pendingMigrations(world.db);
    await world.db.close();
    return reportCheck(world, { asJson, terminal, pending });
  }
  const stop = await startServing(world, environment);
  log.info({ baseUrl: config.baseUrl, ...config.listen }, "ready");
  if (asJson) terminal.out(toJson({ baseUrl: config.baseUrl, docsUrl: `${config.baseUrl}/docs` }));
  await shutdownSignal;
  log.info("draining");
  if (await drain(stop)) return 0;
  throw new CommandError("Something did not drain in time and was cut off; the next start takes it up.");
}

/** What the check has found. It has failed when a websocket serves another chain; one that does not answer is no mistake, as with a provider. */
async function reportCheck(
  { config, chains }: World,
  { asJson, terminal, pending }: Pick<CommandInput, "asJson" | "terminal"> & { pending: readonly string[] },
) {
  const { describeAgreement } = await import("../../operator/doctor/checkAgreement.ts");
  const { checkFeeds } = await import("../../operator/doctor/checkFeeds.ts");
  const websockets = await Promise.all(
    config.chains.map(async (chainConfig) => {
      const chain = chains.get(chainConfig.caip2);
      return chain === undefined ? [] : checkFeeds(chainConfig, chain);
    }),
  );
  const isRight = websockets.flat().every(({ verdict }) => verdict !== "fail");
  if (asJson) {
    const agreements = config.chains.map((chain) => ({ chain: chain.caip2, agreement: describeAgreement(chain) }));
    terminal.out(toJson({ isRight, pendingMigrations: pending, agreements, websockets: websockets.flat() }));
    return isRight ? 0 : 1;
  }
  if (isRight) terminal.out("The configuration agrees with the database and the chains that answer.");
  if (pending.length > 0) terminal.out(`The next start brings the schema up to date: ${pending.join(", ")}.`);
  for (const chain of config.chains) terminal.out(`${chain.name}: ${describeAgreement(chain)}.`);
  for (const { what, found } of websockets.flat()) terminal.out(`${what}: ${found.replace(/\.$/, "")}.`);
  return isRight ? 0 : 1;
}

/** Opens the doors of a world, and returns what closes them and the world itself. */
async function startServing(world: World, environment: ProcessEnvironment): Promise<() => Promise<void>> {
  const { startService } = await import("../../main.ts");
  try {
    const service = await startService(world, { onFatal: exitOnFatal(world.log) });
    const door = await tryStartControl(world, environment);
    return async () => {
      await door?.close();
      await service.stop();
    };
  } catch (error) {
    await world.db.close();
    throw describeListenError(error, world.config.listen) ?? error;
  }
}

/** Without it the commands beside it would find no way in, but payments go on: no reason to stop. */
async function tryStartControl(world: World, environment: ProcessEnvironment): Promise<ControlServer | undefined> {
  try {
    const { startOperatorControl } = await import("../../operator/control/startOperatorControl.ts");
    return await startOperatorControl(world, { home: openHome(environment), kind: "serve", ready: null });
  } catch (error) {
    world.log.warn({ err: error }, "the operator's door did not open: commands need --config");
    return undefined;
  }
}

function describeListenError(error: unknown, { host, port }: Config["listen"]): CommandError | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE")
    return new CommandError(
      `Port ${port} of ${host} is taken: end who listens there, or choose another port in listen.port or PORT.`,
    );
  if (code === "EACCES" || code === "EADDRNOTAVAIL")
    return new CommandError(
      `${host}:${port} cannot be listened on (${code}): choose another listen.host or listen.port.`,
    );
  return undefined;
}
