/**
 * The SDK's own dialog: its button closes it also when the frame does not answer. A shadow root keeps the shop's styles
 * out.
 */
export type Modal = {
  readonly box: HTMLDialogElement;
  /** Texts in the language of the frame. */
  label(labels: { readonly title: string; readonly close: string; readonly dir: string }): void;
  remove(): void;
};

/** Beside what browsers give every modal dialog: its fixed place, and the colours of its scheme. */
const CSS = `dialog{box-sizing:border-box;inset:40px 0 0;margin:0;padding:0 0 env(safe-area-inset-bottom);width:auto;height:auto;max-width:none;max-height:none;border:0;border-radius:16px 16px 0 0;overflow:hidden}
dialog::backdrop{background:#0009}
iframe{display:block;border:0;width:100%;height:100%}
button{position:absolute;z-index:1;top:0;inset-inline-end:8px;width:48px;height:48px;border:0;background:none;color:inherit;font:28px sans-serif}
button:focus-visible{outline:3px solid;outline-offset:-3px}
@media(min-width:600px){dialog{inset:0;margin:auto;width:min(976px,100% - 48px);height:min(800px,100% - 48px);border-radius:16px}}`;

/** Opens the dialog with `frame` in it. The page behind is inert and does not scroll; a press on it does not close. */
export function openModal(frame: HTMLIFrameElement, theme: string | undefined, onClosed: () => void): Modal {
  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(CSS);
  root.adoptedStyleSheets = [sheet];
  const box = document.createElement("dialog");
  const button = document.createElement("button");
  button.textContent = "×";
  box.style.colorScheme = theme ?? "light dark";
  const label: Modal["label"] = ({ title, close, dir }) => {
    box.dir = dir;
    box.ariaLabel = frame.title = title;
    button.ariaLabel = close;
  };
  label({ title: "Payment", close: "Close", dir: "auto" });
  button.onclick = () => box.close();
  box.onclose = onClosed;
  box.append(button, frame);
  root.append(box);
  document.body.append(host);
  const { style, clientWidth } = document.documentElement;
  const { overflow, paddingInlineEnd } = style;
  // The page keeps its width without its scroll bar.
  style.paddingInlineEnd = `${innerWidth - clientWidth}px`;
  style.overflow = "hidden";
  box.showModal();
  return {
    box,
    label,
    remove() {
      box.onclose = null;
      // Gives the focus back.
      box.close();
      host.remove();
      Object.assign(style, { overflow, paddingInlineEnd });
    },
  };
}
