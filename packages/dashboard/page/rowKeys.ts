import { isTyping } from "./controls.ts";

// Keys that go through a list and to the pages. One switch turns them off, for people whose voice or hand presses keys
// that they do not mean.

const SWITCH = "tributary-keys";
const ROWS = "tributary-rows";
const GO_MS = 1_500;
const PLACES: Readonly<Record<string, string>> = {
  p: "/dashboard",
  s: "/dashboard/settlements",
  w: "/dashboard/webhooks",
  e: "/dashboard/events",
};

export function listenToRowKeys(): void {
  let wentAtMs = -Infinity;
  showSwitch();
  rememberRows();
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isOff()) return;
    const isGoing = performance.now() - wentAtMs < GO_MS;
    wentAtMs = -Infinity;
    const place = isGoing ? PLACES[event.key] : undefined;
    if (place !== undefined) location.assign(place);
    else if (event.key === "g") wentAtMs = performance.now();
    else if (!press(event.key)) return;
    event.preventDefault();
  });
}

/** Whether the key does something here. */
function press(key: string): boolean {
  if (key === "j" || key === "k") return step(key === "j" ? 1 : -1);
  if (key === "e") return click("a[download]");
  if (key !== "?") return false;
  document.getElementById("keys")?.showPopover();
  return true;
}

/** To the next row of a list, or from a payment to the next one of its list. */
function step(by: 1 | -1): boolean {
  const links = rowLinks();
  if (links.length === 0) return openNext(by);
  const at = links.findIndex((link) => link === document.activeElement);
  const next = at === -1 ? (by === 1 ? 0 : links.length - 1) : Math.min(Math.max(at + by, 0), links.length - 1);
  links[next]?.focus();
  return true;
}

function openNext(by: 1 | -1): boolean {
  const paths = readRows();
  const at = paths.indexOf(location.pathname);
  const next = at === -1 ? undefined : paths[at + by];
  if (next === undefined) return false;
  location.assign(next);
  return true;
}

function click(selector: string): boolean {
  const link = document.querySelector<HTMLElement>(selector);
  link?.click();
  return link !== null;
}

function rowLinks(): HTMLAnchorElement[] {
  return [...document.querySelectorAll("tbody > tr[id]")].flatMap(
    (row) => row.querySelector<HTMLAnchorElement>("a[href]") ?? [],
  );
}

/** A payment that is opened from a list leads to its neighbours there. */
function rememberRows(): void {
  const paths = rowLinks().map(({ pathname }) => pathname);
  if (paths.some((path) => path.startsWith("/dashboard/payments/")))
    tryStorage(() => sessionStorage.setItem(ROWS, JSON.stringify(paths)));
}

function readRows(): string[] {
  const stored = tryStorage(() => JSON.parse(sessionStorage.getItem(ROWS) ?? "[]") as unknown);
  const paths: unknown[] = Array.isArray(stored) ? stored : [];
  return paths.filter((path): path is string => typeof path === "string" && path.startsWith("/dashboard/payments/"));
}

function isOff(): boolean {
  return tryStorage(() => localStorage.getItem(SWITCH)) === "off";
}

function showSwitch(): void {
  const box = document.querySelector<HTMLInputElement>("#keys-on");
  if (box === null) return;
  box.checked = !isOff();
  box.addEventListener("change", () =>
    tryStorage(() => (box.checked ? localStorage.removeItem(SWITCH) : localStorage.setItem(SWITCH, "off"))),
  );
}

/** A browser may refuse its storage. */
function tryStorage<Value>(use: () => Value): Value | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
