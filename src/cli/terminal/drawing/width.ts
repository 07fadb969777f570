import stringWidth from "string-width";

const plain = /^[\u0020-\u007e]*$/;

/** Spaces between two columns. */
export const gap = 2;

/** Makes text bold on a terminal with colors. */
export function bold(hasColor: boolean): (text: string) => string {
  return (text) => (hasColor && text !== "" ? `\u001b[1m${text}\u001b[22m` : text);
}

/** Returns the number of terminal columns that a text takes, as cli-table3 counts them. */
export function widthOf(text: string): number {
  return plain.test(text) ? text.length : stringWidth(text);
}

/** Returns the width of the longest word. */
export function longestWord(text: string): number {
  return Math.max(0, ...text.split(" ").map(widthOf));
}

/** Breaks the words of a text that are wider than `width`. cli-table3 wraps between words, and would cut them. */
export function breakWords(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return text
    .split(/[^\S\n]/)
    .map((word) => (widthOf(word) <= width ? word : `\n${piecesOf(word, width).join("\n")}`))
    .join(" ")
    .replaceAll(/ ?\n/g, "\n")
    .trimStart();
}

/** Cuts a word into pieces of at most `width` columns. */
function piecesOf(word: string, width: number): string[] {
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
