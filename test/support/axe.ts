import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";

const AXE = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
/** Fewer would mean that axe looked at an empty page. */
const RULES_MIN = 5;

type Violation = { id: string; nodes: { html: string; failureSummary: string }[] };

/** Fails for a violation in the page or in one of its frames. */
export async function assertAccessible(page: Page): Promise<void> {
  for (const frame of page.frames()) {
    await frame.evaluate(AXE);
    const { violations, passes } = await frame.evaluate<{ violations: Violation[]; passes: unknown[] }>(
      "axe.run(document, { iframes: false })",
    );
    assert.ok(passes.length >= RULES_MIN, `only ${passes.length} rules found something to test`);
    const found = violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`).join("\n")}`,
    );
    assert.deepEqual(found, [], frame.url());
  }
}
