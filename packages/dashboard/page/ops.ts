import { patchChildren } from "@tributary/checkout/patchDom";
import type { OpsData } from "../src/ops/renderOpsDocument.ts";
import { renderOps } from "../src/ops/opsPage.ts";
import type { OpsState } from "../src/ops/opsState.ts";
import { createTranslator } from "../src/translator.ts";
import { listenToCopies, listenToKeys } from "./controls.ts";

// Follows the installation: asks for its state every few seconds and draws what changed. It also draws when nothing
// comes, because old data must not look like the present.

const EVERY_MS = 5_000;
const ANSWER_MS_MAX = 10_000;

const root = document.getElementById("root");
const block = document.getElementById("data");
if (root === null || block === null) throw new Error("the document lacks its parts");

const { state: first, locale, messages } = JSON.parse(block.textContent ?? "") as OpsData;
const t = createTranslator(locale, messages);

let state: OpsState = first;
let receivedAtMs = performance.now();
let problem: "lost" | "over" | null = null;

function draw(): void {
  const times = { locale, timeZone: undefined, now: new Date().toISOString() };
  const ageMs = state.ageMs + performance.now() - receivedAtMs;
  const everyS = problem === "over" ? null : EVERY_MS / 1_000;
  const rendered = renderOps({ t, times }, state, { ageMs, everyS, problem });
  const typed = document.querySelector<HTMLInputElement>("#q")?.value;
  if (root !== null) patchChildren(root, rendered.body);
  const field = document.querySelector<HTMLInputElement>("#q");
  if (field !== null && typed !== undefined) field.value = typed;
  document.title = rendered.title;
}

async function look(): Promise<void> {
  try {
    const response = await fetch("/ops/state", { signal: AbortSignal.timeout(ANSWER_MS_MAX), redirect: "error" });
    if (response.status === 401) problem = "over";
    else if (response.ok) {
      state = (await response.json()) as OpsState;
      receivedAtMs = performance.now();
      problem = null;
    } else problem = "lost";
  } catch {
    problem = "lost";
  }
  draw();
  if (problem !== "over") setTimeout(() => void look(), EVERY_MS);
}

listenToKeys();
listenToCopies();
draw();
setTimeout(() => void look(), EVERY_MS);
