// Lists of messages, kept in step with what the server told without touching what stayed the same.

import { language, me, say } from "./server.js";

const CLOSE_BY = 300; // seconds within which one person's messages stand together
const locale = language === "zh" ? "zh-CN" : "en-GB";
const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const whole = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "medium" });
const dayName = new Intl.DateTimeFormat(locale, { weekday: "long", month: "long", day: "numeric" });

const day = (ts) => new Date(ts * 1000).toDateString();

function dayTitle(ts) {
  const now = new Date();
  if (day(ts) === now.toDateString()) return say("today");
  now.setDate(now.getDate() - 1);
  return day(ts) === now.toDateString() ? say("yesterday") : dayName.format(ts * 1000);
}

function parsed(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html; // rendered and escaped by our server; the page's policy lets nothing in it run
  return holder.content.firstElementChild;
}

export function localTimes(within) {
  for (const time of within.querySelectorAll("time[data-ts]")) {
    time.textContent = clock.format(time.dataset.ts * 1000);
    time.title = whole.format(time.dataset.ts * 1000);
  }
}

function divider(ts) {
  const line = document.createElement("div");
  line.className = "day";
  line.append(Object.assign(document.createElement("span"), { textContent: dayTitle(ts) }));
  return line;
}

// What a person was about to do in a message is not taken away when the message changes.
function replaced(old, made) {
  const used = old.contains(document.activeElement) ? document.activeElement : null;
  const way = used && used !== old && path(used, old);
  made.tabIndex = old.tabIndex;
  old.replaceWith(made);
  if (used) (way ? made.querySelector(way) ?? made : made).focus({ preventScroll: true });
  return made;
}

function path(node, root) {
  const names = ["data-action", "data-value", "data-source", "href"].filter((name) => node.hasAttribute(name));
  const marks = names.map((name) => `[${name}=${CSS.escape(node.getAttribute(name))}]`);
  return marks.length && root.contains(node) ? node.localName + marks.join("") : "";
}

// Shows the items, in order, in the list. Keeps to the end if the reader was there.
export function show(list, items, { follow = true, empty = "" } = {}) {
  const shown = list.items ?? new Map();
  const fresh = list.fresh ?? true;
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
  const wanted = [];
  let before = null;
  for (const item of items) {
    const newDay = !before || day(before.ts) !== day(item.ts);
    if (newDay) wanted.push([`day ${day(item.ts)}`, null, item]);
    const joins = !newDay && !item.private && before.user === item.user && !before.private && item.ts - before.ts < CLOSE_BY;
    wanted.push([item.ts, item, joins]);
    before = item;
  }
  const keep = new Map();
  let place = list.firstElementChild;
  let grew = false;
  for (const [key, item, extra] of wanted) {
    let known = shown.get(key);
    if (!known) {
      known = { node: item ? parsed(item.html) : divider(extra.ts), html: item?.html };
      localTimes(known.node);
      grew ||= Boolean(item);
    } else if (item && known.html !== item.html) {
      const next = replaced(known.node, parsed(item.html));
      if (place === known.node) place = next;
      known = { node: next, html: item.html };
      localTimes(next);
    }
    if (item) known.node.classList.toggle("joined", extra);
    keep.set(key, known);
    if (place === known.node) place = place.nextElementSibling;
    else list.insertBefore(known.node, place);
  }
  while (place) {
    const next = place.nextElementSibling;
    place.remove();
    place = next;
  }
  list.items = keep;
  list.fresh = false;
  if (!items.length && empty) list.append(Object.assign(document.createElement("p"), { className: "empty", textContent: empty }));
  const articles = list.querySelectorAll("article");
  if (articles.length && !list.querySelector('article[tabindex="0"]')) articles[articles.length - 1].tabIndex = 0;
  const mine = grew && items.at(-1)?.user === me.user;
  const awaited = grew && list.awaits && !mine;
  if (awaited) list.awaits = false;
  const follows = fresh ? follow : atEnd || mine || awaited;
  if (follows) toEnd(list);
  return grew && !fresh && !follows;
}

// Whoever writes or presses something sees what comes of it: the next message of somebody else's comes into view.
export function awaitReply(element) {
  const list = element.closest(".main, .panel")?.querySelector(".log");
  if (list) list.awaits = true;
}

export function clear(list) {
  list.replaceChildren();
  list.items = new Map();
  list.fresh = true;
  list.awaits = false;
}

// The end of a list is where its last message can be read from its beginning.
export function toEnd(list) {
  const last = list.querySelector("article:last-of-type");
  if (!last) return;
  const tall = last.offsetHeight > list.clientHeight && !last.classList.contains("streaming");
  list.scrollTop = tall ? last.offsetTop - 12 : list.scrollHeight;
}

// Arrows go from message to message; Home and End to the first and the last.
export function walk(event) {
  const list = event.currentTarget;
  const from = event.target.closest("article");
  if (event.target !== from && event.target !== list) return;
  const all = [...list.querySelectorAll("article")];
  const at = all.indexOf(from);
  const steps = { ArrowUp: Math.max(0, at - 1), ArrowDown: Math.min(all.length - 1, at + 1), Home: 0, End: all.length - 1 };
  const next = all[at < 0 && event.key === "ArrowUp" ? all.length - 1 : steps[event.key]];
  if (!next) return;
  event.preventDefault();
  for (const each of all) each.tabIndex = each === next ? 0 : -1;
  next.focus();
}
