// Registers the payment method in WooCommerce's checkout block. It needs no build.
(() => {
  const { registerPaymentMethod } = window.wc.wcBlocksRegistry;
  const { createElement } = window.wp.element;
  const { decodeEntities } = window.wp.htmlEntities;
  const {
    title = "Crypto",
    description = "",
    supports = ["products"],
  } = window.wc.wcSettings.getSetting("till_data", {});
  const content = createElement("p", null, decodeEntities(description));
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
