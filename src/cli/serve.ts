import { openChains, openWorld, startService, verifyChains } from "../main.ts";
import type { Command, CommandInput } from "./command.ts";
import { CommandFailed } from "./command.ts";
import { loadConfig } from "./config/file.ts";

import { openHome } from "./home.ts";
import { openJsonLog } from "./logs.ts";
import { openOperatorDoor } from "./door/operatorDoor.ts";
import { configFileOf } from "./operator.ts";
import { drain, endFatally, endOnUncaught, untilEnd } from "./run.ts";
import { toJson } from "./terminal.ts";

export const serve: Command = {
  name: "serve",
  summary: "Run the service as the configuration file says, until it is told to end",
  positionals: [],
  options: {
    config: { value: "FILE", summary: "the configuration file; TRIBUTARY_CONFIG when left out" },
    check: { summary: "compare the configuration with database and chains, and end" },
  },
  examples: [
    "TRIBUTARY_DATABASE_URL=postgres://… tributary serve --config config/testnets.json",
    "tributary serve --config config/testnets.json --check",
  ],
  run: runServe,
};

async function runServe({ text, switches, asJson, terminal, environment }: CommandInput): Promise<number> {
  const config = loadConfig(configFileOf({ text, environment }), environment);
  const log = openJsonLog(config.logLevel);
  endOnUncaught(log);
  const ended = untilEnd();
  const chains = openChains(config, log);
  await verifyChains(config, chains, log);
  const world = await openWorld(config, { log, chains, onFatal: endFatally(log) });
  if (switches.has("check")) {
    await world.db.close();
    terminal.out(
      asJson ? toJson({ isRight: true }) : "The configuration agrees with the database and the chains that answer.",
    );
    return 0;
  }
  const service = await startService(world, { onFatal: endFatally(log) });
  // Commands beside it would find no way in, but payments go on: no reason to stop.
  const door = await openDoorIfPossible();
  log.info({ baseUrl: config.baseUrl, ...config.listen }, "ready");
  if (asJson) terminal.out(toJson({ baseUrl: config.baseUrl, docsUrl: `${config.baseUrl}/docs/errors` }));
  await ended;
  log.info("draining");
  const drained = await drain(async () => {
    await door?.close();
    await service.stop();
  });
  if (!drained) throw new CommandFailed("Something did not drain in time and was cut off; the next start takes it up.");
  return 0;

  async function openDoorIfPossible() {
    try {
      return await openOperatorDoor(world, { home: openHome(environment), kind: "serve", ready: null });
    } catch (error) {
      log.warn({ err: error }, "the operator's door did not open: commands need --config");
      return undefined;
    }
  }
}
