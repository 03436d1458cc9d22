// Buttons, menus and forms: what their data attributes say is sent when they are used.

import { awaitReply } from "./lists.js";
import { act, me, say, toast } from "./server.js";

const confirmBox = document.querySelector("[data-confirm]");
const modal = document.querySelector("[data-modal]");

function state(within) {
  const found = {};
  for (const input of within.querySelectorAll("[data-input]"))
    (found[input.dataset.block] ??= {})[input.dataset.action] = input.value || null;
  return found;
}

// What holds an element: a message or a view, as the server knows it.
function source(element) {
  const view = element.closest("[data-view]");
  if (view) return [view, { view: view.dataset.view }];
  const message = element.closest("article");
  return [message, { channel: message.dataset.channel, ts: message.dataset.ts }];
}

async function use(element, given) {
  if (element.getAttribute("aria-busy") === "true" || !(await sure(element))) return;
  const [holder, place] = source(element);
  awaitReply(element);
  element.setAttribute("aria-busy", "true");
  try {
    const { block, action } = element.dataset;
    await act("press", { ...place, block, action, value: given, state: state(holder) });
  } catch (error) {
    toast(error.message);
  } finally {
    element.removeAttribute("aria-busy");
  }
}

function sure(element) {
  const asked = element.dataset;
  if (!asked.confirmTitle) return true;
  const part = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text, ...more });
  const form = part("form", "", { method: "dialog" });
  const foot = document.createElement("footer");
  foot.append(
    part("button", asked.confirmDeny, { value: "no", className: "button" }),
    part("button", asked.confirmConfirm, { value: "yes", className: `button ${asked.confirmStyle}` }),
  );
  const head = document.createElement("header");
  head.append(part("h2", asked.confirmTitle, { id: "confirm-title" }));
  form.append(head, part("p", asked.confirmText, { className: "blocks" }), foot);
  confirmBox.replaceChildren(form);
  confirmBox.returnValue = "";
  confirmBox.showModal();
  return new Promise((done) => {
    confirmBox.addEventListener("close", () => done(confirmBox.returnValue === "yes"), { once: true });
  });
}

function clicked(event) {
  const button = event.target.closest("[data-press]");
  if (button) {
    event.preventDefault();
    if (button.dataset.url) window.open(button.dataset.url, "_blank", "noreferrer,noopener");
    use(button, button.dataset.value ?? null);
  } else if (event.target.closest("[data-dismiss]")) dismiss();
}

function changed(event) {
  const input = event.target.closest("[data-choose]");
  if (input?.value) use(input, input.value);
}

// Modals

let shown = null;
let dismissed = null; // the id of the last: what comes before the server has heard of it still shows that view

export function showModal(view) {
  if (!view || view.id === dismissed) {
    shown = null;
    if (modal.open) modal.close();
    return;
  }
  if (shown?.id === view.id && shown.hash === view.hash) return;
  const kept = shown?.id === view.id ? state(modal) : {};
  modal.innerHTML = view.html; // rendered and escaped by our server
  shown = view;
  fill(modal, kept);
  if (!modal.open) modal.showModal();
  const first = modal.querySelector("[data-focus]") ?? modal.querySelector("[data-input]") ?? modal.querySelector("button");
  first?.focus();
}

// A view that changes keeps what was typed in the inputs that stay.
function fill(within, kept) {
  for (const input of within.querySelectorAll("[data-input]")) {
    const was = kept[input.dataset.block]?.[input.dataset.action];
    if (was !== undefined) input.value = was ?? "";
  }
}

async function dismiss() {
  if (!shown) return;
  dismissed = shown.id;
  shown = null;
  modal.close();
  try {
    await act("close", { view: dismissed });
  } catch (error) {
    toast(error.message);
  }
}

async function submitted(event) {
  event.preventDefault();
  const form = event.target;
  const button = form.querySelector("[type=submit]");
  if (button?.getAttribute("aria-busy") === "true") return;
  button?.setAttribute("aria-busy", "true");
  try {
    const done = await act("submit", { view: form.dataset.view, state: state(form) });
    showErrors(form, done.errors ?? {});
  } catch (error) {
    toast(error.message);
  } finally {
    button?.removeAttribute("aria-busy");
  }
}

function showErrors(form, errors) {
  for (const block of form.querySelectorAll(".block.input")) {
    const text = errors[block.dataset.blockId];
    const line = block.querySelector(".error");
    const input = block.querySelector("[data-input]");
    line.textContent = text ?? "";
    line.hidden = !text;
    if (!input) continue;
    if (text) {
      input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-describedby", line.id);
    } else {
      input.removeAttribute("aria-invalid");
      input.removeAttribute("aria-describedby");
    }
  }
  form.querySelector("[aria-invalid]")?.focus();
}

document.addEventListener("click", clicked);
document.addEventListener("change", changed);
modal.addEventListener("submit", submitted);
modal.addEventListener("cancel", (event) => {
  event.preventDefault();
  dismiss();
});
