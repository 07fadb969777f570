// Progressive enhancement: shows changes, copies, and counts down. The page also works without this script.
"use strict";
(() => {
  const hiddenPollMs = 30_000;
  const streamedPollMs = 30_000;
  const patienceMs = 15_000;
  const failedPollMs = 5_000;
  const retryMsMax = 60_000;
  // The server sends an event every 15 seconds.
  const silenceMsMax = 35_000;
  const reopenMs = 60_000;
  const warnAtMinutes = [5, 1];
  const wide = "(min-width: 44rem)";

  const announcement = document.getElementById("announcement");
  const connection = document.getElementById("connection");
  const checkout = document.getElementById("checkout");
  if (checkout === null) {
    // The page of a problem that passes by itself.
    const { path, retrySeconds } = document.querySelector("main").dataset;
    setTimeout(() => location.replace(path), retryMs(Number(retrySeconds)));
    return;
  }

  const language = document.documentElement.lang;
  // The browser's own variant of the page's language, such as en-GB. Digits are those of the copied amounts.
  const locale = new Intl.Locale(
    navigator.languages.find((each) => each.split("-")[0] === language && isLocale(each)) ??
      language,
    { numberingSystem: "latn" },
  );

  /** False for a name that is no language tag: a browser on a system without a language says `en-US@posix`. */
  function isLocale(name) {
    try {
      return Intl.getCanonicalLocales(name).length > 0;
    } catch {
      return false;
    }
  }

  let tag = "";
  let timer = 0;
  /** Aborts the pending poll; null between polls. */
  let pending = null;
  /** The stream of changes; null while there is none. */
  let stream = null;
  let heardAt = 0;
  let triedAt = -Infinity;
  let minutesBefore = Infinity;
  // The countdown uses the server's clock, because the payer's may be wrong. Some browsers and proxies hide the time of
  // the page's own response; then the page is read once more.
  const [navigation] = performance.getEntriesByType("navigation");
  const timing = navigation?.serverTiming?.find(({ name }) => name === "now");
  let aheadMs = timing === undefined ? 0 : Date.now() - Number(timing.description);

  function say(text) {
    announcement.textContent = text;
  }

  function fill(text, values) {
    return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  }

  // --- the stream ---

  /** Opens the stream unless it is open. A browser has few connections to a host, so hidden pages have none. */
  function listen() {
    if (stream !== null || document.hidden || performance.now() - triedAt < reopenMs) return;
    triedAt = performance.now();
    const own = new EventSource(checkout.dataset.events);
    stream = own;
    heardAt = performance.now();
    own.addEventListener("session", ({ data }) => {
      heardAt = performance.now();
      if (data !== checkout.dataset.version) void look();
      else connection.hidden = true;
    });
    own.addEventListener("beat", () => {
      heardAt = performance.now();
    });
    own.addEventListener("error", () => {
      // The browser reconnects, unless the server has refused the stream. Meanwhile the page polls.
      heardAt = -Infinity;
      if (own.readyState === EventSource.CLOSED) silence();
      if (pending === null) plan(Number(checkout.dataset.pollMs));
    });
  }

  function silence() {
    stream?.close();
    stream = null;
  }

  function isStreamed() {
    return stream !== null && performance.now() - heardAt < silenceMsMax;
  }

  // --- polling ---

  function plan(waitMs) {
    clearTimeout(timer);
    // The stream names each change once, so a look that failed is repeated soon.
    const isCurrent = isStreamed() && connection.hidden;
    const leastMs = document.hidden ? hiddenPollMs : isCurrent ? streamedPollMs : 0;
    timer = setTimeout(look, Math.max(waitMs, leastMs));
  }

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
      // A stream that was silent for too long is dead, even if the browser has not noticed.
      if (stream !== null && !isStreamed()) silence();
      listen();
    } catch (error) {
      // A newer poll has replaced this one.
      if (pending !== own) return;
      connection.hidden = false;
      waitMs = retryMs(Math.max(failedPollMs / 1_000, error.retryAfter || 0));
    }
    clearTimeout(patience);
    if (pending !== own) return;
    pending = null;
    plan(waitMs);
  }

  /** Looks at once: when a phone wakes up, the page returns or gets the focus, or the network is back. */
  function wake() {
    if (document.hidden) {
      silence();
      return;
    }
    triedAt = -Infinity;
    void look();
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

  /** Returns the time of a response by the server's clock; NaN if a proxy has removed it. */
  function serverTime(headers) {
    const [, exact] = /now;desc="(\d+)"/.exec(headers.get("Server-Timing") ?? "") ?? [];
    return exact === undefined ? Date.parse(headers.get("Date") ?? "") : Number(exact);
  }

  /** Fetches the session's ETag; while it is unchanged, the response is an empty 304. */
  async function readTag(signal) {
    const known = tag === "" ? {} : { "If-None-Match": tag };
    const answer = await read(checkout.dataset.session, known, signal);
    return answer.headers.get("ETag") ?? tag;
  }

  async function readWhole(signal) {
    const answer = await read(checkout.dataset.path, {}, signal);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = page.getElementById("checkout");
    if (next === null) throw new Error("this is no checkout");
    const now = serverTime(answer.headers);
    if (!Number.isNaN(now)) aheadMs = Date.now() - now;
    if (next.dataset.version === checkout.dataset.version) return;
    document.title = page.title;
    show(next);
  }

  // --- changing the page ---

  function show(next) {
    const { state, headline } = checkout.dataset;
    enhance(next);
    patch(checkout, next);
    countDown();
    if (state !== checkout.dataset.state || headline !== checkout.dataset.headline) {
      say(checkout.dataset.headline);
    }
  }

  /**
   * Makes an element like another one and changes only what differs, so that focus, selection, typed text and a screen
   * reader's place stay.
   */
  function patch(old, next) {
    if (old.isEqualNode(next)) return;
    patchAttributes(old, next);
    let place = old.firstChild;
    for (const wanted of [...next.childNodes]) {
      const match = findMatch(place, wanted);
      while (match !== null && place !== match) place = removed(place);
      if (match === null) {
        old.insertBefore(document.adoptNode(wanted), place);
      } else {
        if (match.nodeType === Node.ELEMENT_NODE) patch(match, wanted);
        else if (match.data !== wanted.data) match.data = wanted.data;
        place = match.nextSibling;
      }
    }
    while (place !== null) place = removed(place);
  }

  function removed(node) {
    const { nextSibling } = node;
    node.remove();
    return nextSibling;
  }

  /** Finds the node that becomes the wanted one: the same region further on, or a like node in its place. */
  function findMatch(place, wanted) {
    if (wanted.id) {
      for (let node = place; node !== null; node = node.nextSibling) {
        if (node.id === wanted.id && node.nodeName === wanted.nodeName) return node;
      }
      return null;
    }
    return place !== null && !place.id && place.nodeName === wanted.nodeName ? place : null;
  }

  function patchAttributes(old, next) {
    // People open and close details and fill in fields, not the server.
    const isKept = (name) =>
      (name === "open" && old.nodeName === "DETAILS") ||
      (name === "value" && old.nodeName === "INPUT");
    for (const { name } of [...old.attributes]) {
      if (!next.hasAttribute(name) && !isKept(name)) old.removeAttribute(name);
    }
    for (const { name, value } of next.attributes) {
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
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
    left.textContent = fill(checkout.dataset.timeLeft, { time: duration(seconds) });
    const minutes = Math.ceil(seconds / 60);
    // Nobody is urged to pay while the request to pay is folded.
    const isFolded = left.closest("details:not([open])") !== null;
    for (const mark of isFolded ? [] : warnAtMinutes) {
      if (minutes === mark && minutesBefore > mark && minutesBefore < Infinity) {
        const time = inUnit(mark, "minute", "long");
        say(fill(checkout.dataset.timeLeftToPay, { time }));
      }
    }
    // From the deadline on, the page shows no amount and no address, whether or not the server can be reached. The
    // payer's clock may have been set since, so the page is read with the server's time.
    document.getElementById("payment").hidden = seconds === 0;
    document.getElementById("over").hidden = seconds > 0;
    const isJustOver = seconds === 0 && minutesBefore > 0;
    minutesBefore = minutes;
    if (isJustOver) {
      tag = "";
      void look();
    }
  }

  function inUnit(n, unit, unitDisplay = "short") {
    return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay }).format(n);
  }

  /** Writes a duration in its two largest units. */
  function duration(seconds) {
    const units = [
      ["day", 86_400],
      ["hour", 3_600],
      ["minute", 60],
      ["second", 1],
    ];
    const first = Math.max(
      0,
      units.findIndex(([, length]) => seconds >= length),
    );
    let rest = seconds;
    return units
      .slice(seconds === 0 ? -1 : first)
      .slice(0, 2)
      .map(([unit, length]) => {
        const n = Math.floor(rest / length);
        rest %= length;
        return inUnit(n, unit);
      })
      .join(" ");
  }

  /** Writes a time in the payer's zone: `today, 2:16 PM`, or with its date and zone if it is further away. */
  function localTime(at) {
    const midnight = (date) => new Date(date).setHours(12, 0, 0, 0);
    const days = Math.round((midnight(at) - midnight(Date.now() - aheadMs)) / 86_400_000);
    if (Math.abs(days) > 1) {
      const date = { day: "numeric", month: "short", year: "numeric" };
      return new Intl.DateTimeFormat(locale, {
        ...date,
        hour: "numeric",
        minute: "2-digit",
      }).format(at);
    }
    return fill(checkout.dataset.dayTime, {
      day: new Intl.RelativeTimeFormat(locale, { numeric: "auto" }).format(days, "day"),
      time: new Intl.DateTimeFormat(locale, { timeStyle: "short" }).format(at),
    });
  }

  // --- elements that need a script ---

  function enhance(root) {
    dispatchEvent(new CustomEvent("till:page", { detail: root }));
    for (const button of root.querySelectorAll("[data-copy], #print")) button.hidden = false;
    for (const time of root.querySelectorAll("time[data-local]")) {
      time.title = time.textContent;
      time.textContent = localTime(new Date(time.dateTime));
    }
    const code = root.querySelector("#code");
    // Wide pages show the code without a click. The style sheet does so too, in browsers that can.
    if (code !== null && matchMedia(wide).matches) code.open = true;
  }

  // The answer to a form that was refused: a reload, such as after a look at the wallet, must not send it again.
  if (!checkout.dataset.path.startsWith(location.pathname)) {
    window.history.replaceState(null, "", checkout.dataset.path + location.hash);
  }
  enhance(checkout);
  countDown();
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (button?.dataset.copy !== undefined) void copy(button);
    if (button?.id === "print") window.print();
  });
  setInterval(countDown, 1_000);
  document.addEventListener("visibilitychange", wake);
  addEventListener("pageshow", (event) => {
    if (event.persisted) wake();
  });
  addEventListener("pagehide", silence);
  addEventListener("focus", wake);
  addEventListener("online", wake);
  addEventListener("till:look", () => void look());
  listen();
  if (timing === undefined) void look();
  else plan(Number(checkout.dataset.pollMs));
})();
