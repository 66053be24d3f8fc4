import type { World } from "../world.ts";

/**
 * Whether this service pays fees from the address. Money sent there would be spent on fees, and no merchant could take
 * it out.
 */
export function isOwnPayer({ chains }: Partial<Pick<World, "chains">>, address: string): boolean {
  return [...(chains?.values() ?? [])].some(({ sender }) => sender.payer === address);
}
