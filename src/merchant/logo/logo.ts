import { sanitizePng } from "./sanitizePng.ts";
import { sanitizeSvg } from "./sanitizeSvg.ts";

/** A checked image. Its bytes were written by this service, never copied from what was given. */
export type Logo = { type: "image/png" | "image/svg+xml"; bytes: Uint8Array };

const LOGO_BYTES_MAX = 32_768;
export const LOGO_EXPECTED = "a PNG of at most 1,024 × 1,024 pixels, or an SVG, of at most 32 KiB";

/**
 * Recognizes an image by its content and writes it anew with the parts that draw. Undefined when it is neither, too
 * large or malformed.
 */
export function sanitizeLogo(bytes: Uint8Array): Logo | undefined {
  if (bytes.length > LOGO_BYTES_MAX) return undefined;
  const png = sanitizePng(bytes);
  if (png !== undefined) return { type: "image/png", bytes: png };
  const svg = sanitizeSvg(Buffer.from(bytes).toString("utf8"));
  if (svg === undefined || Buffer.byteLength(svg) > LOGO_BYTES_MAX) return undefined;
  return { type: "image/svg+xml", bytes: new Uint8Array(Buffer.from(svg)) };
}
