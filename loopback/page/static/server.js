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
export function listen(told, lost) {
  const source = new EventSource(address("events"));
  source.onmessage = (event) => {
    lost(false);
    told(JSON.parse(event.data));
  };
  source.onopen = () => lost(false);
  source.onerror = () => lost(true);
  return () => source.close();
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
