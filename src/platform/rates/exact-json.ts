/** A number, or a string between quotes: what is inside a string is no number. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*/g;

/**
 * JSON whose numbers come as the text that they are written in, because a float would round them: `{"p": 1.10}` gives
 * `{ p: "1.10" }`. Throws a SyntaxError for what is not JSON.
 */
export function parseExactJson(text: string): unknown {
  // Only what is JSON can be taken apart by the pattern.
  JSON.parse(text);
  return JSON.parse(text.replace(token, (found) => (found.startsWith('"') ? found : `"${found}"`)));
}
