import type { Times } from "../parts/parts.ts";
import type { OpsTranslator } from "../messages/en.ts";

/** What every part of the operator's page is drawn from, beside the state. */
export type OpsContext = { readonly t: OpsTranslator; readonly times: Times };

/** How the page stands: whether its script follows, and what it last met. */
export type Following = {
  /** How old the state is at this moment. */
  readonly ageMs: number;
  /** Seconds between two looks; null without the script. */
  readonly everyS: number | null;
  readonly problem: "lost" | "over" | null;
};
