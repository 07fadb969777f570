/**
 * A URL as the WHATWG parser reads it; null where it is none. Never URL.canParse: on Node 20, once it is compiled for
 * speed, it takes the letters of Latin-1 for broken UTF-8 and refuses names such as bücher.example.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
