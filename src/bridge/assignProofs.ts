import type { BurnProof, BurnTracking } from "../chain/bridge.ts";
import type { Crossing, ProofHolder, StoredProof } from "./store.ts";

// Which burn gets which proof. Equal burns of an inbox fit each other's proofs, and a service may answer one with the
// proof of another. Each proof brings the same units to the same inbox, so any of them will do, as long as each burn
// gets one.

type AskedBurn = { crossing: Crossing; tracking: BurnTracking | undefined };

/**
 * Gives each burn the first proof that no crossing and no burn before it holds. `holders`: by the proof's number. Pure.
 */
export function assignProofs(
  burns: readonly AskedBurn[],
  holders: ReadonlyMap<string, Pick<ProofHolder, "movement_id">>,
): StoredProof[] {
  const taken = new Set<string>();
  // Burns that fit the same proofs go on where the one before them found a free one.
  const starts = new Map<readonly BurnProof[], number>();
  return burns.flatMap(({ crossing, tracking }) => {
    if (tracking?.kind !== "proven") return [];
    const { proofs } = tracking;
    const isFree = (proof: BurnProof) => {
      const holder = holders.get(proof.mint);
      const isHeld = holder !== undefined && holder.movement_id !== crossing.movement_id;
      return !isHeld && !taken.has(proof.mint) && !isKnownToExpire(crossing, proof);
    };
    const own =
      crossing.mint === null ? undefined : proofs.find((proof) => proof.mint === crossing.mint && isFree(proof));
    const start = starts.get(proofs) ?? 0;
    const index = own === undefined ? proofs.findIndex((proof, at) => at >= start && isFree(proof)) : -1;
    const proof = own ?? proofs[index];
    if (proof === undefined) return [];
    // A burn that renews its proof skips it: those after it do not.
    if (index >= 0 && crossing.mint === null) starts.set(proofs, index + 1);
    taken.add(proof.mint);
    const { message, attestation, mint, expiresAtBlock = null } = proof;
    return [
      {
        movement_id: crossing.movement_id,
        units: crossing.units,
        message,
        attestation,
        mint,
        expires_at_block: expiresAtBlock,
      },
    ];
  });
}

/** Whether the proof is the one that the settle chain refuses by now. */
function isKnownToExpire(burn: Crossing, proof: BurnProof): boolean {
  if (burn.mint !== proof.mint || burn.expires_at_block === null) return false;
  return proof.expiresAtBlock !== undefined && proof.expiresAtBlock <= burn.expires_at_block;
}

/**
 * The transaction whose messages may hold the proof of a burn whose own proofs others hold: that of an equal burn of
 * another transaction, which then holds one that is not its own. Undefined without one. Attempts choose among several,
 * so that none repeats without end. Pure.
 */
export function findSwapped(burn: Crossing, holders: readonly ProofHolder[]): string | undefined {
  const swapped = holders.filter(
    (holder) =>
      holder.movement_id !== burn.movement_id &&
      holder.intent_id === burn.intent_id &&
      holder.chain === burn.chain &&
      holder.token === burn.token &&
      holder.units === burn.units &&
      holder.settle_chain === burn.settle_chain &&
      holder.chain_tx !== burn.proof_tx,
  );
  return swapped[burn.attempts % Math.max(swapped.length, 1)]?.chain_tx;
}
