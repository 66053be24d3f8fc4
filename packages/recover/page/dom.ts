// The elements of the page. Values are only ever written as text.

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no ${id}`);
  return element as T;
}

export function createElement(tag: string, text = "", className = ""): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className !== "") made.className = className;
  return made;
}

export function setMessage(id: string, text: string, tone: "" | "good" | "bad" = ""): void {
  const element = byId(id);
  element.textContent = text;
  element.className = tone;
}
