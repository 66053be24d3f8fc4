import { UsageError } from "../../operator/errors.ts";

/** Reads the option --rpc. Throws UsageError. */
export function readRpcUrl(text: string | undefined): string {
  const isUrl = text !== undefined && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isUrl) throw new UsageError(`--rpc must be one http(s) URL, not ${JSON.stringify(text ?? "")}.`);
  return text;
}
