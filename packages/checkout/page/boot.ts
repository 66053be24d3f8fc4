import type { Opening, OpeningCredential } from "./session.ts";

// Runs from the document's head, before the page's script has arrived: takes the credential out of the address bar at
// once, and opens the session while everything else loads.

/** A page that nothing has drawn by then says so. */
const SLOW_MS = 10_000;
const SLOW_AGAIN_MS = 1_000;

const address = location.href;
const fragment = location.hash.slice(1);
const query = new URLSearchParams(location.search);
const code = query.get("handoff");

if (fragment !== "" || code !== null) {
  query.delete("handoff");
  const rest = query.toString();
  history.replaceState(null, "", location.pathname + (rest === "" ? "" : `?${rest}`));
  const credential = readCredential();
  const storage = keepsCookies() ? "cookie" : "memory";
  const body = JSON.stringify({ ...credential, storage, wantsState: true });
  const opening: Opening = { isHandoff: code !== null, body, response: postSession(body) };
  Object.assign(window, { tributaryOpening: opening });
}
warmStorage();

setTimeout(showSlow, SLOW_MS);

/** The document itself may come slowly. The script takes the note away once it has drawn the payment. */
function showSlow(): void {
  const note = document.getElementById("slow");
  const button = note?.querySelector("button");
  if (document.readyState === "loading" && !button) setTimeout(showSlow, SLOW_AGAIN_MS);
  if (!note || !button) return;
  note.hidden = false;
  button.onclick = () => {
    // With the credential: the browser may not have a session yet.
    history.replaceState(null, "", address);
    location.reload();
  };
}

/** The first use waits for the browser's own process: now, while the page waits for the network all the same. */
function warmStorage(): void {
  try {
    sessionStorage.getItem("");
  } catch {
    // A frame may have no storage.
  }
}

function readCredential(): OpeningCredential {
  if (code !== null) return { code };
  return fragment.startsWith("et_") ? { ticket: fragment } : { widgetToken: fragment };
}

function postSession(body: string): Promise<Response | undefined> {
  const headers = { "content-type": "application/json" };
  return fetch(`${location.pathname}/session`, { method: "POST", headers, body }).catch(() => undefined);
}

/** Some browsers keep none at all, others none in a frame of another site, not even partitioned ones. */
function keepsCookies(): boolean {
  if (window.parent === window) return navigator.cookieEnabled;
  document.cookie = "tributary_probe=1; Secure; SameSite=None; Partitioned; Max-Age=60";
  return document.cookie.includes("tributary_probe=1");
}
