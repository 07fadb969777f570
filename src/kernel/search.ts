/** Words of a text that a search finds it by: the first ones, each cut to its first letters. */
export const searchWordsMax = 10;
export const searchWordLengthMax = 40;

/**
 * The words of a text as searches compare them: runs of letters and digits, in lower case, each once. Only the first
 * `searchWordsMax` of a text count, and of each the first `searchWordLengthMax` letters.
 */
export function wordsOf(text: string): readonly string[] {
  const words = new Set<string>();
  for (const [word] of text
    .normalize("NFKC")
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    words.add(Array.from(word).slice(0, searchWordLengthMax).join(""));
    if (words.size === searchWordsMax) break;
  }
  return [...words];
}

/** A search, taken apart. */
export interface SearchQuery {
  /** The whole of it with ASCII letters in lower case, which is all that both databases can fold. */
  readonly folded: string;
  readonly words: readonly string[];
}

export function searchQuery(text: string): SearchQuery {
  return { folded: foldAscii(text.trim()), words: wordsOf(text) };
}

export function foldAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Whether each word of a query is the start of a word of the text. */
export function hasWords(text: string, { words }: SearchQuery): boolean {
  const found = wordsOf(text);
  return words.length > 0 && words.every((word) => found.some((each) => each.startsWith(word)));
}

/** The word of a query that finds the fewest texts, as far as its length tells; undefined where it has none. */
export function rarestWord({ words }: SearchQuery): string | undefined {
  return [...words].sort((one, other) => other.length - one.length)[0];
}

/** The search term of a word of an invoice's description; a prefix of the word gives a prefix of the term. */
export function wordTerm(word: string): string {
  return `d:${word}`;
}

/** The search term of an entry of an invoice's metadata, as a whole. The key's length tells where the key ends. */
export function metadataTerm(key: string, value: string): string {
  return `m:${String(Array.from(key).length)}:${key}=${value}`;
}
