import { findSolanaProgram, placeholderProgram } from "@tributary/inbox/solana/program";
import * as rules from "../rules.ts";
import { ConfigError, fieldPath, readField, type ConfigSection } from "../section.ts";

/** Reads the address of the inbox program. A cluster with a published one has it as the default. Throws ConfigError. */
export function readProgram(section: ConfigSection, reference: string): string {
  const address = readField(section, "program", { ...rules.solanaAddress, fallback: findSolanaProgram(reference) });
  if (address === placeholderProgram)
    throw new ConfigError(
      `${fieldPath(section, "program")}: ${address} stands for a program that is on no public cluster yet; deploy the program with \`tributary hub deploy --rpc\`, and give its address.`,
    );
  return address;
}
