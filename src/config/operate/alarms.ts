import { Secret } from "../../kernel/secret.ts";
import type { AlarmsConfig, MetricsConfig, TracingConfig } from "../config.ts";
import * as rules from "../rules.ts";
import { ConfigError, fieldPath, hasField, readField, readList, readSection, type ConfigSection } from "../section.ts";

const ALARMS_KEYS = ["webhookUrl", "command"] as const;
const TRACING_KEYS = ["otlpUrl"] as const;
const METRICS_KEYS = ["host", "port"] as const;

/**
 * Reads who is informed about alarms. Errors never quote the URL, because it may contain a token. Throws ConfigError.
 */
export function readAlarms(section: ConfigSection): AlarmsConfig {
  const alarms = readSection(section.fields["alarms"] ?? {}, { path: "alarms", known: ALARMS_KEYS });
  const webhookUrl = hasField(alarms, "webhookUrl")
    ? new Secret(readField(alarms, "webhookUrl", { ...rules.webUrl, isSecret: true }))
    : undefined;
  return { webhookUrl, command: hasField(alarms, "command") ? readCommand(alarms) : undefined };
}

function readCommand(alarms: ConfigSection): AlarmsConfig["command"] {
  const words = readList(alarms, "command", (value, path) => {
    if (typeof value === "string" && value !== "" && !value.includes("\0")) return value;
    throw new ConfigError(`${path}: give a word of the command, such as "/usr/local/bin/page-operator".`);
  });
  const [program, ...args] = words;
  if (program === undefined)
    throw new ConfigError(`${fieldPath(alarms, "command")}: give a program and its arguments.`);
  return [program, ...args];
}

/** Reads where the metrics are served; undefined without a section. Throws ConfigError. */
export function readMetrics(section: ConfigSection, listen: { host: string; port: number }): MetricsConfig | undefined {
  if (!hasField(section, "metrics")) return undefined;
  const metrics = readSection(section.fields["metrics"], { path: "metrics", known: METRICS_KEYS });
  const host = readField(metrics, "host", { ...rules.text, fallback: "127.0.0.1" });
  const port = readField(metrics, "port", rules.wholeNumber(1, 65_535));
  if (port === listen.port)
    throw new ConfigError(`${fieldPath(metrics, "port")}: ${port} is the port of the API; give another one.`);
  return { host, port };
}

/** Reads where spans are sent; undefined without a section. Throws ConfigError. */
export function readTracing(section: ConfigSection): TracingConfig | undefined {
  if (!hasField(section, "tracing")) return undefined;
  const tracing = readSection(section.fields["tracing"], { path: "tracing", known: TRACING_KEYS });
  return { otlpUrl: readField(tracing, "otlpUrl", rules.webUrl) };
}
