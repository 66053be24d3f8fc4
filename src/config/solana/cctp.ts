import { findSolanaUsdc, solanaCctpDomain } from "@tributary/inbox/cctpV2Chains";
import { cctpMessenger, cctpTransmitter } from "@tributary/inbox/solana/cctp";
import { tokenProgram as splTokenProgram } from "@tributary/inbox/solana/keys";
import type { CctpV2Contracts, TokenConfig } from "../config.ts";
import { ConfigError } from "../section.ts";

/** Circle's programs, which have the same addresses on every cluster. */
export const solanaCctp: CctpV2Contracts = {
  domain: solanaCctpDomain,
  messenger: cctpMessenger,
  transmitter: cctpTransmitter,
};

/** Rejects a token whose `bridge` cannot carry it. Throws ConfigError. */
export function rejectUnbridgeableMint(
  tokens: readonly TokenConfig[],
  { cluster, path }: { cluster: string; path: string },
): void {
  const bridged = tokens.flatMap((token, index) =>
    token.bridge === undefined ? [] : [{ token, path: `${path}.tokens[${index}]` }],
  );
  const [first, second] = bridged;
  if (first === undefined) return;
  if (second !== undefined)
    throw new ConfigError(`${second.path}.bridge: the bridge carries one token of a chain; remove bridge from one.`);
  const known = findSolanaUsdc(cluster);
  if (known !== undefined && known !== first.token.address)
    throw new ConfigError(
      `${first.path}.bridge: the bridge carries only Circle's USDC, here ${known}; remove bridge from this token.`,
    );
  if (first.token.tokenProgram !== splTokenProgram)
    throw new ConfigError(`${first.path}.bridge: the bridge carries no token of Token-2022; remove bridge.`);
}
