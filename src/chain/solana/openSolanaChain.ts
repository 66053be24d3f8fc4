import { tokenProgram as splToken } from "@tributary/inbox/solana/keys";
import type { Logger } from "pino";
import type { SolanaChainConfig } from "../../config/config.ts";
import type { Timer } from "../../kernel/clock.ts";
import type { Chain } from "../chain.ts";
import { Providers } from "../providers.ts";
import { openSolanaReader } from "./read/solanaReader.ts";
import { openSlotFeed } from "./rpc/slotFeed.ts";
import { openFeePayer, openForeignPayer } from "./send/feePayer.ts";
import { createSenderContext } from "./send/senderContext.ts";
import { SolanaSender } from "./send/solanaSender.ts";

/** Opens a configured Solana cluster. Makes no request, so unreachable providers do not matter. */
export function openSolanaChain(config: SolanaChainConfig, world: { clock: Timer; log: Logger }): Chain {
  const { caip2, program, feeRecipient, computeUnitPriceMax, name, feePayerKey } = config;
  const openReaders = () => {
    const [first, ...others] = config.rpcUrls.map((url) => openSolanaReader({ caip2, url, program }));
    if (first === undefined) throw new Error(`${name} has no RPC URL`);
    return [first, ...others] as const;
  };
  const nodes = openReaders();
  const providers = new Providers(nodes, world);
  const feePayer = feePayerKey === undefined ? openForeignPayer(config.feePayer) : openFeePayer(feePayerKey);
  const tokenPrograms = new Map(config.tokens.map(({ address, tokenProgram = splToken }) => [address, tokenProgram]));
  const hasBridge = config.cctp !== undefined;
  const options = { feePayer, program, feeRecipient, tokenPrograms, computeUnitPriceMax, hasBridge };
  const context = createSenderContext(providers, options);
  const feeds = (config.wsUrls ?? []).map((wsUrl) => openSlotFeed({ wsUrl, clock: world.clock }));
  const payerReader = new Providers(openReaders(), world);
  const sender = new SolanaSender(context);
  return { caip2, detection: "balances", readers: nodes, providers, payerReader, sender, feeds };
}
