import type { Chain } from "../../chain/chain.ts";
import { balancesSince } from "../../chain/reader.ts";
import { raiseAlarm } from "../../kernel/alarm/raiseAlarm.ts";
import type { MovementRow } from "../movement.ts";
import type { ComparedBalance } from "./comparedBalance.ts";
import type { WatchWorld } from "../watchWorld.ts";

// A provider that hides or invents a deposit in its lists and balances alike contradicts nothing that it says itself.
// Only the others do.

/** Outvoted providers are asked last for this long. */
const COOLDOWN_MS = 600_000;

/** Asks every provider for a deposit that the last one showed, and names those that do not have it in its block. */
export async function nameOmittingProviders(
  world: WatchWorld,
  chain: Chain,
  { inbox, token, chain_tx: chainTx, block_hash: blockHash, block_number: blockNumber }: MovementRow,
): Promise<void> {
  if (chain.providers.providerCount < 2) return;
  const replies = await chain.providers.runAll(
    (reader) => reader.transfers({ blockHash, blockNumber }, [token], [inbox]),
    "available",
  );
  const votes = replies.flatMap((each) =>
    "answer" in each ? [{ provider: each.provider, isThere: each.answer.some((one) => one.chainTx === chainTx) }] : [],
  );
  const [reporting, denying] = [votes.filter(({ isThere }) => isThere), votes.filter(({ isThere }) => !isThere)];
  if (denying.length === 0) return;
  raiseAlarm(
    world.log,
    {
      alarm: "provider_disagreement",
      chain: chain.caip2,
      inbox,
      chainTx,
      reporting: reporting.map(({ provider }) => provider),
      denying: denying.map(({ provider }) => provider),
    },
    "providers disagree on a deposit; it was recorded as one of them shows it",
  );
  if (reporting.length > denying.length)
    for (const { provider } of denying) chain.providers.coolDown(provider, COOLDOWN_MS);
}

/**
 * Names the provider whose balance nothing explains, where another one shows what is recorded. Returns whether there is
 * one; the balance then says nothing about the inbox.
 */
export async function nameContradictedProvider(
  world: WatchWorld,
  chain: Chain,
  { provider, intentId, inbox, token, blockNumber, ledgerUnits, chainUnits }: ComparedBalance,
): Promise<boolean> {
  if (provider === undefined || chain.providers.providerCount < 2) return false;
  const replies = await chain.providers.runAll((reader) =>
    balancesSince(reader, token, { owners: [inbox], blockNumber }),
  );
  const others = replies.flatMap((each) => ("answer" in each && each.provider !== provider ? [each] : []));
  const agreeing = others.filter(({ answer }) => answer[0] === ledgerUnits).map((each) => each.provider);
  if (agreeing.length === 0 || 2 * agreeing.length < others.length) return false;
  raiseAlarm(
    world.log,
    {
      alarm: "provider_disagreement",
      chain: chain.caip2,
      provider,
      agreeing,
      intent: intentId,
      inbox,
      ledgerUnits: String(ledgerUnits),
      chainUnits: String(chainUnits),
    },
    "a provider shows a balance that nothing explains, and another one shows what is recorded",
  );
  chain.providers.coolDown(provider, COOLDOWN_MS);
  return true;
}
