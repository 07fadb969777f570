import { openLanguages } from "../../../src/features/checkout/page/languages.ts";

/** The languages without a folder of the merchant's own. */
export const shippedLanguages = openLanguages(null, ({ name, message }) => {
  throw new Error(`${name} ${message}`);
});

/** The texts of all of them, in the order of the pages. */
export const catalogues = shippedLanguages.offered.map(({ lang }) =>
  shippedLanguages.textsOf(lang),
);
export const en = shippedLanguages.textsOf("en");
