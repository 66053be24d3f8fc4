// A button on each block of code that copies it. Without this script there is no button.

const COPIED_MS = 1_500;

for (const block of document.querySelectorAll("pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", () => void copyBlock(block, button));
  const frame = document.createElement("div");
  frame.className = "code";
  if (block.dataset.language !== undefined) frame.dataset.language = block.dataset.language;
  block.replaceWith(frame);
  frame.append(block, button);
}

async function copyBlock(block, button) {
  try {
    await navigator.clipboard.writeText(block.textContent);
    button.textContent = "Copied";
  } catch {
    // Without https the browser has no clipboard: the selected text is one key press away.
    getSelection().selectAllChildren(block);
    button.textContent = "Press Ctrl+C";
  }
  setTimeout(() => (button.textContent = "Copy"), COPIED_MS);
}

// Makes this file a module, so that its names stay private.
export {};
