import type { HintProvider } from "../config/config.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { hasElapsed } from "../kernel/clock.ts";
import { listProviderHints } from "../view/hintStore.ts";
import type { World } from "../world.ts";

/** A stream of a token's transfers has some in each block. */
const SILENT_MS = 3_600_000;

export type ProviderHints = {
  chain: Caip2;
  provider: HintProvider;
  /** Whether this process has the secret, so that it takes them. */
  isOpen: boolean;
  /** Undefined before the first. */
  lastAt: Date | undefined;
  /** It spoke once, and then for an hour no more. */
  isSilent: boolean;
};

/** The providers that are configured to say where to look, and when each last did. */
export async function readProviderHints({
  db,
  clock,
  config,
}: Pick<World, "db" | "clock" | "config">): Promise<ProviderHints[]> {
  const configured = config.chains.flatMap(({ caip2, hints = [] }) =>
    hints.map((source) => ({ chain: caip2, ...source })),
  );
  if (configured.length === 0) return [];
  const now = clock.now();
  const rows = await listProviderHints(db);
  return configured.map(({ chain, provider, secret }) => {
    const lastAt = rows.find((row) => row.chain === chain && row.provider === provider)?.last_at;
    const isSilent = lastAt !== undefined && hasElapsed(SILENT_MS, { since: lastAt, now });
    return { chain, provider, isOpen: secret !== undefined, lastAt, isSilent };
  });
}
