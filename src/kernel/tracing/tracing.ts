import { idBytes } from "../ids.ts";

/** A step that has ended. */
export type TracedStep = {
  name: string;
  /** All steps of an intent are one trace. A step without an intent is a trace of its own. */
  intentId: string | undefined;
  startedMs: number;
  endedMs: number;
  /** Absent values are left out. */
  attributes: Readonly<Record<string, string | number | null | undefined>>;
};

/** Sends spans to a collector of OpenTelemetry. */
export interface Tracing {
  /** Never waits and never throws: spans are sent in batches, and dropped while the collector does not answer. */
  record(step: TracedStep): void;
  /** Sends what is left. */
  close(): Promise<void>;
}

const CLOSE_MS_MAX = 2_000;
const SAMPLED = 1;
const PREFIX = "tributary.";

/**
 * Opens the exporter. The packages of OpenTelemetry load here, and only an installation with tracing has them. They
 * read further settings from the variables of OpenTelemetry, such as the headers of requests.
 */
export async function openTracing({ otlpUrl, version }: { otlpUrl: string; version: string }): Promise<Tracing> {
  const [
    { ROOT_CONTEXT, trace },
    { BatchSpanProcessor, TracerProvider },
    { OTLPTraceExporter },
    { resourceFromAttributes },
  ] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
  ]);
  const exporter = new OTLPTraceExporter({ url: otlpUrl, timeoutMillis: CLOSE_MS_MAX });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": "tributary", "service.version": version }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("tributary", version);
  return {
    record({ name, intentId, startedMs, endedMs, attributes }) {
      const parent = intentId === undefined ? undefined : parentOf(intentId);
      const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
      const present: Record<string, string | number> = {};
      for (const [key, value] of Object.entries({ intent_id: intentId, ...attributes }))
        if (value !== null && value !== undefined) present[`${PREFIX}${key}`] = value;
      const span = tracer.startSpan(name, { startTime: startedMs, attributes: present }, context);
      span.end(endedMs);
    },
    close: () => provider.shutdown().catch(() => undefined),
  };
}

/** The 128 random bits of an intent's id are the id of its trace, so nothing must be stored to link its steps. */
function parentOf(intentId: string) {
  const bytes = idBytes("pi", intentId);
  if (bytes === undefined) return undefined;
  const traceId = Buffer.from(bytes).toString("hex");
  return { traceId, spanId: traceId.slice(16), traceFlags: SAMPLED, isRemote: true };
}
