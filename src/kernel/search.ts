/** The number of words that are indexed for a text, and the characters that are kept of each. */
export const searchWordsMax = 10;
export const searchWordLengthMax = 40;

/**
 * Returns the distinct words of a text as searches compare them: runs of letters and digits in lower case. Only the
 * first `searchWordsMax` words count, each cut to `searchWordLengthMax` characters.
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

/** A parsed search query. */
export interface SearchQuery {
  /** The whole query with ASCII letters in lower case; both databases can fold no others. */
  readonly folded: string;
  readonly words: readonly string[];
}

export function searchQuery(text: string): SearchQuery {
  return { folded: foldAscii(text.trim()), words: wordsOf(text) };
}

export function foldAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** True if each word of the query is a prefix of some word of the text. */
export function hasWords(text: string, { words }: SearchQuery): boolean {
  const found = wordsOf(text);
  return words.length > 0 && words.every((word) => found.some((each) => each.startsWith(word)));
}

/**
 * Returns the longest word of a query, which probably matches the fewest texts; undefined if the query has no words.
 */
export function rarestWord({ words }: SearchQuery): string | undefined {
  return [...words].sort((one, other) => other.length - one.length)[0];
}

/** Returns the search term for a word of an invoice's description. A prefix of the word gives a prefix of the term. */
export function wordTerm(word: string): string {
  return `d:${word}`;
}

/** Returns the search term for a complete metadata entry of an invoice. The key's length marks where the key ends. */
export function metadataTerm(key: string, value: string): string {
  return `m:${String(Array.from(key).length)}:${key}=${value}`;
}
