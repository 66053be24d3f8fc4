import { watchTextSigners, type TextSigner } from "./walletList.ts";

/**
 * Offers the wallets of this browser where a page has a place for them. A wallet signs a text, and the page's form carries
 * the signature. To sign in, the service is asked for the text; a change of the payout has it on the page.
 */
export function offerWallets(): void {
  const place = document.getElementById("wallets");
  const form = document.querySelector<HTMLFormElement>("#signature-form");
  if (place === null || form === null) return;
  const status = document.getElementById("wallet-status");
  const say = (text: string | undefined) => {
    if (status !== null) status.textContent = text ?? "";
  };
  watchTextSigners((wallet) => {
    say("");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn";
    button.textContent = wallet.name;
    button.addEventListener("click", () => {
      button.disabled = true;
      say(place.dataset["waiting"]);
      sign(wallet, { place, form })
        .then((problem) => say(problem))
        .catch(() => say(place.dataset["failed"]))
        .finally(() => {
          button.disabled = false;
        });
    });
    place.append(button);
  });
}

/** Returns what keeps the wallet from signing; undefined when the form is on its way. */
async function sign(
  wallet: TextSigner,
  { place, form }: { place: HTMLElement; form: HTMLFormElement },
): Promise<string | undefined> {
  const address = await wallet.connect();
  const expected = place.dataset["wallet"];
  if (expected !== undefined && expected.toLowerCase() !== address.toLowerCase()) return place.dataset["other"];
  const shown = document.getElementById("text-to-sign")?.textContent ?? undefined;
  const { nonce, text } =
    shown === undefined
      ? await askForText(address, await wallet.chainId().catch(() => ""))
      : { nonce: "", text: shown };
  const signature = await wallet.sign(address, text);
  for (const [name, value] of Object.entries({ nonce, signature })) {
    const field = form.elements.namedItem(name);
    if (field instanceof HTMLInputElement) field.value = value;
  }
  form.submit();
  return place.dataset["waiting"];
}

async function askForText(wallet: string, chainId: string): Promise<{ nonce: string; text: string }> {
  const response = await fetch("/dashboard/sign-in/challenge", {
    method: "POST",
    body: new URLSearchParams({ wallet, chainId }),
    redirect: "error",
  });
  if (!response.ok) throw new Error("no text to sign");
  return (await response.json()) as { nonce: string; text: string };
}
