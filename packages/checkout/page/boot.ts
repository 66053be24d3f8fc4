import type { Opening, OpeningCredential } from "./session.ts";

// Runs from the document's head, before the page's script has arrived: takes the credential out of the address bar at once, and opens
// the session while everything else loads.

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

function readCredential(): OpeningCredential {
  if (code !== null) return { code };
  return fragment.startsWith("et_") ? { ticket: fragment } : { widgetToken: fragment };
}

function postSession(body: string): Promise<Response | undefined> {
  const headers = { "content-type": "application/json" };
  return fetch(`${location.pathname}/session`, { method: "POST", headers, body }).catch(() => undefined);
}

/** In a frame of another site some browsers keep no cookies, not even partitioned ones. */
function keepsCookies(): boolean {
  if (window.parent === window) return true;
  document.cookie = "tributary_probe=1; Secure; SameSite=None; Partitioned; Max-Age=60";
  return document.cookie.includes("tributary_probe=1");
}
