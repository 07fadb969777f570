// Reports the payment's state to the page that shows this one in a frame. The policy of this page lets only pages of the
// merchant's allowed origins do so, and each message is sent to the exact origin that has asked for it.
"use strict";
(() => {
  const page = document.getElementById("checkout");
  if (page === null || window.parent === window) return;
  /** The origin of the page around this one, once it has asked. */
  let embedder = null;
  let reported = "";

  function report() {
    const { state, session } = page.dataset;
    if (embedder === null || state === reported) return;
    reported = state;
    const checkoutId = session.split("/").at(-1);
    window.parent.postMessage({ type: "till:state", checkoutId, state }, embedder);
  }

  /** The shop takes the place of the whole page; explorers and sites refuse to be framed. */
  function retarget(root) {
    for (const link of root.querySelectorAll("a[rel]")) {
      link.target = link.closest("#actions") ? "_top" : "_blank";
    }
  }

  window.addEventListener("message", ({ source, origin, data }) => {
    const allowed = (page.dataset.embedders ?? "").split(" ");
    if (source !== window.parent || data?.type !== "till:hello" || !allowed.includes(origin))
      return;
    embedder = origin;
    reported = "";
    report();
  });
  window.addEventListener("till:page", ({ detail }) => retarget(detail));
  retarget(page);
  new MutationObserver(report).observe(page, { attributeFilter: ["data-state"] });
})();
