const TYPING_MS = 300;

/** Shows the checkout with the looks that are being typed. Does nothing on other pages. */
export function previewLooks(): void {
  const frame = document.querySelector<HTMLIFrameElement>("#preview");
  const form = document.querySelector<HTMLInputElement>("#accent")?.form;
  if (frame === null || form === null || form === undefined) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const looks = new URLSearchParams();
      for (const [name, value] of new FormData(form))
        if (name !== "token" && typeof value === "string" && value !== "") looks.set(name, value);
      frame.src = `/dashboard/checkout/preview?${looks.toString()}`;
    }, TYPING_MS);
  });
}
