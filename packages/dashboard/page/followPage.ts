import { patchChildren } from "@tributary/checkout/patchDom";
import type { VNode } from "@tributary/checkout/vnode";
import { keepRows } from "./keepRows.ts";

// Keeps an open page up to date: asks for its elements every few seconds while somebody can see it, and changes what
// differs. A session that has ended gets nothing more, from the next question on.

const EVERY_MS = 5_000;
const ANSWER_MS_MAX = 10_000;

type Drawing = { readonly title: string; readonly body: readonly VNode[] };

/** Does nothing where there is nothing to follow. `onDrawn` runs after each change of the page. */
export function followPage(onDrawn: () => void): void {
  const root = document.getElementById("root");
  if (root === null || document.getElementById("follow") === null) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLooking = false;

  async function look(place: Element): Promise<void> {
    if (isLooking || document.hidden) return;
    isLooking = true;
    clearTimeout(timer);
    let isOver = false;
    try {
      const response = await fetch(location.href, {
        headers: { accept: "application/json" },
        redirect: "error",
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      });
      if (response.status === 401) {
        isOver = true;
        location.reload();
      } else if (response.ok) {
        const { title, body } = (await response.json()) as Drawing;
        patchChildren(
          place,
          body.map((node) => keepRows(node, document)),
        );
        document.title = title;
        onDrawn();
      } else showLost();
    } catch {
      showLost();
    }
    isLooking = false;
    if (!isOver) timer = setTimeout(() => void look(place), EVERY_MS);
  }

  document.addEventListener("visibilitychange", () => void look(root));
  timer = setTimeout(() => void look(root), EVERY_MS);
}

function showLost(): void {
  const line = document.getElementById("follow");
  if (line !== null) line.textContent = line.dataset["lost"] ?? "";
}
