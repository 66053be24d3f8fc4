// The checkout page. It shows only what `status` returns, writes only text nodes, and connects to no other origin.

const POLL_MS = 2_000;
const POLL_SLOW_MS = 10_000;
const COPIED_MS = 1_500;
const STEPS = ["waiting", "seen", "confirmed", "paid"];
const DEPOSIT_STATES = { seen: "seen", confirmed: "confirmed", counted: "counted", held: "on hold", dropped: "undone" };

const root = location.pathname;
const main = document.querySelector("main");
const qrImage = document.querySelector("[data-code]");
/** The content of the QR code: "payment" for the payment URI, or "address". */
let qrContent = "payment";
let displayed = {};

void startCheckout();

async function startCheckout() {
  const token = location.hash.slice(1);
  if (token !== "") {
    const opened = await openSession(token);
    if (!opened) return renderStage("refused");
    // The token is no longer needed, and address bars appear in screenshots.
    history.replaceState(null, "", root);
  }
  await pollStatus();
}

/** Opens the session with the credential in the URL fragment: the intent's widget token, or the ticket of an embedding page. */
async function openSession(credential) {
  const credentials = credential.startsWith("et_") ? { ticket: credential } : { widgetToken: credential };
  for (;;) {
    try {
      const response = await fetch(`${root}/session`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(credentials),
      });
      if (response.status === 204) return true;
      if (response.status < 500 && response.status !== 429) return false;
    } catch {
      setVisible("isOffline", true);
    }
    await sleep(POLL_MS);
  }
}

/** Polls while the page is open, because another transfer may follow a finished payment. */
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
    const response = await fetch(`${root}/status`, { cache: "no-store" });
    if (response.status === 401) {
      renderStage("refused");
      return false;
    }
    if (!response.ok) throw new Error(`status ${response.status}`);
    renderStatus(await response.json());
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

/** Loads the image again only when its content has changed. */
function renderQrCode() {
  const content = qrContent === "address" ? displayed.address : displayed.paymentUri;
  if (main.dataset.stage !== "waiting" || qrImage.dataset.content === content) return;
  qrImage.dataset.content = content;
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

/** Copies a text. Without clipboard access it selects the text, so that one key press copies it. */
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

// Makes this file a module, so that its names stay private.
export {};
