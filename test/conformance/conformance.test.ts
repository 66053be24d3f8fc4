import { describeAnyReaderConformance } from "./anyReaderConformance.ts";
import { describeEvmConformance } from "./evmConformance.ts";
import { describeHubConformance } from "./hubConformance.ts";
import { openAnvilChain } from "./openAnvilChain.ts";
import { openLocalSolanaChain } from "./openLocalSolanaChain.ts";
import { openOneShotChain, openScriptedChain } from "./openScriptedChain.ts";
import { describeReaderConformance } from "./readerConformance.ts";
import { describeSenderConformance } from "./senderConformance.ts";

// Every kind of chain fulfils the two ports. The real node and its model behave alike, so that simulations are valid for real
// chains.
for (const describeIt of [describeAnyReaderConformance, describeReaderConformance, describeSenderConformance]) {
  describeIt("anvil", openAnvilChain);
  describeIt("the scripted EVM chain", openScriptedChain);
  describeIt("the scripted chain without nonces and logs", openOneShotChain);
}
for (const describeIt of [describeAnyReaderConformance, describeSenderConformance])
  describeIt("the local Solana", openLocalSolanaChain);
for (const describeIt of [describeEvmConformance, describeHubConformance]) {
  describeIt("anvil", openAnvilChain);
  describeIt("the scripted EVM chain", openScriptedChain);
}
