import { ALARMS, alarmRow, type AlarmName } from "../../src/kernel/alarm/alarmTable.ts";

const INTRODUCTION = `# Alarms

An alarm is a condition that a person must act on. Each one is logged once at level \`error\` with its name in the field \`alarm\`, and its end at level
\`info\`. Until then it is in \`tributary status\` and in the metric \`tributary_alarm_active\`, and the \`status\` of \`/readyz\` is \`degraded\` with
the status code 200. \`/readyz\` is public, so it names no alarm. The checks run every 5 seconds, and each condition below is found within 30 seconds. Conditions of
providers and gas are raised before they delay a payment.

## Receive alarms

\`\`\`json
"alarms": {
  "webhookUrl": "https://chat.example/hooks/…",
  "command": ["/usr/local/bin/page-operator", "--team", "payments"]
}
\`\`\`

Both are optional. Each alarm and its end is one POST of JSON to \`webhookUrl\`, and one run of \`command\` with the same JSON on standard input:
\`state\` (\`raised\` or \`over\`), \`alarm\`, \`subject\`, \`since\`, \`happened\`, \`affects\`, \`remedy\`, \`facts\`, \`baseUrl\`, \`runbookUrl\` (the part of this page about it), and \`text\`, which chat webhooks show.
The command runs without a shell, for 10 seconds at most, with \`TRIBUTARY_ALARM\`, \`TRIBUTARY_ALARM_STATE\` and \`PATH\` as its only variables. Each process of
an installation sends what it finds. \`alarm\` and \`subject\` together identify an alarm. A failed delivery is logged and not repeated: let your
monitoring read the metrics too.

A failure that repeats is a warning in the log, at first, and then after 1, 2, 4 minutes and so on, at most once an hour. \`repeats\` counts the
lines that were left out.

## The alarms
`;

const ENDINGS = {
  checks: "",
  both: "",
  code: " It is over one hour after it was last raised.",
} as const;

/** The whole page. */
export function renderAlarms(): string {
  const names = Object.keys(ALARMS) as AlarmName[];
  const sections = names.map((name) => {
    const { happened, affects, remedy, source } = alarmRow(name);
    return `### ${name}\n\n${happened}${ENDINGS[source]}\n\n- Affected: ${affects}\n- Remedy: ${remedy}\n`;
  });
  return `${INTRODUCTION}\n${sections.join("\n")}`;
}
