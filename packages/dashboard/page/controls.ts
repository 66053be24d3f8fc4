// Keys and copying, for every page.

const COPIED_MS = 2_000;

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}

/** `/` goes to the search field, Esc leaves it. */
export function listenToKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = document.querySelector<HTMLInputElement>("#q");
    if (event.key === "Escape" && event.target === field) field?.blur();
    if (isTyping(event.target) || event.key !== "/" || field === null) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}

/** Copies what a button names. Where the browser refuses the clipboard, it selects the text for the reader's own copy. */
export function listenToCopies(): void {
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-copy]") : null;
    if (button !== null) void copy(button);
  });
}

async function copy(button: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(button.dataset["copy"] ?? "");
    button.classList.add("is-done");
    setTimeout(() => button.classList.remove("is-done"), COPIED_MS);
  } catch {
    const shown = button.previousElementSibling;
    if (shown !== null) getSelection()?.selectAllChildren(shown);
  }
}
