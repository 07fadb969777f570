/** Characters that nobody sees, such as width and direction marks, which messengers and pages add to copied text. */
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;

/**
 * Returns a pasted address, hash, key or amount without invisible characters and without space around it. Not for text in
 * a language, whose words may need such characters.
 */
export function cleanPasted(text: string): string {
  return text.replace(invisible, "").trim();
}

/** Whether the text has a visible character. Spaces, width or direction marks and blank glyphs are not visible. */
export function isSeen(text: string): boolean {
  return /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/u.test(text);
}

/** Decodes text in UTF-8, whose byte order mark stays; null if the bytes are other text or none. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Escapes text for HTML and SVG, within elements and attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${String(sign.charCodeAt(0))};`);
}
