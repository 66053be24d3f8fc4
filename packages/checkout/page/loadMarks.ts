import type { Marks } from "../src/situation.ts";

/**
 * Loads the marks of networks and coins after the next paint. Their paths alone are read: nothing of the file enters
 * the page as it is.
 */
export async function loadMarks(intentId: string): Promise<Marks> {
  await new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
  });
  const response = await fetch(`/c/${intentId}/marks.svg`);
  const text = response.ok ? await response.text() : "";
  return new Map(Array.from(text.matchAll(/ id="([^"]+)".* d="([^"]+)"/g), ([, id = "", path = ""]) => [id, path]));
}
