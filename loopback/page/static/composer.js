// Where people write: a growing field, and what could be meant while a command, a name or a channel is typed.

import { awaitReply } from "./lists.js";
import { act, bot, command, forms, people, say, toast } from "./server.js";

let count = 0;

export class Composer {
  // `channels` gives the names that # completes; `where` gives {channel, thread} to write to, or null, and whether
  // the bot `lacks` there.
  constructor(holder, where, channels) {
    const made = document.querySelector("[data-composer-template]").content.firstElementChild.cloneNode(true);
    this.form = made;
    this.field = made.querySelector("textarea");
    this.list = made.querySelector(".suggestions");
    this.where = where;
    this.channels = channels;
    this.drafts = new Map();
    this.list.id = `suggestions-${++count}`;
    this.field.setAttribute("aria-controls", this.list.id);
    holder.append(made);
    made.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    this.field.addEventListener("input", () => this.changed());
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.field.addEventListener("blur", () => this.close());
    this.list.addEventListener("mousedown", (event) => {
      event.preventDefault(); // the field keeps the focus
      const row = event.target.closest("[role=option]");
      if (row) this.pick(Number(row.dataset.place));
    });
  }

  // Moves to another place: what was written for the old one waits there.
  turn(key, placeholder) {
    if (key !== this.place) {
      this.drafts.set(this.place, this.field.value);
      this.place = key;
      this.field.value = this.drafts.get(key) ?? "";
      this.grow();
      this.close();
    }
    this.field.placeholder = placeholder;
    this.field.setAttribute("aria-label", placeholder);
  }

  changed() {
    this.grow();
    this.suggest();
  }

  grow() {
    this.field.rows = Math.min(8, this.field.value.split("\n").length);
  }

  suggest() {
    const before = this.field.value.slice(0, this.field.selectionStart);
    this.found = this.candidates(before);
    // Enter sends a command that can be sent; before that, and with names, it takes the first suggestion.
    this.chosen = this.found.length && !before.toLowerCase().startsWith(command) ? 0 : -1;
    this.draw();
  }

  candidates(before) {
    const text = before.toLowerCase();
    if (text.startsWith("/") && !this.where()?.thread) {
      const rows = forms.map((form) => ({ whole: `${command} ${form.text}`, gives: form.gives, from: 0 }));
      if (this.where()?.lacks) rows.unshift({ whole: `/invite @${bot}`, gives: say("invites"), from: 0 });
      return rows.filter((row) => row.whole.startsWith(text) && row.whole !== before.trimEnd());
    }
    const word = /(^|\s)([@#][^\s@#]*)$/.exec(text)?.[2];
    if (!word) return [];
    const names = word[0] === "@" ? [bot, ...people].map((name) => `@${name}`) : this.channels().map((name) => `#${name}`);
    const from = before.length - word.length;
    if (names.some((name) => name.toLowerCase() === word)) return [];
    return names.filter((name) => name.toLowerCase().startsWith(word)).map((name) => ({ whole: `${name} `, gives: "", from }));
  }

  draw() {
    this.list.replaceChildren(
      ...this.found.map((row, place) => {
        const shown = document.createElement("div");
        shown.setAttribute("role", "option");
        shown.setAttribute("aria-selected", place === this.chosen);
        shown.id = `${this.list.id}-${place}`;
        shown.dataset.place = place;
        shown.append(Object.assign(document.createElement("code"), { textContent: row.whole }));
        if (row.gives) shown.append(Object.assign(document.createElement("span"), { textContent: row.gives }));
        return shown;
      }),
    );
    const open = this.found.length > 0;
    this.list.hidden = !open;
    if (open && this.chosen >= 0) {
      this.field.setAttribute("aria-activedescendant", `${this.list.id}-${this.chosen}`);
      this.list.children[this.chosen].scrollIntoView({ block: "nearest" });
    } else this.field.removeAttribute("aria-activedescendant");
  }

  close() {
    this.found = [];
    this.draw();
  }

  pick(place) {
    const { whole, from } = this.found[place];
    const after = this.field.value.slice(this.field.selectionStart);
    this.field.value = this.field.value.slice(0, from) + whole + after;
    this.field.selectionStart = this.field.selectionEnd = from + whole.length;
    this.grow();
    this.close();
  }

  key(event) {
    if (event.isComposing) return; // an input method's Enter picks a character
    const open = !this.list.hidden;
    if (open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      const last = this.found.length - 1;
      if (event.key === "ArrowDown") this.chosen = this.chosen < last ? this.chosen + 1 : 0;
      else this.chosen = this.chosen > 0 ? this.chosen - 1 : last;
      this.draw();
    } else if (open && !event.shiftKey && (event.key === "Tab" || (event.key === "Enter" && this.chosen >= 0))) {
      event.preventDefault();
      this.pick(Math.max(0, this.chosen));
    } else if (open && event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.close();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.send();
    }
  }

  async send() {
    const text = this.field.value.trim();
    const where = this.where();
    if (!text || !where) return;
    if (text.startsWith("/")) {
      const [name] = text.split(/\s+/);
      const does = { "/invite": "invite", [command]: "command" }[name];
      if (!does) return toast(say("unknown_command", { command: name, known: command }));
      if (where.thread) return toast(say("no_thread_commands"));
      this.empty();
      return this.try_(does, { ...where, text: text.slice(name.length).trim() }, text);
    }
    this.empty();
    return this.try_("say", { ...where, text }, text);
  }

  empty() {
    this.field.value = "";
    this.changed();
  }

  // What could not be sent comes back into the field, unless something else was begun there.
  async try_(name, body, text) {
    awaitReply(this.form);
    try {
      await act(name, body);
    } catch (error) {
      toast(error.message);
      if (!this.field.value) {
        this.field.value = text;
        this.grow();
      }
    }
  }
}
