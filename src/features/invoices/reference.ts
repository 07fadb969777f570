/** Characters of the reference; 40 random bits, so that two invoices of a merchant hardly ever share one. */
const referenceLength = 8;
const publicIdPrefix = "ipub_";

/**
 * Returns the short reference that a payer quotes to the merchant: the first characters of the invoice's public id, such
 * as `P7K2-9QXD`.
 */
export function referenceOf(publicId: string): string {
  const digits = publicId.slice(publicIdPrefix.length).replaceAll("-", "");
  const shown = digits.slice(0, referenceLength).toUpperCase();
  return `${shown.slice(0, 4)}-${shown.slice(4)}`;
}

/**
 * Returns the beginning of the public ids that have the reference in a search, ASCII letters in lower case; null if the
 * text is not a reference. People may leave out the hyphen, and read 0 as o, and 1 as i or l: the ids have none of these
 * letters.
 */
export function publicIdBeginning(folded: string): string | null {
  if (!/^[0-9a-z]{4}[ -]?[0-9a-z]{4}$/.test(folded)) return null;
  const digits = folded.replace(/[ -]/, "").replaceAll("o", "0").replaceAll(/[il]/g, "1");
  return publicIdPrefix + digits;
}
