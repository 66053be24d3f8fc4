import { systemTimer } from "../../kernel/clock.ts";
import type { Command, CommandInput } from "../command.ts";
import { CONFIG_OPTION, openOperatorClient } from "../operatorClient.ts";
import { operatorCommand, readFields } from "../operatorCommand.ts";
import type { EventOutput } from "../../operator/eventOperations.ts";
import { waitForShutdown } from "../../operator/process/shutdown.ts";
import { toJson, type Terminal } from "../../operator/process/terminal.ts";

const INTERVAL_MS = 500;

const FILTERS = {
  account: { value: "ID", summary: "only events of this account" },
  intent: { value: "ID", summary: "only events of this intent" },
  limit: { value: "COUNT", summary: "number of latest events to show; default 20" },
  ...CONFIG_OPTION,
};

export const eventsList = operatorCommand({
  operation: "events list",
  summary: "list the latest events",
  help: "List the latest events, oldest first",
  options: {
    ...FILTERS,
    cursor: { value: "CURSOR", summary: "show the events before this one: the cursor that a page ends with" },
  },
  examples: ["tributary events list --intent pi_3x7…", "tributary events list --limit 100 --cursor evt_7k2…"],
  json: ({ events }) => events,
  print: ({ events }, { terminal }) => events.map((event) => formatEvent(event, terminal)),
  note: ({ nextCursor }) => (nextCursor === null ? [] : [`Earlier events: --cursor ${nextCursor}`]),
});

export const eventsTail: Command = {
  name: "events tail",
  summary: "follow new events",
  help: "Show the latest events, then each new event until interrupted",
  positionals: [],
  options: FILTERS,
  examples: ["tributary events tail", "tributary events tail --json | jq .type"],
  run: runTail,
};

async function runTail(input: CommandInput): Promise<number> {
  const operator = await openOperatorClient(input);
  const ending = new AbortController();
  void waitForShutdown({ signal: input.terminal.outputClosed }).then(() => ending.abort());
  try {
    let page = await operator.call("events list", readFields([], input));
    while (!ending.signal.aborted) {
      for (const event of page.events)
        input.terminal.out(input.asJson ? toJson(event) : formatEvent(event, input.terminal));
      await systemTimer.sleep(INTERVAL_MS, ending.signal);
      page = await operator.call("events list", {
        ...readFields([], input),
        after: page.after,
      });
    }
  } finally {
    await operator.close();
  }
  return 0;
}

function formatEvent({ createdAt, type, intentId, accountId, sequence }: EventOutput, terminal: Terminal): string {
  return `${terminal.paint("dim", createdAt)}  ${type.padEnd(32)}  ${intentId ?? ""}  ${terminal.paint("dim", `${accountId} #${sequence}`)}`;
}
