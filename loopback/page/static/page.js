// The page: what is known of the workspace, and which part of it the address after # shows.
//   #C0ZH  a channel · #C0ZH/t/TS  a thread beside it · …/file/ID  a file instead of the thread · #home · #/  the list

import { Composer } from "./composer.js";
import { showModal } from "./forms.js";
import { awaitReply, clear, show, toEnd, walk } from "./lists.js";
import { act, become, bot, language, listen, me, raw, read, say, speak, toast } from "./server.js";

const find = (name) => document.querySelector(`[data-${name}]`);
const logs = { main: document.querySelector('[data-log="main"]'), thread: document.querySelector('[data-log="thread"]') };
const known = { channels: [], items: new Map(), home: null, connected: false, away: false, ready: false };
const seen = new Map(); // channel -> ts of the last message that was looked at
let route = {};
let stop = () => {};

const composers = {
  main: new Composer(find('composer="main"'), () => route.channel && { channel: route.channel.id, lacks: !route.channel.bot }, names),
  thread: new Composer(find('composer="thread"'), () => route.thread && { channel: route.channel.id, thread: route.thread }, names),
};

function names() {
  return known.channels.filter((each) => each.kind !== "im").map((each) => each.name);
}

// What is shown

function parse() {
  const [place, ...rest] = decodeURIComponent(location.hash.slice(1)).split("/");
  const direct = known.channels.find((each) => each.kind === "im");
  const channel = place === "home" ? direct : known.channels.find((each) => each.id === place);
  const after = (name) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : null);
  if (place === "" && rest.length) return { list: true, channel: known.channels[0] };
  return { channel: channel ?? known.channels[0], home: place === "home", thread: after("t"), file: after("file") };
}

const inChannel = (channel) =>
  [...known.items.values()].filter((each) => each.channel === channel).sort((a, b) => a.ts - b.ts);

function draw() {
  if (!known.ready) return;
  const before = route;
  route = parse();
  const moved = before.channel?.id !== route.channel?.id || before.home !== route.home;
  drawRooms();
  drawMain(moved);
  drawPanel(before, moved);
  document.body.dataset.screen = route.list ? "list" : route.thread || route.file ? "panel" : "main";
}

function drawRooms() {
  const rooms = find("rooms");
  const current = document.activeElement?.closest("[data-rooms] a")?.getAttribute("href");
  rooms.replaceChildren(
    group(say("channels"), known.channels.filter((each) => each.kind !== "im").map(room)),
    group(say("apps"), known.channels.filter((each) => each.kind === "im").map(room)),
  );
  if (current) rooms.querySelector(`a[href="${CSS.escape(current)}"]`)?.focus();
}

function group(title, rows) {
  const made = document.createElement("section");
  made.append(Object.assign(document.createElement("h2"), { textContent: title }), ...rows);
  return made;
}

function room(channel) {
  const link = Object.assign(document.createElement("a"), { href: `#${channel.id}` });
  const sign = document.createElement("span");
  sign.className = channel.kind === "im" ? "avatar app" : "sign";
  sign.textContent = channel.kind === "im" ? "" : channel.kind === "group" ? "🔒" : "#";
  sign.ariaHidden = "true";
  link.append(sign, Object.assign(document.createElement("span"), { className: "name", textContent: channel.name }));
  if (channel.kind === "im") {
    const dot = Object.assign(document.createElement("span"), { className: online() ? "dot on" : "dot" });
    dot.title = say(online() ? "online" : "offline");
    dot.append(Object.assign(document.createElement("span"), { className: "unseen", textContent: dot.title }));
    link.append(dot);
  }
  if (channel.id === route.channel?.id) link.setAttribute("aria-current", "page");
  else if (seen.has(channel.id) && last(channel.id) > seen.get(channel.id)) link.classList.add("unread");
  return link;
}

const online = () => known.connected && !known.away;
const last = (channel) => Math.max(0, ...inChannel(channel).map((each) => Number(each.ts)));

function drawMain(moved) {
  const { channel, home } = route;
  const direct = channel.kind === "im";
  find("title").textContent = (direct ? "" : "# ") + channel.name;
  document.title = `${channel.name} · vllm-digest`;
  const members = channel.members === 1 ? say("member") : say("members", { count: channel.members });
  const about = direct ? say(online() ? "online" : "offline") : members;
  find("about").textContent = channel.bot || direct ? about : `${about} · ${say("no_bot")}`;
  find("tabs").hidden = !direct;
  if (direct)
    find("tabs").replaceChildren(tab(`#${channel.id}`, say("messages"), !home), tab("#home", say("home"), home));
  logs.main.hidden = home;
  if (home) find("below").hidden = true;
  find("home").hidden = !home;
  find('composer="main"').hidden = home;
  drawPrompts(channel);
  if (direct && moved) openTab(home ? "home" : "messages");
  if (moved) clear(logs.main);
  if (home) return drawHome();
  const shown = inChannel(channel.id).filter((each) => !each.thread);
  const empty = say(direct ? "empty_direct" : "empty");
  const below = show(logs.main, shown, { empty });
  logs.main.setAttribute("aria-label", channel.name);
  find("below").hidden = !below && (find("below").hidden || moved);
  if (!route.list) seen.set(channel.id, last(channel.id));
  composers.main.turn(channel.id, say("say_in", { channel: (direct ? "" : "#") + channel.name }));
}

function tab(href, text, current) {
  const made = Object.assign(document.createElement("a"), { href, textContent: text });
  if (current) made.setAttribute("aria-current", "page");
  return made;
}

function drawHome() {
  const place = find("home");
  const hash = known.home?.hash ?? "";
  if (place.dataset.hash === hash && place.firstChild) return;
  place.dataset.hash = hash;
  if (known.home) place.innerHTML = known.home.html; // rendered and escaped by our server
  else place.replaceChildren(Object.assign(document.createElement("p"), { className: "empty", textContent: say("no_home") }));
}

// The panel at the side: a thread, or a file instead of it

async function drawPanel(before, moved) {
  const { channel, thread, file } = route;
  const panel = find("panel");
  panel.hidden = !(thread || file);
  panel.classList.toggle("reading", Boolean(file));
  const other = moved || before.thread !== thread || before.file !== file;
  if (panel.hidden) {
    if (other && (before.thread || before.file)) leavePanel(before);
    return;
  }
  for (const part of [logs.thread, find('composer="thread"')]) part.hidden = Boolean(file);
  find("detail").hidden = !file;
  const back = find("leave");
  back.href = `#${channel.id}${file && thread ? `/t/${thread}` : ""}`;
  back.textContent = file && thread ? "←" : "✕";
  back.setAttribute("aria-label", say(file && thread ? "back" : "close"));
  if (file) {
    find("status").hidden = true;
    if (other) await drawFile(file);
  } else {
    find("panel-title").textContent = say("thread");
    find("panel-about").textContent = `# ${channel.name}`;
    find("panel-links").replaceChildren();
    if (moved || before.thread !== thread) clear(logs.thread);
    show(logs.thread, inChannel(channel.id).filter((each) => each.thread === thread || each.ts === thread), { follow: false });
    drawStatus(channel.working.includes(thread));
    composers.thread.turn(`${channel.id}/${thread}`, say("say_thread"));
  }
  if (other && before.channel) find("panel-title").focus({ preventScroll: true });
}

// That the bot is answering in the thread, with the button that stops it.
function drawStatus(working) {
  const status = find("status");
  if (status.hidden !== working) return;
  status.hidden = !working;
  const stop = Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: say("stop") });
  stop.onclick = () => act("stop", { channel: route.channel.id, thread: route.thread }).catch((error) => toast(error.message));
  status.replaceChildren(...(working ? [say("working", { bot }), stop] : []));
}

// What the app suggests to ask it directly: pressed, it is said.
function drawPrompts(channel) {
  const place = find("prompts");
  const key = channel.kind === "im" && !route.home ? JSON.stringify(channel.prompts) : "[]";
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  place.hidden = key === "[]";
  place.replaceChildren(...JSON.parse(key).map(({ title, message }) => {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: title, title: message });
    button.onclick = () => composers.main.try_("say", { channel: route.channel.id, text: message }, message);
    return button;
  }));
}

async function drawFile(id) {
  const detail = find("detail");
  detail.replaceChildren();
  try {
    const file = await read(`files/${id}`);
    if (route.file !== id) return;
    find("panel-title").textContent = file.title;
    find("panel-about").textContent = "";
    const link = Object.assign(document.createElement("a"), { className: "button", href: raw(id), textContent: say("download") });
    link.download = file.name;
    find("panel-links").replaceChildren(link);
    if (file.html) detail.innerHTML = file.html; // cleaned by our server
    else detail.append(Object.assign(document.createElement("pre"), { textContent: file.text }));
    detail.scrollTop = 0;
  } catch (error) {
    toast(error.message);
  }
}

// Who closes a thread goes on where it was opened.
function leavePanel(before) {
  const opened = logs.main.querySelector(`article[data-ts="${CSS.escape(before.thread ?? "")}"]`);
  (opened ?? logs.main).focus({ preventScroll: true });
}

// A message's JSON

async function showSource(button) {
  const message = button.closest("article");
  const box = find("json");
  try {
    const { json } = await read("source", { channel: message.dataset.channel, ts: message.dataset.ts });
    const part = (name, more) => Object.assign(document.createElement(name), more);
    const head = part("header", {});
    head.append(part("h2", { id: "json-title", textContent: say("source") }));
    const code = part("pre", { textContent: json, tabIndex: 0 });
    const foot = part("footer", {});
    const copy = part("button", { type: "button", className: "button", textContent: say("copy") });
    copy.onclick = async () => {
      await navigator.clipboard.writeText(json);
      copy.textContent = say("copied");
    };
    foot.append(copy);
    foot.append(part("button", { className: "button primary", textContent: say("close") }));
    const form = part("form", { method: "dialog" });
    form.append(head, code, foot);
    box.replaceChildren(form);
    box.showModal();
  } catch (error) {
    toast(error.message);
  }
}

// The app's shortcut on a message

async function useShortcut(button) {
  const { channel, ts } = button.closest("article").dataset;
  awaitReply(button);
  try {
    await act("shortcut", { channel, ts, shortcut: button.dataset.shortcut });
  } catch (error) {
    toast(error.message);
  }
}

// News

function told(news) {
  if (news.all) known.items.clear();
  for (const [key, item] of Object.entries(news.items)) known.items.set(key, item);
  for (const key of news.gone) known.items.delete(key);
  Object.assign(known, { channels: news.channels, home: news.home, connected: news.connected, ready: true });
  if (news.all) for (const each of known.channels) if (!seen.has(each.id)) seen.set(each.id, last(each.id));
  if (known.channels.length) draw();
  showModal(news.modal);
  document.documentElement.dataset.ready = "true";
}

function lost(away) {
  find("lost").hidden = !away;
  find("lost").textContent = away ? say("lost") : "";
  if (away === known.away) return;
  known.away = away;
  if (known.channels.length) draw();
}

function start() {
  known.ready = false;
  for (const log of Object.values(logs)) clear(log);
  connect();
}

// A tab that nobody sees needs no news; it gets all of them when it is shown.
function connect() {
  stop();
  stop = document.hidden ? () => {} : listen(told, lost);
}

// What people do with the page itself

function theme(wanted) {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  if (wanted) {
    document.documentElement.dataset.theme = wanted;
    try {
      localStorage.setItem("theme", wanted);
    } catch { /* it holds until the page is loaded again */ }
  }
  const now = document.documentElement.dataset.theme ?? system;
  for (const button of document.querySelectorAll("[data-theme-to]"))
    button.setAttribute("aria-pressed", button.dataset.themeTo === now);
}

document.addEventListener("click", (event) => {
  const on = (name) => event.target.closest(`[data-${name}]`);
  if (on("source")) showSource(on("source"));
  else if (on("shortcut")) useShortcut(on("shortcut"));
  else if (on("lang") && on("lang").dataset.lang !== language) speak(on("lang").dataset.lang);
  else if (on("theme-to")) theme(on("theme-to").dataset.themeTo);
  else if (on("below")) {
    toEnd(logs.main);
    find("below").hidden = true;
  } else if (on("skip")) {
    event.preventDefault();
    (on("skip").dataset.skip === "write" ? composers.main.field : logs.main).focus();
  }
});
document.addEventListener("change", (event) => {
  if (event.target.name !== "as" || event.target.value === me.user) return;
  become(event.target.value);
  start();
});
// F6 goes from part to part, as in Slack.
function nextPart(back) {
  const parts = [...document.querySelectorAll("[data-rooms] a[aria-current], .log, [data-home], [data-detail], .composer textarea")]
    .filter((each) => each.checkVisibility());
  const at = parts.findIndex((each) => each.contains(document.activeElement));
  const step = back ? parts.length - 1 : 1;
  parts[at < 0 ? 0 : (at + step) % parts.length]?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.key === "F6" && !document.querySelector("dialog[open]")) {
    event.preventDefault();
    nextPart(event.shiftKey);
  }
  if (event.key === "Escape" && !event.defaultPrevented && !document.querySelector("dialog[open]") && !find("panel").hidden)
    find("leave").click();
});
find("rooms").addEventListener("keydown", (event) => {
  const rows = [...find("rooms").querySelectorAll("a")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const next = step && rows[rows.indexOf(document.activeElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
});
logs.main.addEventListener("scroll", () => {
  const { scrollHeight, scrollTop, clientHeight } = logs.main;
  if (scrollHeight - scrollTop - clientHeight < 60) find("below").hidden = true;
});
for (const log of Object.values(logs)) log.addEventListener("keydown", walk);
addEventListener("hashchange", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme());

// Which tab of the app is looked at, which it is told of.
function openTab(tab) {
  act("home", { tab }).catch((error) => toast(error.message));
}

document.addEventListener("visibilitychange", connect);
theme();
start();
