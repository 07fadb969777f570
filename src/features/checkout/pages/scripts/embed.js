// Opens a checkout over a merchant's page:
//   const checkout = Till.open(invoice.checkoutUrl, { onChange(state) {}, onClose(state) {} });
// The page's origin must be one of the organization's allowed origins. `state` is null until the checkout has loaded.
"use strict";
{
  // Of the script element: a checkout of another origin is not this instance's.
  const { origin } = new URL(document.currentScript?.src || "about:blank");

  function parse(address) {
    try {
      return new URL(address);
    } catch {
      return null;
    }
  }

  globalThis.Till = {
    open(checkoutUrl, { onChange, onClose, closeLabel = "Close" } = {}) {
      const url = parse(checkoutUrl);
      // The addresses of blobs have an origin too.
      if (url?.origin !== origin || !/^https?:$/.test(url.protocol)) {
        console.error(
          `Till.open shows checkouts of ${origin} only, where its script is from. Pass the checkoutUrl of an invoice, not ${checkoutUrl}`,
        );
        queueMicrotask(() => onClose?.(null));
        return { close() {} };
      }
      const dialog = document.createElement("dialog");
      const frame = document.createElement("iframe");
      const button = document.createElement("button");
      let state = null;
      Object.assign(dialog.style, {
        inlineSize: "min(30rem, 100vw)",
        maxInlineSize: "none",
        blockSize: "min(52rem, 100dvh)",
        maxBlockSize: "none",
        padding: "0",
        border: "0",
        borderRadius: "12px",
        overflow: "hidden",
      });
      Object.assign(frame.style, { inlineSize: "100%", blockSize: "100%", border: "0" });
      Object.assign(button.style, {
        position: "absolute",
        insetBlockStart: "8px",
        insetInlineEnd: "8px",
        inlineSize: "44px",
        blockSize: "44px",
        font: "24px/1 sans-serif",
      });
      button.type = "button";
      button.textContent = "\u00d7";
      button.ariaLabel = closeLabel;
      frame.title = url.host;
      frame.allow = "clipboard-write";
      frame.src = url.href;
      const hear = ({ source, origin: sender, data }) => {
        if (source !== frame.contentWindow || sender !== origin || data?.type !== "till:state")
          return;
        state = data.state;
        onChange?.(state);
      };
      addEventListener("message", hear);
      // After each load: a form in the checkout loads it again.
      frame.addEventListener("load", () =>
        frame.contentWindow.postMessage({ type: "till:hello" }, origin),
      );
      button.addEventListener("click", () => dialog.close());
      dialog.addEventListener("close", () => {
        removeEventListener("message", hear);
        dialog.remove();
        onClose?.(state);
      });
      dialog.append(frame, button);
      document.body.append(dialog);
      dialog.showModal();
      return { close: () => dialog.close() };
    },
  };
}
