/** Characters that take two columns of a terminal (East Asian Width W and F) or are drawn as pictures. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** Characters that are drawn over the one before, or not at all. */
const none = /\p{Mark}|\p{Default_Ignorable_Code_Point}/u;
const plain = /^[\u0020-\u007e]*$/;

/** Spaces between two columns. */
export const gap = 2;

/** Makes text bold on a terminal with colors. */
export function bold(hasColor: boolean): (text: string) => string {
  return (text) => (hasColor && text !== "" ? `\u001b[1m${text}\u001b[22m` : text);
}

/** Returns the number of terminal columns that a text without escape sequences takes. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

function widthOfCharacter(character: string): number {
  if (none.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/** Returns the width of the longest word. */
export function longestWord(text: string): number {
  return Math.max(0, ...text.split(" ").map(widthOf));
}

/** Breaks a text into lines of at most `width` columns: between words, and within a word that is longer. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const joined = line === "" ? word : `${line} ${word}`;
    if (widthOf(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== "") lines.push(line);
    const pieces = cut(word, width);
    line = pieces.pop() ?? "";
    lines.push(...pieces);
  }
  return [...lines, line];
}

/** Cuts a word into pieces of at most `width` columns. */
function cut(word: string, width: number): string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const character of word) {
    if (piece !== "" && widthOf(piece + character) > width) {
      pieces.push(piece);
      piece = "";
    }
    piece += character;
  }
  return [...pieces, piece];
}
