// Bounds of the inbox program. They are part of it and never change, whatever a byte costs on the cluster.

/**
 * An account of an inbox with so many lamports holds somebody's money; with fewer, the rent recipient may have them.
 */
export const lamportsRentEnd = 4_100_000n;

/** What the recovery key leaves in an inbox until `recoverAfter`: at least the rent of an account without data. */
export const lamportsPrimed = 890_880n;
