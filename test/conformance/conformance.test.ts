import { openAnvilChain } from "./openAnvilChain.ts";
import { describeHubConformance } from "./hubConformance.ts";
import { openScriptedChain } from "./openScriptedChain.ts";
import { describeChainConformance } from "./chainConformance.ts";

// The real node and its model behave alike, so that what holds in a simulation holds on a chain.
for (const describeIt of [describeChainConformance, describeHubConformance]) {
  describeIt("anvil", openAnvilChain);
  describeIt("the scripted chain", openScriptedChain);
}
