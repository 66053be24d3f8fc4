import type { Logo } from "./logo.ts";

/** The bytes of a data: URL. They are empty when the URL is malformed, so that no image is recognized in them. */
export function decodeDataUrl(url: string): Uint8Array {
  const [, parameters = "", content = ""] = /^data:([^,]*),(.*)$/s.exec(url) ?? [];
  try {
    const isBase64 = /;base64$/i.test(parameters);
    return new Uint8Array(isBase64 ? decodeBase64(content) : Buffer.from(decodeURIComponent(content)));
  } catch {
    return new Uint8Array();
  }
}

/** Node skips characters that are not base64, so that a cut or garbled image would pass as another one. */
function decodeBase64(text: string): Buffer {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64").replace(/=+$/, "") === text.replace(/=+$/, "") ? bytes : Buffer.alloc(0);
}

export function toDataUrl({ type, bytes }: Logo): string {
  return `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;
}
