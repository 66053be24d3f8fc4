import { openAnvilSubject } from "./anvil.ts";
import { describeHub } from "./hubSuite.ts";
import { openScriptedSubject } from "./scripted.ts";
import { describeChain } from "./suite.ts";

// The real node and its model behave alike, so that what holds in a simulation holds on a chain.
for (const describeIt of [describeChain, describeHub]) {
  describeIt("anvil", openAnvilSubject);
  describeIt("the scripted chain", openScriptedSubject);
}
