// The payer's page. It knows nothing but what `status` answers, writes only text nodes, and speaks to no other origin.

const POLL_MS = 2_000;
const POLL_SLOW_MS = 10_000;
const COPIED_MS = 1_500;
const STEPS = ["waiting", "seen", "confirmed", "paid"];
const DEPOSIT_STATES = { seen: "seen", confirmed: "confirmed", counted: "counted", held: "on hold", dropped: "undone" };

const root = location.pathname;
const main = document.querySelector("main");
const qrImage = document.querySelector("[data-code]");
/** What the code shows: the whole payment, or the address alone. */
let qrContent = "payment";
let displayed = {};

void startCheckout();

async function startCheckout() {
  const token = location.hash.slice(1);
  if (token !== "") {
    const opened = await openSession(token);
    if (!opened) return renderStage("refused");
    // The token has done its work, and an address bar is often photographed.
    history.replaceState(null, "", root);
  }
  await pollStatus();
}

/** Opens the session with what the fragment holds: the intent's widget token, or the ticket of a page that embeds this one. */
async function openSession(credential) {
  const credentials = credential.startsWith("et_") ? { ticket: credential } : { widgetToken: credential };
  for (;;) {
    try {
      const answer = await fetch(`${root}/session`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(credentials),
      });
      if (answer.status === 204) return true;
      if (answer.status < 500 && answer.status !== 429) return false;
    } catch {
      setVisible("isOffline", true);
    }
    await sleep(POLL_MS);
  }
}

/** Asks for as long as the page is open: a finished payment may still be joined by another transfer. */
async function pollStatus() {
  for (;;) {
    if (!document.hidden) {
      const isOpen = await refreshStatus();
      if (!isOpen) return;
    }
    await sleep(main.dataset.stage === "paid" || main.dataset.stage === "closed" ? POLL_SLOW_MS : POLL_MS);
  }
}

async function refreshStatus() {
  try {
    const answer = await fetch(`${root}/status`, { cache: "no-store" });
    if (answer.status === 401) {
      renderStage("refused");
      return false;
    }
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    renderStatus(await answer.json());
    setVisible("isOffline", false);
  } catch {
    setVisible("isOffline", true);
  }
  return true;
}

function renderStatus(status) {
  const isPaid = status.stage === "paid";
  displayed = {
    ...status,
    sumLabel: isPaid ? "Paid" : "To pay",
    amount: isPaid ? status.counted : (status.price ?? "Any amount of"),
    toSend: status.remaining ?? "",
    news: describeProgress(status),
  };
  for (const element of document.querySelectorAll("[data-text]"))
    setText(element, displayed[element.dataset.text] ?? "");
  document.querySelector('[data-copy="toSend"]').closest(".field").hidden = status.remaining === null;
  document.title = isPaid ? "Paid" : `Pay ${status.merchant}`;
  setVisible("isTest", status.isTest);
  setVisible("hasDeposits", status.deposits.length > 0);
  document.querySelector("[data-deposits]").replaceChildren(...status.deposits.map(renderDeposit));
  renderStage(status.stage);
  renderQrCode();
}

function describeProgress(status) {
  const { stage, remaining, received, symbol, deposits } = status;
  const open = deposits.find((deposit) => deposit.status === "seen");
  if (stage === "waiting" && remaining !== null && received !== "0") {
    return `${received} ${symbol} arrived, ${remaining} ${symbol} are missing.`;
  }
  if (stage === "waiting") return "Waiting for your transfer …";
  if (stage === "seen" && open?.requiredConfirmations) {
    return `Transfer seen: ${Math.min(open.confirmations, open.requiredConfirmations)} of ${open.requiredConfirmations} confirmations.`;
  }
  if (stage === "seen") return "Transfer seen. Waiting until it is final …";
  if (stage === "confirmed") return "Transfer confirmed. It is being counted …";
  return "";
}

function renderDeposit(deposit) {
  const item = document.createElement("li");
  const amount = document.createElement("span");
  const state = document.createElement(deposit.explorerUrl === null ? "span" : "a");
  setText(amount, `${deposit.amount} ${deposit.symbol}`);
  setText(state, DEPOSIT_STATES[deposit.status] ?? deposit.status);
  state.className = "state";
  if (deposit.explorerUrl !== null && /^https?:\/\//.test(deposit.explorerUrl)) {
    state.href = deposit.explorerUrl;
    state.target = "_blank";
    state.rel = "noopener noreferrer";
  }
  item.append(amount, state);
  return item;
}

function renderStage(stage) {
  main.dataset.stage = stage;
  main.setAttribute("aria-busy", String(stage === "opening"));
  for (const element of document.querySelectorAll("[data-stages]")) {
    element.hidden = !element.dataset.stages.split(" ").includes(stage);
  }
  const reached = STEPS.indexOf(stage);
  for (const [index, step] of document.querySelectorAll("[data-step]").entries()) {
    step.className = index < reached ? "past" : index === reached ? "now" : "";
    if (index === reached) step.setAttribute("aria-current", "step");
    else step.removeAttribute("aria-current");
  }
}

/** The picture is asked for again only when what it stands for has changed. */
function renderQrCode() {
  const what = qrContent === "address" ? displayed.address : displayed.paymentUri;
  if (main.dataset.stage !== "waiting" || qrImage.dataset.what === what) return;
  qrImage.dataset.what = what;
  qrImage.src = `${root}/qr.svg?of=${qrContent}&for=${encodeURIComponent(displayed.toSend)}`;
}

function setVisible(name, isShown) {
  for (const element of document.querySelectorAll(`[data-when="${name}"]`)) element.hidden = !isShown;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

for (const button of document.querySelectorAll("[data-of]")) {
  button.addEventListener("click", () => {
    qrContent = button.dataset.of;
    for (const other of document.querySelectorAll("[data-of]"))
      other.setAttribute("aria-pressed", String(other === button));
    renderQrCode();
  });
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", () => void handleCopy(button));
}

async function handleCopy(button) {
  const isCopied = await copy(displayed[button.dataset.copy], button);
  setText(button, isCopied ? "Copied" : "Selected");
  await sleep(COPIED_MS);
  setText(button, "Copy");
}

/** Without access to the clipboard the text is selected, so that one key press copies it. */
async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection().selectAllChildren(button.previousElementSibling);
    return false;
  }
}

function sleep(durationMs) {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

// A module, as the page loads it: its names are its own, for those who check it too.
export {};
