// Written by programs/scripts/build.ts from the compiled program; change that instead.

/** SHA-256 of the program's ELF file, as the loader stores it. */
export const solanaProgramHash = "855f8eaf81f829ad3f881b1d8cd44cca90d8ef77516ca626d3cc97a0b4bfb712";

/** Bytes of the program's ELF file. */
export const solanaProgramBytes = 15136;

const programs: Readonly<Record<string, string>> = {
  // mainnet
  "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": "A27yWq6ooL214xBC1oaNCdJ4dKyDborZRVkc59PXcMwR",
  // testnet
  "4uhcVJyU9pJkvQyS88uRDiswHScCKQY3": "A27yWq6ooL214xBC1oaNCdJ4dKyDborZRVkc59PXcMwR",
  // devnet
  "EtWTRABZaYq6iMfeYKouRu166VU2xqa1": "A27yWq6ooL214xBC1oaNCdJ4dKyDborZRVkc59PXcMwR",
};

/** Stands for a program that is on no public cluster yet. The vectors use its address; a service with it does not start. */
export const placeholderProgram = "A27yWq6ooL214xBC1oaNCdJ4dKyDborZRVkc59PXcMwR";

/** The published inbox program of a cluster, by its CAIP-2 reference; undefined for a private cluster. */
export function findSolanaProgram(cluster: string): string | undefined {
  return Object.hasOwn(programs, cluster) ? programs[cluster] : undefined;
}
