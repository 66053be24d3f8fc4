import type { Caip2 } from "../kernel/caip.ts";
import type { MemorySlot, ProcessMemory } from "../kernel/processMemory.ts";

// Tokens that changed on their chain after the start in a way that payers or merchants do not expect, as this process
// last saw them.

export type TokenProblem = {
  readonly token: string;
  /** Ends a sentence that begins with the token. */
  readonly reason: string;
  /** Whether settling waits too: a transfer may not arrive in full. */
  readonly holdsSettlements: boolean;
};

const PROBLEMS: MemorySlot<Map<Caip2, readonly TokenProblem[]>> = { create: () => new Map() };

type Memory = { readonly memory: ProcessMemory };

export function setTokenProblems({ memory }: Memory, chain: Caip2, problems: readonly TokenProblem[]): void {
  memory.get(PROBLEMS).set(chain, problems);
}

export function listTokenProblems({ memory }: Memory, chain: Caip2): readonly TokenProblem[] {
  return memory.get(PROBLEMS).get(chain) ?? [];
}

export function hasTokenProblem(world: Memory, { chain, token }: { chain: Caip2; token: string }): boolean {
  return listTokenProblems(world, chain).some((problem) => problem.token === token);
}
