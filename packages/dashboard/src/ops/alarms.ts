import { h, type VElement } from "@tributary/checkout/vnode";
import { icon } from "../parts/icons.ts";
import { command, facts, moment, withCode } from "../parts/parts.ts";
import type { OpsContext } from "./opsContext.ts";
import { commandsOf, isNeeded, orderAlarms, type OpsAlarm, type OpsState } from "./opsState.ts";

/** Every alarm with its cause, its remedy and the commands that do it. Nothing where there is none. */
export function alarmsView(context: OpsContext, { alarms }: OpsState): VElement | null {
  if (alarms.length === 0) return null;
  return h(
    "section",
    { class: "stack", id: "alarms", "aria-labelledby": "alarms-heading" },
    h("h2.vh", { id: "alarms-heading" }, context.t.text("alarms.heading")),
    orderAlarms(alarms).map((alarm) => alarmView(context, alarm)),
  );
}

function alarmView({ t, times }: OpsContext, alarm: OpsAlarm): VElement {
  const { alarm: name, subject, chainName, since, happened, affects, remedy } = alarm;
  const isCalm = !isNeeded(alarm);
  const about = [chainName, subject].filter((each) => each !== null && each !== "");
  const id = `alarm-${name}-${subject}`.replaceAll(/[^\w-]+/g, "-");
  const commands = commandsOf(alarm);
  return h(
    "section",
    { class: isCalm ? "cause alarm calm" : "cause alarm", id, "aria-labelledby": `${id}-title` },
    icon(isCalm ? "eye" : "warn"),
    h(
      "div",
      {},
      h(
        "div",
        {},
        h("h3", { id: `${id}-title` }, withCode(happened)),
        h(
          "p.who-tag",
          {},
          h("code", { translate: "no" }, name),
          about.map((each) => [" · ", h("bdi", { translate: "no" }, each)]),
          " · ",
          t.rich("alarms.since", { time: moment(since, times) }),
        ),
      ),
      facts([
        [t.text("alarms.affected"), withCode(affects)],
        [t.text("alarms.remedy"), withCode(remedy)],
        ...factRows(alarm),
      ]),
      commands.length > 0 &&
        h(
          "div.cmds",
          {},
          commands.map((each) => command(each, t.text("cmd.copy"))),
        ),
    ),
  );
}

/** Facts that the line above does not show. */
const SHOWN_ABOVE = new Set(["chain", "chainName"]);

function factRows({ facts: found }: OpsAlarm): (readonly [VElement, VElement])[] {
  return Object.entries(found)
    .filter(([name, value]) => !SHOWN_ABOVE.has(name) && value !== null && value !== "")
    .map(([name, value]) => [
      h("code", { translate: "no" }, name),
      h("bdi", { class: "whole", translate: "no" }, String(value)),
    ]);
}
