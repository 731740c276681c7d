// Keeps the parts of an open page up to date that say `data-live`. A page that is hidden holds no connection.
"use strict";
(() => {
  const state = document.getElementById("live");
  const parts = () => document.querySelectorAll("[data-live]");
  if (!window.EventSource || !window.fetch || parts().length === 0) return;
  let source = null;
  let isAsking = false;
  let isAskedAgain = false;

  const tell = (words) => {
    if (state && state.textContent !== words) state.textContent = words;
  };

  // A part in which somebody types or has opened something is left as it is until they are done.
  const isInUse = (part) => {
    const active = document.activeElement;
    const isTyping = part.contains(active) && active.matches("input, select, textarea");
    const fields = [...part.querySelectorAll("input:not([type=hidden]), textarea")];
    return isTyping || fields.some((field) => field.value !== field.defaultValue);
  };

  const replace = (part, fresh) => {
    if (part.isEqualNode(fresh) || isInUse(part)) return;
    const open = [...part.querySelectorAll("details[id][open]")].map((one) => one.id);
    const focused = part.contains(document.activeElement) ? document.activeElement.id : "";
    const adopted = document.importNode(fresh, true);
    part.replaceWith(adopted);
    for (const id of open) {
      const one = document.getElementById(id);
      if (one) one.open = true;
    }
    if (focused) document.getElementById(focused)?.focus();
  };

  const refresh = async () => {
    if (isAsking) {
      isAskedAgain = true;
      return;
    }
    isAsking = true;
    try {
      const answer = await fetch(location.href, {
        headers: { "hedgerow-live": "1" },
        credentials: "same-origin",
        redirect: "manual",
      });
      if (answer.type === "opaqueredirect" || answer.status === 403) {
        close();
        tell("You are not signed in any more. Reload the page.");
        return;
      }
      if (!answer.ok) throw new Error(String(answer.status));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of parts()) {
        const fresh = page.getElementById(part.id);
        if (fresh) replace(part, fresh);
      }
      tell("This page is up to date.");
    } catch {
      tell("The console does not answer. What you see may be old.");
    } finally {
      isAsking = false;
      if (isAskedAgain) {
        isAskedAgain = false;
        refresh();
      }
    }
  };

  const close = () => {
    source?.close();
    source = null;
  };

  const open = () => {
    if (source) return;
    source = new EventSource("/events");
    source.addEventListener("open", refresh);
    source.addEventListener("change", refresh);
    source.addEventListener("error", () => tell("The console does not answer. What you see may be old."));
  };

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);
  if (!document.hidden) open();
})();
