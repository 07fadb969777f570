// Registers the payment method in WooCommerce's checkout block. It needs no build.
(() => {
  const { registerPaymentMethod } = window.wc.wcBlocksRegistry;
  const { createElement } = window.wp.element;
  const { decodeEntities } = window.wp.htmlEntities;
  const {
    title = "Crypto",
    description = "",
    accepted = "",
    supports = ["products"],
  } = window.wc.wcSettings.getSetting("till_data", {});
  const paragraph = (text) => createElement("p", { key: text }, decodeEntities(text));
  const content = createElement(
    "div",
    null,
    [description, accepted].filter(Boolean).map(paragraph),
  );
  registerPaymentMethod({
    name: "till",
    label: createElement("span", null, decodeEntities(title)),
    ariaLabel: decodeEntities(title),
    content,
    edit: content,
    canMakePayment: () => true,
    supports: { features: supports },
  });
})();
