// The payer's page. It knows nothing but what `status` answers, writes only text nodes, and speaks to no other origin.

const POLL_MS = 2_000;
const POLL_SLOW_MS = 10_000;
const COPIED_MS = 1_500;
const STEPS = ["waiting", "seen", "confirmed", "paid"];
const DEPOSIT_STATES = { seen: "seen", confirmed: "confirmed", counted: "counted", held: "on hold", dropped: "undone" };

const root = location.pathname;
const main = document.querySelector("main");
const code = document.querySelector("[data-code]");
/** What the code shows: the whole payment, or the address alone. */
let codeOf = "payment";
let shown = {};

void start();

async function start() {
  const token = location.hash.slice(1);
  if (token !== "") {
    const opened = await open(token);
    if (!opened) return showStage("refused");
    // The token has done its work, and an address bar is often photographed.
    history.replaceState(null, "", root);
  }
  await follow();
}

/** Opens the session with what the fragment holds: the intent's widget token, or the ticket of a page that embeds this one. */
async function open(credential) {
  const held = credential.startsWith("et_") ? { ticket: credential } : { widgetToken: credential };
  for (;;) {
    try {
      const answer = await fetch(`${root}/session`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(held),
      });
      if (answer.status === 204) return true;
      if (answer.status < 500 && answer.status !== 429) return false;
    } catch {
      showWhen("isOffline", true);
    }
    await wait(POLL_MS);
  }
}

/** Asks for as long as the page is open: a finished payment may still be joined by another transfer. */
async function follow() {
  for (;;) {
    if (!document.hidden) {
      const isOpen = await look();
      if (!isOpen) return;
    }
    await wait(main.dataset.stage === "paid" || main.dataset.stage === "closed" ? POLL_SLOW_MS : POLL_MS);
  }
}

async function look() {
  try {
    const answer = await fetch(`${root}/status`, { cache: "no-store" });
    if (answer.status === 401) {
      showStage("refused");
      return false;
    }
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    show(await answer.json());
    showWhen("isOffline", false);
  } catch {
    showWhen("isOffline", true);
  }
  return true;
}

function show(status) {
  const hasPaid = status.stage === "paid";
  shown = {
    ...status,
    sumLabel: hasPaid ? "Paid" : "To pay",
    amount: hasPaid ? status.counted : (status.price ?? "Any amount of"),
    toSend: status.remaining ?? "",
    news: newsOf(status),
  };
  for (const element of document.querySelectorAll("[data-text]")) setText(element, shown[element.dataset.text] ?? "");
  document.querySelector('[data-copy="toSend"]').closest(".field").hidden = status.remaining === null;
  document.title = hasPaid ? "Paid" : `Pay ${status.merchant}`;
  showWhen("isTest", status.isTest);
  showWhen("hasDeposits", status.deposits.length > 0);
  document.querySelector("[data-deposits]").replaceChildren(...status.deposits.map(depositItem));
  showStage(status.stage);
  showCode();
}

function newsOf(status) {
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

function depositItem(deposit) {
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

function showStage(stage) {
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
function showCode() {
  const what = codeOf === "address" ? shown.address : shown.paymentUri;
  if (main.dataset.stage !== "waiting" || code.dataset.what === what) return;
  code.dataset.what = what;
  code.src = `${root}/qr.svg?of=${codeOf}&for=${encodeURIComponent(shown.toSend)}`;
}

function showWhen(name, isShown) {
  for (const element of document.querySelectorAll(`[data-when="${name}"]`)) element.hidden = !isShown;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

for (const button of document.querySelectorAll("[data-of]")) {
  button.addEventListener("click", () => {
    codeOf = button.dataset.of;
    for (const other of document.querySelectorAll("[data-of]"))
      other.setAttribute("aria-pressed", String(other === button));
    showCode();
  });
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", () => void answerCopy(button));
}

async function answerCopy(button) {
  const isCopied = await copy(shown[button.dataset.copy], button);
  setText(button, isCopied ? "Copied" : "Selected");
  await wait(COPIED_MS);
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

function wait(durationMs) {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

// A module, as the page loads it: its names are its own, for those who check it too.
export {};
