import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import type { Mutant } from "./mutant.ts";

/** Plants a bug in all modules that load later. Throws at the load of a module that has not its text exactly once. */
export function installPatches({ name, patches }: Pick<Mutant, "name" | "patches">): void {
  const root = new URL("../../", import.meta.url);
  const byUrl = Map.groupBy(patches, ({ path }) => new URL(path, root).href);
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const planted = byUrl.get(url);
      if (planted === undefined || loaded.source === undefined || loaded.source === null) return loaded;
      let source =
        typeof loaded.source === "string" ? loaded.source : Buffer.from(loaded.source as Uint8Array).toString();
      for (const { search, replace } of planted) {
        if (source.split(search).length !== 2)
          throw new Error(`${name} does not match its text in ${fileURLToPath(url)}`);
        source = source.replace(search, () => replace);
      }
      return { ...loaded, source };
    },
  });
}
