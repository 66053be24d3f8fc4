// npm runs this before it packs the sources of a package. Node does not run TypeScript from node_modules, so that
// package would not load.

import { env, exit } from "node:process";

const name = env["npm_package_name"] ?? "PACKAGE";
console.error(`Pack the build, not the sources: npm run stage -w ${name}, then npm pack in its folder dist.`);
exit(1);
