import { spawn } from "node:child_process";
import { request } from "undici";
import type { AlarmsConfig } from "../config/config.ts";
import type { World } from "../world.ts";

/** What a webhook receives as JSON, and a command on standard input. */
export type AlarmNotice = Readonly<Record<string, unknown>> & {
  state: "raised" | "over";
  alarm: string;
  subject: string;
  /** The notice as one line, under the name that chat webhooks show. */
  text: string;
};

const SEND_MS_MAX = 10_000;

/**
 * Sends a notice to the configured webhook and command. A failure is only logged, because the log and the metrics
 * have the alarm too.
 */
export async function sendAlarm({ config, log }: Pick<World, "config" | "log">, notice: AlarmNotice): Promise<void> {
  const { webhookUrl, command } = config.alarms ?? {};
  const sends = [
    ...(webhookUrl === undefined ? [] : [postNotice(webhookUrl.reveal(), notice)]),
    ...(command === undefined ? [] : [runCommand(command, notice)]),
  ];
  for (const result of await Promise.allSettled(sends)) {
    if (result.status === "fulfilled") continue;
    const reason = result.reason instanceof Error ? result.reason.message : String(result.reason);
    log.warn({ alarm: notice.alarm, subject: notice.subject, reason }, "an alarm was not delivered");
  }
}

async function postNotice(url: string, notice: AlarmNotice): Promise<void> {
  const headers = { "content-type": "application/json" };
  const signal = AbortSignal.timeout(SEND_MS_MAX);
  const { statusCode, body } = await request(url, { method: "POST", headers, body: JSON.stringify(notice), signal });
  await body.dump({ limit: 65_536, signal });
  if (statusCode >= 300) throw new Error(`the alarm webhook answered with status ${statusCode}`);
}

/** Runs the command without a shell. Its input is the notice; two variables name the alarm and its state. */
function runCommand([program, ...args]: NonNullable<AlarmsConfig["command"]>, notice: AlarmNotice): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["pipe", "ignore", "ignore"],
      timeout: SEND_MS_MAX,
      env: { TRIBUTARY_ALARM: notice.alarm, TRIBUTARY_ALARM_STATE: notice.state, PATH: SYSTEM_PATH },
    });
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`the alarm command ended with ${code ?? "a signal"}`));
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end(JSON.stringify(notice));
  });
}

/** The command gets no variable of this process, because some are secrets. */
const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
