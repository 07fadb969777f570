// Progressive enhancement: polls for changes, copies, and counts down. The page also works without this script.
"use strict";
(() => {
  const hiddenPollMs = 30_000;
  const patienceMs = 15_000;
  const failedPollMs = 5_000;
  const retryMsMax = 60_000;
  const warnAtMinutes = [5, 1];

  const announcement = document.getElementById("announcement");
  const connection = document.getElementById("connection");
  let checkout = document.getElementById("checkout");
  if (checkout === null) {
    // The page of a problem that passes by itself.
    const { path, retrySeconds } = document.querySelector("main").dataset;
    setTimeout(() => location.replace(path), retryMs(Number(retrySeconds)));
    return;
  }

  let shown = withoutTime(checkout);
  let tag = "";
  let timer = 0;
  /** Aborts the pending poll; null between polls. */
  let pending = null;
  let minutesBefore = Infinity;
  // The countdown uses the server's clock, because the payer's may be wrong.
  let aheadMs = Date.now() - Number(checkout.dataset.at);

  function say(text) {
    announcement.textContent = text;
  }

  function fill(text, name, value) {
    return text.replace(`{${name}}`, String(value));
  }

  // --- polling ---

  /** Polls once. A pending poll is aborted, because after a sleep its connection may be dead. */
  async function look() {
    clearTimeout(timer);
    pending?.abort();
    const own = new AbortController();
    pending = own;
    const patience = setTimeout(() => own.abort(), patienceMs);
    let waitMs = Number(checkout.dataset.pollMs);
    try {
      const seen = await readTag(own.signal);
      if (seen !== tag) await readWhole(own.signal);
      tag = seen;
      connection.hidden = true;
    } catch (error) {
      connection.hidden = false;
      waitMs = retryMs(Math.max(failedPollMs / 1_000, error.retryAfter || 0));
    }
    clearTimeout(patience);
    if (pending !== own) return;
    pending = null;
    timer = setTimeout(look, document.hidden ? Math.max(waitMs, hiddenPollMs) : waitMs);
  }

  /** Caps a server's Retry-After, and spreads the pages that were refused together. */
  function retryMs(seconds) {
    return Math.min(seconds * 1_000, retryMsMax) * (1 + Math.random() / 4);
  }

  async function read(address, headers, signal) {
    const answer = await fetch(address, { headers, signal, cache: "no-store" });
    const { status } = answer;
    if (answer.ok || status === 304) return answer;
    const retryAfter = Number(answer.headers.get("Retry-After"));
    throw Object.assign(new Error(String(status)), { status, retryAfter });
  }

  /** Fetches the session's ETag; while it is unchanged, the response is an empty 304. */
  async function readTag(signal) {
    const known = tag === "" ? {} : { "If-None-Match": tag };
    const answer = await read(checkout.dataset.session, known, signal);
    return answer.headers.get("ETag") ?? tag;
  }

  async function readWhole(signal) {
    const answer = await read(location.pathname, {}, signal);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = page.getElementById("checkout");
    if (next === null) throw new Error("this is no checkout");
    aheadMs = Date.now() - Number(next.dataset.at);
    const html = withoutTime(next);
    if (html === shown) return;
    shown = html;
    document.title = page.title;
    show(next);
  }

  function withoutTime(element) {
    return element.outerHTML.replace(/ data-at="\d+"/, "");
  }

  function show(next) {
    const focused = document.activeElement?.id ?? "";
    const open = [...checkout.querySelectorAll("details[open]")].map(({ id }) => id);
    const typed = document.getElementById("transaction-hash")?.value ?? "";
    const isNews =
      next.dataset.state !== checkout.dataset.state ||
      next.dataset.headline !== checkout.dataset.headline;
    checkout.replaceWith(document.adoptNode(next));
    checkout = next;
    enhance();
    const field = document.getElementById("transaction-hash");
    if (field !== null) field.value = typed;
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    if (focused !== "") document.getElementById(focused)?.focus({ preventScroll: true });
    if (isNews) say(checkout.dataset.headline);
  }

  // --- copying ---

  async function copy(button) {
    const source = document.getElementById(button.dataset.copy);
    const label = button.textContent;
    const isCopied = await write(source.textContent, source);
    button.textContent = isCopied ? checkout.dataset.copied : checkout.dataset.copyFailed;
    say(isCopied ? button.dataset.said : checkout.dataset.copyFailed);
    setTimeout(() => {
      button.textContent = label;
    }, 2_500);
  }

  /** Without clipboard access, as on pages without TLS, selects the text and copies it with execCommand. */
  async function write(text, source) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      getSelection()?.selectAllChildren(source);
      return document.execCommand("copy");
    }
  }

  // --- time ---

  function countDown() {
    const left = document.getElementById("time-left");
    if (left === null) return;
    const seconds = Math.max(
      0,
      Math.floor((Date.parse(left.dataset.until) - Date.now() + aheadMs) / 1_000),
    );
    left.hidden = false;
    left.textContent = fill(checkout.dataset.timeLeft, "time", duration(seconds));
    const minutes = Math.ceil(seconds / 60);
    for (const mark of warnAtMinutes) {
      if (minutes === mark && minutesBefore > mark && minutesBefore < Infinity) {
        say(
          mark === 1
            ? checkout.dataset.oneMinuteLeft
            : fill(checkout.dataset.minutesLeft, "n", mark),
        );
      }
    }
    if (seconds === 0) stopAsking();
    minutesBefore = minutes;
  }

  /** At the deadline, shows no amount and no address any more, whether or not the server can be reached. */
  function stopAsking() {
    document.getElementById("payment").hidden = true;
    document.getElementById("over").hidden = false;
    if (minutesBefore > 0) void look();
  }

  function duration(seconds) {
    const { days, hours, minutes, seconds: secondsText } = checkout.dataset;
    const part = (text, n) => fill(text, "n", n);
    if (seconds >= 86_400) {
      return `${part(days, Math.floor(seconds / 86_400))} ${part(hours, Math.floor((seconds % 86_400) / 3_600))}`;
    }
    if (seconds >= 3_600) {
      return `${part(hours, Math.floor(seconds / 3_600))} ${part(minutes, Math.floor((seconds % 3_600) / 60))}`;
    }
    if (seconds >= 60)
      return `${part(minutes, Math.floor(seconds / 60))} ${part(secondsText, seconds % 60)}`;
    return part(secondsText, seconds);
  }

  // --- elements that need a script ---

  function enhance() {
    for (const button of checkout.querySelectorAll("[data-copy]")) {
      button.hidden = false;
      button.addEventListener("click", () => void copy(button));
    }
    const print = document.getElementById("print");
    if (print !== null) {
      print.hidden = false;
      print.addEventListener("click", () => window.print());
    }
    // English pages use the browser's locale for times, which may differ from the server's format.
    const language = document.documentElement.lang;
    const format = new Intl.DateTimeFormat(language === "en" ? undefined : language, {
      year: "numeric",
      month: "short",
      day: "numeric",
      hour: "2-digit",
      minute: "2-digit",
      timeZoneName: "short",
    });
    for (const time of checkout.querySelectorAll("time[data-local]")) {
      time.textContent = format.format(new Date(time.dateTime));
    }
    countDown();
  }

  enhance();
  setInterval(countDown, 1_000);
  // Poll at once when a phone wakes up, the page returns from the browser's cache or the network is back.
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) void look();
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) void look();
  });
  addEventListener("online", () => void look());
  timer = setTimeout(look, Number(checkout.dataset.pollMs));
})();
