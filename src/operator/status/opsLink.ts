import { createOpsCode } from "../../dashboard/opsSession.ts";
import type { Config } from "../../config/config.ts";
import { CommandError } from "../errors.ts";
import { defineOperatorOperation } from "../operation/operatorOperation.ts";

/** A link that opens the operator's page once. */
export type OpsLinkOutput = { url: string; expiresAt: string };

export const createOpsLink = defineOperatorOperation({
  effect: "write",
  input: {},
  async run(world): Promise<OpsLinkOutput> {
    const origin = opsOrigin(world.config);
    const { code, expiresAt } = await createOpsCode(world);
    return { url: `${origin}/ops/sign-in?code=${code}`, expiresAt: expiresAt.toISOString() };
  },
});

/** Where the page is: on the listener of the metrics, in a test installation on the public one too. */
function opsOrigin({ metrics, environment, baseUrl }: Config): string {
  if (metrics !== undefined) return `http://${hostInUrl(metrics.host)}:${metrics.port}`;
  if (environment === "test") return baseUrl;
  throw new CommandError(
    'The operator\'s page is served beside the metrics: add "metrics": { "port": 9464 } to the configuration and restart.',
  );
}

/** A listener on all addresses is reached on this machine by its loopback. */
function hostInUrl(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
