import { describeAnyReaderConformance } from "./anyReaderConformance.ts";
import { describeEvmConformance } from "./evmConformance.ts";
import { describeHubConformance } from "./hubConformance.ts";
import { openAnvilChain } from "./openAnvilChain.ts";
import { openLocalSolanaChain } from "./openLocalSolanaChain.ts";
import { openOneShotChain, openScriptedChain } from "./openScriptedChain.ts";
import { describeReaderConformance } from "./readerConformance.ts";
import { describeSenderConformance } from "./senderConformance.ts";

// Every kind of chain fulfils the two ports. The real node and its model behave alike, so that simulations are valid
// for real chains.
for (const describeIt of [describeAnyReaderConformance, describeReaderConformance, describeSenderConformance]) {
  describeIt("anvil", openAnvilChain);
  describeIt("the scripted EVM chain", openScriptedChain);
  describeIt("the scripted chain without nonces and logs", openOneShotChain);
}
// What describeReaderConformance asserts beyond the tests for any reader, Solana does not have: lists of all transfers
// without a party, balances of past blocks, a genesis block that every node keeps, a call that fails inside a
// transaction that succeeds, two credits of one account in one transaction, and tokens that return nothing or keep a
// tax, which the start refuses. test/solana shows the rest by cases of its own: a failed transaction moves nothing, and
// several transfers to one inbox are one credit.
for (const describeIt of [describeAnyReaderConformance, describeSenderConformance])
  describeIt("the local Solana", openLocalSolanaChain);
for (const describeIt of [describeEvmConformance, describeHubConformance]) {
  describeIt("anvil", openAnvilChain);
  describeIt("the scripted EVM chain", openScriptedChain);
}
