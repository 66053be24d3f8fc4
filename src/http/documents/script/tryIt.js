// The reference: one choice of a language for all calls, and forms that send a call to this service. The key stays in
// this page's memory.

const LIVE_KEY = /^trib_live_/;
const forms = document.querySelectorAll("form.try");

document.addEventListener("change", ({ target }) => {
  if (!(target instanceof HTMLInputElement) || !target.name.endsWith("-language")) return;
  for (const choice of document.querySelectorAll(`input[name$="-language"][value="${target.value}"]`))
    choice.checked = true;
});

for (const form of forms) {
  form.closest("details").hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void sendCall(form);
  });
}

/** A key typed in one form is the key of all. */
document.addEventListener("input", ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.name !== "apiKey") return;
  for (const { elements } of forms) if (elements.apiKey !== target) elements.apiKey.value = target.value;
});

async function sendCall(form) {
  const { method, path, version } = form.dataset;
  const output = form.querySelector("output");
  const button = form.querySelector("button");
  const url = new URL(
    path.replace("{id}", encodeURIComponent(form.elements["path:id"]?.value.trim() ?? "")),
    location.origin,
  );
  const apiKey = form.elements.apiKey.value.trim();
  const headers = { authorization: `Bearer ${apiKey}`, "service-version": version };
  for (const { name, value } of form.elements) {
    const [kind, field] = name.split(":");
    if (kind === "query" && value !== "") url.searchParams.set(field, value);
    if (kind === "header" && value !== "") headers[field] = value;
  }
  const body = form.elements.body?.value;
  if (body !== undefined) headers["content-type"] = "application/json";
  button.disabled = true;
  output.textContent = "Sending…";
  try {
    const startedAt = performance.now();
    const response = await fetch(url, {
      method,
      headers,
      body,
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
    });
    const text = await response.text();
    const took = Math.round(performance.now() - startedAt);
    const facts = [`${response.status} ${response.statusText}`.trim(), `${took} ms`];
    const left = response.headers.get("ratelimit-remaining");
    if (left !== null) facts.push(`${left} calls left this minute`);
    if (LIVE_KEY.test(apiKey)) facts.push("live key: this was a real call");
    showAnswer(output, facts.join(" · "), formatJson(text));
  } catch (error) {
    showAnswer(output, "No answer", String(error));
  } finally {
    button.disabled = false;
  }
}

function showAnswer(output, facts, text) {
  const line = document.createElement("p");
  line.className = "kind";
  line.textContent = facts;
  const block = document.createElement("pre");
  block.tabIndex = 0;
  block.textContent = text;
  output.replaceChildren(line, block);
}

function formatJson(text) {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

// Makes this file a module, so that its names stay private.
export {};
