import { systemClock } from "../kernel/clock.ts";
import type { Command, CommandInput } from "./command.ts";
import { askOnce, CONFIG_OPTION, openOperator } from "./operator.ts";
import type { EventPage, ShownEvent } from "./operations/events.ts";
import { untilEnd } from "./run.ts";
import { toJson, type Terminal } from "./terminal.ts";

const INTERVAL_MS = 500;
const TAIL_PAGE = "1000";

const FILTERS = {
  account: { value: "ID", summary: "only this account's" },
  intent: { value: "ID", summary: "only this intent's" },
  limit: { value: "COUNT", summary: "how many at first; 20 when left out" },
  ...CONFIG_OPTION,
};

export const eventsList: Command = {
  name: "events list",
  summary: "List the latest events, in the order in which they happened",
  positionals: [],
  options: FILTERS,
  examples: ["tributary events list --intent pi_3x7…"],
  run: runList,
};

export const eventsTail: Command = {
  name: "events tail",
  summary: "Show the latest events, and every further one as it happens",
  positionals: [],
  options: FILTERS,
  examples: ["tributary events tail", "tributary events tail --json | jq .type"],
  run: runTail,
};

function questionOf({ text }: CommandInput): Record<string, string | undefined> {
  return { accountId: text["account"], intentId: text["intent"], limit: text["limit"] };
}

async function runList(input: CommandInput): Promise<number> {
  const { events } = (await askOnce(input, "events list", questionOf(input))) as EventPage;
  if (input.asJson) input.terminal.out(toJson(events));
  else for (const event of events) input.terminal.out(lineOf(event, input.terminal));
  return 0;
}

async function runTail(input: CommandInput): Promise<number> {
  const operator = await openOperator(input);
  const ending = new AbortController();
  void untilEnd(input.terminal.unread).then(() => ending.abort());
  try {
    let page = (await operator.ask("events list", questionOf(input))) as EventPage;
    while (!ending.signal.aborted) {
      for (const event of page.events) input.terminal.out(input.asJson ? toJson(event) : lineOf(event, input.terminal));
      await systemClock.sleep(INTERVAL_MS, ending.signal);
      page = (await operator.ask("events list", {
        ...questionOf(input),
        limit: TAIL_PAGE,
        after: page.after,
      })) as EventPage;
    }
  } finally {
    await operator.close();
  }
  return 0;
}

function lineOf({ createdAt, type, intentId, accountId, sequence }: ShownEvent, terminal: Terminal): string {
  return `${terminal.paint("dim", createdAt)}  ${type.padEnd(32)}  ${intentId ?? ""}  ${terminal.paint("dim", `${accountId} #${sequence}`)}`;
}
