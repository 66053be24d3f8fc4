import { asset, constant, derived, optional, pinned, showText } from "./fields.ts";
import { defineFormat, type Stored } from "./format.ts";

const caip10 = asset("caip10");

/** The first format of a source inbox. Its address stands in `caip10`. */
export const sourceInboxFormat1 = defineFormat([
  constant("object", "source_inbox"),
  pinned("intentId", ({ id }) => id),
  derived("address", (context) => {
    const shown = showText(caip10.show(context.values["caip10"] ?? null, context) as Stored);
    return shown.slice(shown.lastIndexOf(":") + 1);
  }),
  caip10,
  optional("tokenAccount"),
  optional("mint"),
  optional("program"),
]);
