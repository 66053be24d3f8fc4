import type { Config, ProcessEnvironment } from "../../config/config.ts";
import { ChainMismatch } from "../../chain/providers.ts";
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
  summary: "run the service",
  help: "Run the service with a configuration file until SIGTERM",
  positionals: [],
  options: {
    config: { value: "FILE", summary: "configuration file; default TRIBUTARY_CONFIG" },
    role: {
      value: "ROLES",
      summary: "what this process does: some of api, watch, settle, deliver, separated by commas; default all",
    },
    check: { summary: "only compare the configuration with the database and the chains; change nothing" },
  },
  examples: [
    "TRIBUTARY_DATABASE_URL=postgres://… tributary serve --config config/testnets.json",
    "tributary serve --config config/testnets.json --role api,deliver",
    "tributary serve --config config/testnets.json --check",
  ],
  run: runServe,
};

async function runServe({ values, flags, asJson, terminal, environment }: CommandInput): Promise<number> {
  // The configuration loads first, so that its errors show at once.
  const { loadConfig } = await import("../../config/loadConfig.ts");
  const { parseRoles } = await import("../../config/operate/roles.ts");
  const roles = values["role"] === undefined ? undefined : parseRoles(values["role"]);
  const file = resolveConfigFile({ values, environment });
  const config = loadConfig(file, environment, { roles });
  const { openJsonLog } = await import("../../operator/process/logs.ts");
  const log = openJsonLog(config.logLevel);
  exitOnUncaught(log);
  const shutdownSignal = waitForShutdown({ hangUp: "ignore" });
  const { closeWorld, openChains, openWorld, verifyChains } = await import("../../main.ts");
  const chains = openChains(config, log);
  await verifyChains(config, chains, log).catch((error: unknown) => {
    throw withConfigFile(error, file);
  });
  const isCheck = flags.has("check");
  const schema = isCheck ? "keep" : "migrate";
  const world = await openWorld(config, { log, chains, onFatal: exitOnFatal(log), schema });
  if (isCheck) {
    const { listMigrationsToApply } = await import("../../db/migrate.ts");
    try {
      const pending = await listMigrationsToApply(world.db);
      return await reportCheck(world, { asJson, terminal, pending });
    } finally {
      await closeWorld(world);
    }
  }
  const stop = await startServing(world, environment);
  log.info({ baseUrl: config.baseUrl, ...config.listen }, "ready");
  if (asJson) terminal.out(toJson({ baseUrl: config.baseUrl, docsUrl: `${config.baseUrl}/docs` }));
  await shutdownSignal;
  log.info("draining");
  if (await drain(stop)) return 0;
  throw new CommandError("The service did not drain in time and was killed; the next start resumes its work.");
}

/** Completes the commands that a chain's sentence names, so that they can be pasted. */
function withConfigFile(error: unknown, file: string): unknown {
  if (!(error instanceof ChainMismatch)) return error;
  return new ChainMismatch(error.message.replaceAll(/"tributary hub \w+/g, `$& --config ${file}`));
}

/**
 * Prints the result of --check. Only a WebSocket of another chain fails it; an unreachable provider or WebSocket may be
 * temporary.
 */
async function reportCheck(
  world: World,
  { asJson, terminal, pending }: Pick<CommandInput, "asJson" | "terminal"> & { pending: readonly string[] },
) {
  const { describeAgreement } = await import("../../operator/doctor/checkAgreement.ts");
  const { checkFeeds } = await import("../../operator/doctor/checkFeeds.ts");
  const { blockTimeFindings } = await import("../../operator/doctor/blockTimeFindings.ts");
  const { sampleChain } = await import("../../health/sampleChain.ts");
  const { config, chains } = world;
  const websockets = await Promise.all(
    config.chains.map(async (chainConfig) => {
      const chain = chains.get(chainConfig.caip2);
      return chain === undefined ? [] : checkFeeds(chainConfig, chain);
    }),
  );
  const blockTimes = await Promise.all(
    config.chains.map(async (chainConfig) => {
      const chain = chains.get(chainConfig.caip2);
      if (chain === undefined) return [];
      const sampled = { chain, config: chainConfig, cursor: undefined };
      return blockTimeFindings(await sampleChain(world, sampled, { withoutGas: true }));
    }),
  );
  const findings = [...websockets, ...blockTimes].flat();
  const ok = websockets.flat().every(({ verdict }) => verdict !== "fail");
  if (asJson) {
    const agreements = config.chains.map((chain) => ({ chain: chain.caip2, agreement: describeAgreement(chain) }));
    terminal.out(
      toJson({
        ok,
        pendingMigrations: pending,
        agreements,
        websockets: websockets.flat(),
        blockTimes: blockTimes.flat(),
      }),
    );
    return ok ? 0 : 1;
  }
  if (ok) terminal.out("The configuration matches the database and every chain that answers.");
  if (pending.length > 0) terminal.out(`The next start applies the migrations ${pending.join(", ")}.`);
  for (const chain of config.chains) terminal.out(`${chain.name}: ${describeAgreement(chain)}.`);
  for (const { what, found } of findings) terminal.out(`${what}: ${found.replace(/\.$/, "")}.`);
  return ok ? 0 : 1;
}

/** Starts the service and its control socket. Returns the function that stops both. */
async function startServing(world: World, environment: ProcessEnvironment): Promise<() => Promise<void>> {
  const { closeWorld, startService } = await import("../../main.ts");
  try {
    const service = await startService(world, {
      onFatal: exitOnFatal(world.log),
      leaveMs: world.config.leaveMs,
    });
    const control = await tryStartControl(world, environment);
    return async () => {
      await control?.close();
      await service.stop();
    };
  } catch (error) {
    await closeWorld(world);
    throw describeListenError(error, world.config.listen) ?? error;
  }
}

/** Starts the control socket. A failure only disables commands without --config, so the service continues. */
async function tryStartControl(world: World, environment: ProcessEnvironment): Promise<ControlServer | undefined> {
  try {
    const { startOperatorControl } = await import("../../operator/control/startOperatorControl.ts");
    return await startOperatorControl(world, { home: openHome(environment), kind: "serve", ready: null });
  } catch (error) {
    world.log.warn({ err: error }, "control socket not started; commands need --config");
    return undefined;
  }
}

function describeListenError(error: unknown, { host, port }: Config["listen"]): CommandError | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE")
    return new CommandError(
      `Port ${port} of ${host} is in use: stop the other process, or set another port in listen.port or PORT.`,
    );
  if (code === "EACCES" || code === "EADDRNOTAVAIL")
    return new CommandError(
      `The service cannot listen on ${host}:${port} (${code}): set another listen.host or listen.port.`,
    );
  return undefined;
}
