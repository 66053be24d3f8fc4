import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stagePackage } from "../../../scripts/stagePackage.ts";

// Stages the package for publishing: npm run stage, then npm publish ./dist

const packageDirectory = fileURLToPath(new URL("..", import.meta.url));

export async function stage(directory: string): Promise<void> {
  await stagePackage(packageDirectory, directory);
}

if (import.meta.main) await stage(join(packageDirectory, "dist"));
