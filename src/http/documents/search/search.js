// The search of the documentation. All entries are in one file of this service, which the first search loads. Without
// this script the search box stays hidden, and the index page lists the same entries.

const FOUND_MAX = 12;
const box = document.querySelector("#search");
const input = box.querySelector("input");
const list = box.querySelector("ul");
const count = box.querySelector("[role=status]");
let loading;
let active = -1;

box.hidden = false;

/** Loads the entries once. A failed load is retried with the next key press. */
function loadEntries() {
  loading ??= fetch("/docs/index.json")
    .then((response) => (response.ok ? response.json() : Promise.reject(new Error(String(response.status)))))
    .catch(() => {
      loading = undefined;
    });
  return loading;
}

/** Rates how well an entry matches; 0 when a word is missing. */
function scoreEntry(entry, words) {
  const title = entry.title.toLowerCase();
  let score = 0;
  for (const word of words) {
    if (title === word) score += 100;
    else if (title.startsWith(word)) score += 40;
    else if (title.includes(word)) score += 20;
    else if (entry.kind.toLowerCase().includes(word)) score += 8;
    else if (` ${entry.words}`.includes(` ${word}`)) score += 3;
    else if (entry.words.includes(word)) score += 1;
    else return 0;
  }
  return score;
}

/** The words of a query, without plural endings, so that both forms match. */
function queryWords(text) {
  const words = text.toLowerCase().match(/[a-z0-9_./]+/g) ?? [];
  return words.map((word) => (word.length > 4 ? word.replace(/(?:ies|y|s)$/, "") : word));
}

async function updateResults() {
  const typed = input.value;
  const words = queryWords(typed);
  if (words.length === 0) return clearResults();
  const entries = await loadEntries();
  // The user may have typed on while the entries were loading.
  if (typed !== input.value) return;
  if (entries === undefined) {
    clearResults();
    count.textContent = "The search is not available.";
    return;
  }
  const found = entries
    .map((entry) => ({ entry, score: scoreEntry(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score);
  const shown = found.slice(0, FOUND_MAX);
  list.replaceChildren(...shown.map(({ entry }, index) => createItem(entry, index)));
  list.hidden = shown.length === 0;
  input.setAttribute("aria-expanded", String(shown.length > 0));
  const more = found.length > shown.length ? `, the first ${shown.length} are shown` : "";
  count.textContent = found.length === 0 ? "Nothing found." : `${found.length} found${more}.`;
  setActive(-1);
}

function createItem({ title, kind, url }, index) {
  const item = document.createElement("li");
  item.id = `found-${index}`;
  item.setAttribute("role", "option");
  const link = document.createElement("a");
  link.href = url;
  link.tabIndex = -1;
  const name = document.createElement("strong");
  name.textContent = title;
  const what = document.createElement("span");
  what.textContent = kind;
  link.append(name, " ", what);
  item.append(link);
  return item;
}

function setActive(index) {
  active = index;
  for (const [place, item] of [...list.children].entries()) item.setAttribute("aria-selected", String(place === index));
  if (index < 0) input.removeAttribute("aria-activedescendant");
  else input.setAttribute("aria-activedescendant", `found-${index}`);
  list.children[index]?.scrollIntoView({ block: "nearest" });
}

function clearResults() {
  list.replaceChildren();
  list.hidden = true;
  input.setAttribute("aria-expanded", "false");
  count.textContent = "";
  setActive(-1);
}

input.addEventListener("focus", () => void loadEntries());
input.addEventListener("input", () => {
  void updateResults();
});
input.addEventListener("keydown", (event) => {
  const { length } = list.children;
  if (event.key === "ArrowDown" && length > 0) setActive((active + 1) % length);
  else if (event.key === "ArrowUp" && length > 0) setActive((active <= 0 ? length : active) - 1);
  else if (event.key === "Enter" && length > 0) list.children[Math.max(active, 0)].querySelector("a").click();
  else if (event.key === "Escape" && input.value !== "") {
    input.value = "";
    clearResults();
  } else if (event.key === "Escape") input.blur();
  else return;
  event.preventDefault();
});
list.addEventListener("click", (event) => {
  // A link within the page loads no new page, so the list has to be cleared here.
  if (event.target.closest("a") !== null) {
    input.value = "";
    setTimeout(clearResults);
  }
});
document.addEventListener("keydown", (event) => {
  const isTyping =
    event.target instanceof Element && event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
  event.preventDefault();
  input.focus();
  input.select();
});

// Makes this file a module, so that its names stay private.
export {};
