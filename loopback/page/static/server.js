// The page's talk with its server: what people do goes there, news come back. Addresses are relative and so hold the key.

const config = JSON.parse(document.querySelector("[data-config]").textContent);
const asked = new URLSearchParams(location.search);

export const say = (key, values = {}) =>
  config.say[key].replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
export const { bot, command, forms, language, people } = config;
export const me = { user: config.user };

const address = (path, more = {}) => `${path}?${new URLSearchParams({ as: me.user, lang: language, ...more })}`;

// What is asked for, or an Error whose message people can read.
async function answered(request) {
  let reply;
  try {
    reply = await request;
  } catch {
    throw new Error(say("ended"));
  }
  const body = await reply.json();
  if (!reply.ok) throw new Error(say("refused", { error: body.error }));
  return body;
}

export const read = (path, more) => answered(fetch(address(path, more)));

export async function act(name, body) {
  const headers = { "Content-Type": "application/json" };
  const done = await answered(fetch(address(`do/${name}`), { method: "POST", headers, body: JSON.stringify(body) }));
  if (done.failed) throw new Error(say("no_answer", { error: done.failed }));
  return done;
}

export const raw = (file) => address(`files/${file}/raw`);

// Calls `told` with all news and `lost` with whether the server is out of reach. Returns what ends it.
// A browser opens six connections to a host, so one tab (it has the lock) listens for all that show the same to the same
// player. Whoever comes lets it listen anew, which begins with everything; when it goes the next one gets the lock.
export function listen(told, lost) {
  const name = `events ${location.pathname} ${me.user} ${language}`;
  const tabs = new BroadcastChannel(name);
  const left = new AbortController();
  let source = null;
  let release = () => {};
  let begun = false;
  const hear = ({ news, away }) => {
    lost(away);
    begun ||= Boolean(news?.all);
    if (news && begun) told(news);
  };
  const tell = (heard) => {
    tabs.postMessage(heard);
    hear(heard);
  };
  const open = () => {
    source?.close();
    source = new EventSource(address("events"));
    source.onmessage = (event) => tell({ news: JSON.parse(event.data), away: false });
    source.onopen = () => tell({ away: false });
    source.onerror = () => tell({ away: true });
  };
  tabs.onmessage = ({ data }) => {
    if (data !== "anew") hear(data);
    else if (source) open();
  };
  tabs.postMessage("anew");
  const lead = () => left.signal.aborted || new Promise((done) => {
    release = done;
    open();
  });
  navigator.locks.request(name, { signal: left.signal }, lead).catch(() => {}); // it left before its turn came
  return () => {
    left.abort();
    tabs.close();
    source?.close();
    source = null;
    release();
  };
}

// The player stays the same when the page is loaded again.
export function become(user) {
  me.user = user;
  asked.set("as", user);
  history.replaceState(null, "", `?${asked}${location.hash}`);
}

export function speak(wanted) {
  asked.set("lang", wanted);
  location.search = asked;
}

export function toast(text) {
  const shown = document.createElement("p");
  shown.textContent = text;
  document.querySelector("[data-toasts]").append(shown);
  setTimeout(() => shown.remove(), 6000);
}
